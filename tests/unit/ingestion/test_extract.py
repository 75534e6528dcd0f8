import pytest

from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.extract import Source, read_facts
from kgrag.ingestion.fact_rows import read_items
from kgrag.ingestion.meta_model import read_meta_model
from kgrag.ingestion.passages import passages
from kgrag.ingestion.resolve import name_resolver
from kgrag.metadata import Metadata
from kgrag.types import Document

TEXT = (
    "一、目标\n到２０２５年，绿色工厂达到500家以上。省发展改革委牵头负责园区改造，省能源局配合。\n"
    "总投资1,000亿元。推广“三改联动”等节能技术，支持风电、光伏发展。"
)
SIZES = ChunkSizes(64, (32, 16))
MODEL = read_meta_model("dual-carbon")


def source(text=TEXT, *, facts="free", title="云岭省节能规划", start=0):
    document = Document(
        "d",
        title,
        "前" * start + text,
        "d.txt",
        "txt",
        "00",
        metadata=Metadata(regions=("云岭省",)),
    )
    chunks = chunk(document, [], SIZES)
    (passage,) = passages(chunks, sizes=SIZES, most_chars=4096)
    return Source(
        passage=passage,
        leaves=[c for c in chunks if c.size == SIZES.leaf],
        names=name_resolver(document),
        extractor="m",
        language="zh",
        facts=facts,
        meta_model=None if facts == "free" else MODEL,
    )


def item(quote, *triples):
    keys = ("s", "p", "o", "st", "ot")
    return {"quote": quote, "triples": [dict(zip(keys, t, strict=False)) for t in triples]}


def read(*items, **how):
    where = source(**how)
    return read_facts(read_items(items, where.meta_model), where)


def triples(facts):
    return [(f.subject.name, f.predicate, f.object.name) for f in facts]


def test_facts_stand_where_their_quote_stands():
    """Evidence is the clause in the document, in the leaves that it lies in, by the model."""
    facts, dropped = read(item("绿色工厂达到500家以上", ("绿色工厂", "目标为", "2025年500家以上")))
    (fact,) = facts
    assert triples(facts) == [("绿色工厂", "目标为", "2025年500家以上")]
    assert {TEXT[e.start : e.end] for e in fact.evidence} == {"绿色工厂达到500家以上"}
    assert {e.extractor for e in fact.evidence} == {"m"}
    assert not dropped


@pytest.mark.parametrize(
    ("quote", "confidence"),
    [
        ("到２０２５年，绿色工厂", 1.0),
        ("到2025年，绿色工厂", 0.9),
        ("省发展改革委牵头……省能源局配合", 0.8),
    ],
)
def test_confidence_tells_how_the_quote_was_found(quote, confidence):
    """Exact 1, normalised 0.9, near 0.8."""
    facts, _ = read(item(quote, ("绿色工厂", "数量", "500家")))
    assert {e.confidence for f in facts for e in f.evidence} == {confidence}


def test_several_facts_of_one_quote_are_all_kept():
    """One clause states several facts; each has it as evidence."""
    facts, _ = read(
        item("支持风电、光伏发展", ("本文件", "支持", "风电"), ("本文件", "支持", "光伏"))
    )
    assert triples(facts) == [
        ("云岭省节能规划", "支持", "风电"),
        ("云岭省节能规划", "支持", "光伏"),
    ]
    assert facts[0].evidence == facts[1].evidence
    assert (facts[0].subject.type, facts[0].object.type) == ("document", "entity")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (item("建成零碳园区", ("园区", "建成", "零碳园区")), "quote not in the text"),
        (item("", ("园区", "建成", "零碳园区")), "quote not in the text"),
        (item("推广", ("本文件", "", "节能技术")), "empty"),
        (item("推广", ("本文件", "推广", " ")), "empty"),
        (item("省能源局配合", ("有关部门", "配合", "园区改造")), "stop word"),
        (item("省能源局配合", ("省能源局", "配合", "其")), "stop word"),
        (item("推广", ("本文件", "推广", "节" * 121)), "name too long"),
        (item("绿色工厂", ("绿色工厂", "达到", "600家")), "number not in the text"),
        (item("推广", ("节能规划", "推广", "《节能规划》")), "subject is object"),
    ],
)  # fmt: skip
def test_a_statement_that_cannot_stand_is_dropped_and_counted(given, reason):
    """Nothing gets into the graph that the passage does not say."""
    good = item("省能源局配合", ("省能源局", "配合", "园区改造"))
    facts, dropped = read(good, given)
    assert triples(facts) == [("云岭省能源局", "配合", "园区改造")]
    assert dropped == {reason: 1}


@pytest.mark.parametrize("number", ["1000亿元", "1,000亿元", "１０００亿元", "2025年"])
def test_numbers_count_in_any_spelling(number):
    """Full width and thousands' commas do not make another number."""
    facts, _ = read(item("总投资1,000亿元", ("总投资", "数额", number)))
    assert len(facts) == 1


def test_a_repeated_statement_counts_once_and_new_evidence_is_added():
    """Facts are unique; a second clause that says the same is a second piece of evidence."""
    text = "推广热泵。甲乙丙丁。推广热泵。"
    same = item("推广热泵", ("本文件", "推广", "热泵"))
    other = item("推广热泵。甲乙丙丁。推广热泵", ("本文件", "推广", "热泵"))
    facts, dropped = read(same, same, same, other, text=text)
    (fact,) = facts
    assert dropped == {"repeated": 1}
    spans = [(e.start, e.end) for e in fact.evidence]
    assert set(spans) == {(0, 4), (10, 14), (0, 14)}
    assert spans == sorted(spans)


def test_offsets_are_those_of_the_document():
    """A passage further down is located from where it begins."""
    document = Document("d", "题", "前。" * 32 + "推广热泵。", "d.txt", "txt", "00")
    chunks = chunk(document, [], SIZES)
    passage = passages(chunks, sizes=SIZES, most_chars=64)[-1]
    assert passage.start > 0
    leaves = [c for c in chunks if c.size == SIZES.leaf]
    where = Source(passage, leaves, name_resolver(document), "m", "zh", "free", None)
    facts, _ = read_facts(read_items([item("推广热泵", ("园区", "推广", "热泵"))]), where)
    (evidence,) = facts[0].evidence
    assert document.text[evidence.start : evidence.end] == "推广热泵"


LEADS = ("省发展改革委", "牵头负责", "园区改造", "agency", "measure")
WRONG = ("省发展改革委", "牵头", "2025年", "agency", "deadline")
OPEN = ("园区改造", "带动", "就业", "measure", "jobs")


def test_schema_keeps_what_the_meta_model_allows_only():
    """Types and relations are checked; the predicate is the meta-model's word."""
    facts, dropped = read(item("牵头负责园区改造", LEADS, WRONG, OPEN), facts="schema")
    assert triples(facts) == [("云岭省发展和改革委员会", "牵头", "园区改造")]
    assert (facts[0].subject.type, facts[0].object.type) == ("agency", "measure")
    assert dropped == {"type not allowed": 1, "relation not allowed": 1}


def test_both_keeps_open_triples_beside_the_meta_models():
    """What does not follow it stays as written; a type that it does not have is `entity`."""
    facts, dropped = read(item("牵头负责园区改造", LEADS, WRONG, OPEN), facts="both")
    assert triples(facts) == [
        ("云岭省发展和改革委员会", "牵头", "园区改造"),
        ("云岭省发展和改革委员会", "牵头", "2025年"),
        ("园区改造", "带动", "就业"),
    ]
    assert [f.object.type for f in facts] == ["measure", "deadline", "entity"]
    assert not dropped


def test_free_has_the_types_that_names_tell():
    """Without a meta-model a type that a model gives all the same means nothing."""
    facts, _ = read(item("牵头负责园区改造", LEADS))
    assert triples(facts) == [("云岭省发展和改革委员会", "牵头负责", "园区改造")]
    assert (facts[0].subject.type, facts[0].object.type) == ("agency", "measure")


def test_equal_quotes_are_evidence_where_each_stands():
    """牵头单位 of the second task cites the second task."""
    text = "1.造林一万亩。牵头单位：市林业局。\n2.修复湿地两处。牵头单位：市林业局。"
    facts, dropped = read(
        item("造林一万亩", ("造林", "面积", "一万亩")),
        item("牵头单位：市林业局", ("市林业局", "牵头", "造林")),
        item("修复湿地两处", ("修复湿地", "数量", "两处")),
        item("牵头单位：市林业局", ("市林业局", "牵头", "修复湿地")),
        text=text,
    )
    led = {f.object.name: f.evidence[0].start for f in facts if f.predicate == "牵头"}
    assert led == {"造林": 8, "修复湿地": text.rindex("牵头单位")}
    assert not dropped


@pytest.mark.parametrize("name", ["本地区", "本省", "我省", "全省", "本文件", "本机关"])
def test_words_for_the_document_and_its_region_are_names(name):
    """The prompt asks for them: they are resolved before stop words are dropped."""
    facts, dropped = read(item("推广", (name, "推广", "节能技术")))
    assert not dropped
    (fact,) = facts
    assert fact.subject.name != name


def row(*parts):
    return {"quote": parts[0], "triples": [list(parts[1:])]}


def told(facts):
    (fact,) = facts
    return fact.evidence[0].qualifiers


def test_values_that_are_told_beside_a_fact_are_its_qualifiers():
    """As fields of the policy graph: value, unit, year, comparator, region, kind."""
    given = row(
        "绿色工厂达到500家以上", "绿色工厂", "target", "目标值为", "五百家以上", "value",
        "500", "家", "2025", ">=", "全省",
    )  # fmt: skip
    facts, dropped = read(given, facts="both")
    q = told(facts)
    assert not dropped
    assert (q.kind, q.value, q.unit, q.comparator) == ("target", "500", "家", ">=")
    assert (q.year, q.region) == ("2025", "云岭省")


def test_what_the_words_of_a_fact_say_goes_first():
    """The object says 500家以上, whatever stands beside it; the year is filled in."""
    beside = ("1,000", "亿元", "2025", "<")
    given = row("绿色工厂达到500家以上", "绿色工厂", "目标为", "500家以上", *beside)
    q = told(read(given)[0])
    assert (q.value, q.unit, q.comparator, q.year) == ("500", "家", ">=", "2025")


@pytest.mark.parametrize(
    ("beside", "left"),
    [
        (("999", "家", "2025"), {"year": "2025"}),
        (("", "", "2031"), {}),
        (("", "", "", "", "节能技术"), {}),
        (("", "", "", "", "", "在没有写的条件下"), {}),
        (("", "", "", "", "", "推广“三改联动”"), {"condition": "推广“三改联动”"}),
    ],
)
def test_what_the_text_does_not_bear_out_is_left_out(beside, left):
    """A number or year that is nowhere, a region that is none, a condition that nobody wrote."""
    q = told(read(row("支持风电", "本文件", "支持", "风电", *beside))[0])
    assert {k: v for k, v in q.to_record().items() if k in ("value", "year", "condition")} == left


def test_an_amount_of_money_that_is_granted_is_no_target():
    """It keeps value and unit, as a condition of the policy graph."""
    text = "对达标企业一次性补助20万元。"
    given = row("一次性补助20万元", "达标企业", "补助", "20万元", "20", "万元")
    q = told(read(given, text=text)[0])
    assert (q.kind, q.value, q.unit) == ("condition", "200000", "元")


@pytest.mark.parametrize(
    ("predicate", "object_", "kept"),
    [
        ("有效期至", "2027年12月31日", "有效期至"),
        ("失效日期", "2027年12月31日", "有效期至"),
        ("施行时间", "2022年3月1日", "施行日期"),
        ("有效期", "五年", "有效期"),
    ],
)
def test_when_a_document_ends_is_not_when_it_begins(predicate, object_, kept):
    """An expiry date never stands as the date of effect; both are as rules state them."""
    text = "本办法自2022年3月1日起施行，有效期五年，有效期至2027年12月31日。"
    given = row(text, "本文件", "policy", predicate, object_, "deadline")
    (fact,), _ = read(given, text=text, facts="schema")
    assert fact.predicate == kept
    assert fact.evidence[0].qualifiers.kind == "condition"


@pytest.mark.parametrize(
    ("triple", "relation"),
    [
        (("省能源局", "agency", "编制", "氢能规划", "policy"), "制定"),
        (("园区", "project", "上报", "省能源局", "agency"), "报送"),
        (("企业", "agency", "申报条件", "年产值一千万", "value"), "申请条件"),
        (("未报告", "measure", "罚款", "三万", "value"), "处罚"),
        (("企业", "agency", "必须", "报告用能", "measure"), "应当"),
        (("企业", "agency", "有权", "申请复核", "measure"), "可以"),
    ],
)
def test_the_meta_model_can_say_what_policies_say(triple, relation):
    """Drawing up, submitting, conditions, penalties, must and may."""
    (fact,), dropped = read(row("推广", *triple), facts="schema")
    assert fact.predicate == relation
    assert not dropped


@pytest.mark.parametrize("said", ["牵头", "牵头负责", "牵头单位"])
def test_who_leads_is_a_duty_as_rules_read_it(said):
    """One predicate, the role, and a bare organ is its place's."""
    given = row("牵头负责园区改造", "林业局", "agency", said, "园区改造", "measure")
    (fact,), _ = read(given, facts="both")
    assert (fact.subject.name, fact.predicate) == ("云岭省林业局", "牵头")
    assert told([fact]).kind == "duty"
    assert told([fact]).role == "牵头"


@pytest.mark.parametrize(
    ("quote", "object_", "beside", "comparator"),
    [
        ("PUE不高于1.3", "不高于1.3", ("1.3", "", "2025", "="), "<="),
        ("PUE不高于1.3", "1.3", ("1.3", "", "2025", "="), "<="),
        ("覆盖率不低于40%", "2025年40%", ("40", "%", "2025", "="), ">="),
        ("覆盖率不低于40%", "2025年40%", ("40", "%", "2025"), ">="),
        ("覆盖率不低于40%", "不低于40%", ("40", "%", "2025", "<="), ">="),
        ("工厂达到500家", "2025年500家", ("500", "家", "2025", ">="), ">="),
        ("工厂达到500家", "2025年500家", ("500", "家", "2025"), "="),
        ("能耗下降13%", "13%", ("13", "%", "2025"), "-"),
        ("PUE不高于1.3，覆盖率不低于40%", "40%", ("40", "%", "2025", "="), ">="),
        ("面积增加2万亩", "+", ("2", "万亩", "2025"), "+"),
        ("面积增加2万亩", "＋", ("2", "万亩", "2025", "+"), "+"),
    ],
)
def test_how_a_value_is_meant_stands_in_object_or_quote(quote, object_, beside, comparator):
    """Only what both leave open is told beside them; a sign alone is no name."""
    facts, dropped = read(
        row(quote, "指标", "目标为", object_, *beside), text=f"到2025年，{quote}。"
    )
    assert not dropped
    assert told(facts).comparator == comparator
    assert not set(facts[0].object.name) <= set("+＋")
