"""Statements of rules, imports and models become facts in the same way."""

import json
from dataclasses import replace

import pytest

from kgrag.ingestion.agreement import agreed, known
from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.extract import Source, read_facts
from kgrag.ingestion.fact_rows import (
    CORRECTIONS,
    ITEMS,
    Correction,
    Told,
    read_corrections,
    read_items,
)
from kgrag.ingestion.facts import (
    BY_RULE,
    Stated,
    facts_of,
    mentions_before,
    stated_before,
    stated_by_rules,
)
from kgrag.ingestion.meta_model import TypedTriple, read_meta_model
from kgrag.ingestion.passages import passages
from kgrag.ingestion.resolve import name_resolver
from kgrag.ingestion.statements.finding import SELF, Finding
from kgrag.ingestion.statements.targets import targets
from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.types import Document, Entity, Evidence, Fact, Mention

TEXT = "到2025年，全市绿色工厂达到500家。市工信局牵头，市发改委配合。\n" * 3
SIZES = ChunkSizes(64, (32, 16))
DOCUMENT = Document("d", "节能规划", TEXT, "d.txt", "txt", "0",
                    metadata=Metadata(regions=("四川省", "成都市")))  # fmt: skip
LEAVES = [c for c in chunk(DOCUMENT, [], SIZES) if c.size == SIZES.leaf]
RESOLVER = name_resolver(DOCUMENT)
TARGET = Qualifiers("target", value="500", unit="家", year="2025")


def test_findings_become_facts_that_keep_what_is_written():
    """The entity has its full name, the evidence the wording; a target is its region's."""
    findings = [
        Finding("绿色工厂", "目标为", "500家", 7, 16, TARGET),
        Finding(
            "市工信局", "牵头", "绿色工厂", 20, 26, Qualifiers("duty", role="牵头"), confidence=0.9
        ),
    ]
    target, duty = facts_of(stated_by_rules(findings, LEAVES), RESOLVER)

    assert [e.qualifiers for e in target.evidence] == [replace(TARGET, region="成都市")]
    assert (duty.subject.name, duty.predicate) == ("成都市工业和信息化局", "牵头")
    (evidence, *_) = duty.evidence
    assert evidence.qualifiers == Qualifiers("duty", subject="市工信局", role="牵头")
    assert (evidence.extractor, evidence.confidence) == (BY_RULE, 0.9)
    assert TEXT[evidence.start : evidence.end] == TEXT[20:26] == "市工信局牵头"


def test_a_region_that_is_told_stays():
    """A target for another place than the document's."""
    finding = Finding("绿色工厂", "目标为", "500家", 7, 16, replace(TARGET, region="武侯区"))
    (fact,) = facts_of(stated_by_rules([finding], LEAVES), RESOLVER)
    assert fact.evidence[0].qualifiers.region == "武侯区"


def test_a_figure_of_the_whole_country_is_none_of_the_documents_region():
    """Nor is one of 全省 in a city's document; 全市 is its own."""
    text = "目前，全国森林覆盖率达到24%，全省森林覆盖率达到40%。到2025年，全市森林覆盖率达到41%。"
    found = facts_of(stated_by_rules(targets(text), LEAVES), RESOLVER)
    told = {(e.qualifiers.value, e.qualifiers.region) for f in found for e in f.evidence}
    assert told == {("24", "全国"), ("40", "四川省"), ("41", "成都市")}
    assert {fact.subject.name for fact in found} == {"森林覆盖率"}


def test_what_comes_out_as_one_name_says_nothing():
    """成都市 部署 全市 after 全市 is 成都市."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id),)
    assert facts_of([Stated("成都市", "部署", "全市", evidence)], RESOLVER) == []


def test_statements_of_one_fact_share_it():
    """With the evidence of both, in the order of the text."""
    later, first = (Evidence("d", at, at + 2, LEAVES[0].chunk_id) for at in (4, 1))
    (fact,) = facts_of(
        [
            Stated("市发改委", "配合", "节能", (later,)),
            Stated("成都市发展和改革委员会", "配合", "节能", (first,)),
        ],
        RESOLVER,
    )
    assert [(e.start, e.qualifiers.subject) for e in fact.evidence] == [(1, ""), (4, "市发改委")]


def test_what_was_stated_before_is_resolved_anew():
    """A fact of an older kgrag hangs on the bare name; by rule it is found again anyway."""
    old = [
        Evidence("d", 17, 23, "old", "m"),
        Evidence("d", 17, 23, "old", BY_RULE),
    ]
    bare = Fact("f", Entity("e1", "市工信局"), "牵头", Entity("e2", "绿色工厂"), tuple(old))
    (fact,) = facts_of(stated_before([bare], LEAVES), RESOLVER)
    assert fact.subject.name == "成都市工业和信息化局"
    assert {e.extractor for e in fact.evidence} == {"m"}
    assert {e.qualifiers.subject for e in fact.evidence} == {"市工信局"}
    assert facts_of(stated_before([fact], LEAVES), RESOLVER) == [fact]


def test_mentions_are_resolved_anew_too():
    """As facts are."""
    evidence = Evidence("d", 17, 23, "old", "import")
    found = mentions_before([Mention(Entity("e", "市工信局"), evidence)], LEAVES, RESOLVER)
    assert {m.entity.name for m in found} == {"成都市工业和信息化局"}
    assert mentions_before(found, LEAVES, RESOLVER) == found


def test_a_document_that_speaks_of_itself_is_its_node():
    """本文件 is the word by which rules say so."""
    (fact,) = facts_of(stated_by_rules([Finding(SELF, "依据", "节能法", 0, 4)], LEAVES), RESOLVER)
    assert fact.subject == RESOLVER.document


def test_what_models_and_imports_state_is_typed_by_its_words():
    """A value, a role, a citation; as rules type what they find."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    rows = [
        ("全市绿色工厂", "目标为", "2025年500家以上"),
        ("市工信局", "牵头", "绿色工厂创建"),
        ("本规划", "依据", "《云岭省节能条例》"),
        ("绿色工厂", "包括", "绿色车间"),
    ]
    found = facts_of([Stated(*row, evidence) for row in rows], RESOLVER)
    target, duty, citation, plain = (f.evidence[0].qualifiers for f in found)
    assert (target.kind, target.value, target.unit, target.year) == ("target", "500", "家", "2025")
    assert (target.comparator, target.region, target.subject) == (">=", "成都市", "全市绿色工厂")
    assert (duty.kind, duty.role) == ("duty", "牵头")
    assert (citation.kind, citation.role) == ("reference", "依据")
    assert plain.kind == ""


def test_what_a_rule_says_is_not_typed_by_its_words():
    """It has said what it knows."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, BY_RULE),)
    (fact,) = facts_of([Stated("绿色工厂", "目标为", "500家", evidence)], RESOLVER)
    assert fact.evidence[0].qualifiers.kind == ""


def test_an_indicators_place_is_a_qualifier_and_its_wording_too():
    """Of rules and of imports alike: the entity is what is measured."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    imported = Stated("四川省万元GDP能耗", "2025年目标为", "下降13.5%", evidence)
    found = Finding("万元GDP能耗", "目标为", "2025年下降13.5%", 7, 16, TARGET)
    (fact,) = facts_of([imported], RESOLVER)
    (ruled,) = facts_of(stated_by_rules([found], LEAVES), RESOLVER)
    assert fact.subject == ruled.subject
    assert fact.subject.name == "单位GDP能耗"
    said, by_rule = fact.evidence[0].qualifiers, ruled.evidence[0].qualifiers
    assert (said.subject, said.region, said.kind) == ("四川省万元GDP能耗", "四川省", "target")
    assert (by_rule.subject, by_rule.region) == ("万元GDP能耗", "成都市")
    (again,) = facts_of(stated_before([fact], LEAVES), RESOLVER)
    assert again.subject == fact.subject
    assert again.evidence[0].qualifiers == said


def test_a_unit_of_an_import_tells_what_is_measured():
    """风电 with 千瓦 is a capacity."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    (fact,) = facts_of([Stated("风电", "2025年目标为", "500万千瓦", evidence)], RESOLVER)
    assert (fact.subject.name, fact.evidence[0].qualifiers.subject) == ("风电装机容量", "风电")


def test_a_task_of_two_documents_is_two():
    """Whoever states the duty: a rule or a model."""
    finding = Finding("市工信局", "牵头", "加强领导", 20, 26, Qualifiers("duty", role="牵头"))
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    (ruled,) = facts_of(stated_by_rules([finding], LEAVES), RESOLVER)
    (stated,) = facts_of([Stated("市工信局", "牵头", "加强领导", evidence)], RESOLVER)
    other = name_resolver(replace(DOCUMENT, title="节水规划"))
    (elsewhere,) = facts_of(stated_by_rules([finding], LEAVES), other)
    assert ruled.object == stated.object
    assert elsewhere.object.name == ruled.object.name
    assert elsewhere.object.entity_id != ruled.object.entity_id


def test_a_document_that_an_import_names_is_cited():
    """So that it is connected where it is held, whoever issued or follows it."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    (fact,) = facts_of([Stated("市政府", "出台", "成都市节水办法", evidence)], RESOLVER)
    said = fact.evidence[0].qualifiers
    assert (said.kind, said.role) == ("reference", "提及")
    (planned,) = facts_of([Stated("市政府", "制定", "成都市节水办法", evidence)], RESOLVER)
    assert planned.evidence[0].qualifiers.kind == ""  # there may never be one


FOUND = Finding("绿色工厂", "目标为", "500家", 7, 16, TARGET)
RULED = facts_of(stated_by_rules([FOUND], LEAVES), RESOLVER)


def said(subject, predicate, object_, *, span=(0, 19)):
    evidence = (Evidence("d", span[0], span[1], LEAVES[0].chunk_id, "m", 0.9),)
    return facts_of([Stated(subject, predicate, object_, evidence)], RESOLVER)


@pytest.mark.parametrize(
    ("row", "span", "is_one"),
    [
        (("绿色工厂", "目标为", "2025年达到500家"), (0, 19), True),
        (("全市绿色工厂", "数量", "500家"), (0, 19), True),
        (("绿色工厂数量", "2025年目标为", "500家以上"), (7, 16), True),
        (("绿色园区", "目标为", "2025年达到500家"), (0, 19), True),  # the text has no 园区
        (("四川省绿色工厂", "目标为", "500家"), (0, 19), True),  # of 成都市, by the text
        (("成都市", "达到", "绿色工厂500家"), (0, 19), True),
        (("市工信局", "目标为", "2025年500家"), (0, 32), True),  # its number stands there once
        (("绿色工厂", "目标为", "2030年达到500家"), (0, 19), False),
        (("绿色工厂", "目标为", "2025年达到600家"), (0, 19), False),
        (("绿色工厂", "目标为", "2025年达到500家"), (17, 30), False),
        (("绿色工厂", "包括", "绿色车间"), (0, 19), False),
    ],
)
def test_a_figure_that_rules_read_there_is_one_statement_found_by_both(row, span, is_one):
    """At the rules' place, and under their name where the other tells no more."""
    told = said(*row, span=span)
    found = agreed([*told, *RULED], RESOLVER, TEXT)
    if not is_one:
        assert found == [*told, *RULED]
        return
    (fact,), (ruled,) = found, RULED
    assert fact.fact_id == ruled.fact_id
    by_rule = {(e.start, e.end, e.chunk_id) for e in ruled.evidence}
    found_by = {(e.start, e.end, e.chunk_id, e.extractor, e.confidence) for e in fact.evidence}
    assert found_by == {(*at, *by) for at in by_rule for by in ((BY_RULE, 1.0), ("m", 0.9))}
    again = facts_of(stated_before([fact], LEAVES), RESOLVER)
    assert agreed([*RULED, *again], RESOLVER, TEXT) == [fact]


TOTAL, WATER = ("能源消费总量", "500", "家"), ("节约用水", "50", "吨")
OFFICES = "市级公共机构。到2025年，能源消费总量控制在500家。节能改造项目3个，节约用水50吨。"


@pytest.mark.parametrize(
    ("rule", "row", "name"),
    [
        (TOTAL, ("公共机构能源消费总量", "达到", "500家"), "公共机构能源消费总量"),
        (TOTAL, ("全市公共机构能源消费总量", "为", "500家"), "公共机构能源消费总量"),
        (TOTAL, ("工业企业能源消费总量", "为", "500家"), "能源消费总量"),
        (("公共机构能源消费总量", "500", "家"), (TOTAL[0], "为", "500家"), "公共机构能源消费总量"),
        (WATER, ("节能改造项目", "节约用水", "50吨"), "节能改造项目节约用水"),
        (WATER, ("节水技改", "节约", "50吨"), "节约用水"),
    ],
)  # fmt: skip
def test_the_fuller_name_counts_if_the_document_has_its_words(rule, row, name):
    """Whoever tells it; both are named as its readers."""
    name_, value, unit = rule
    document = replace(DOCUMENT, text=OFFICES)
    leaves = [c for c in chunk(document, [], SIZES) if c.size == SIZES.leaf]
    at = OFFICES.index(value)
    finding = Finding(name_, "目标为", f"2025年{value}{unit}", at - 8, at + 3,
                      Qualifiers("target", value=value, unit=unit, year="2025"))  # fmt: skip
    ruled = facts_of(stated_by_rules([finding], leaves), RESOLVER)
    told = said(*row, span=(at - 14, at + 4))
    (fact,) = agreed([*ruled, *told], RESOLVER, OFFICES)
    assert fact.subject.name == name
    assert {e.extractor for e in fact.evidence} == {"m", BY_RULE}
    assert {e.qualifiers.region for e in fact.evidence} == {"成都市"}


def test_figures_that_share_a_number_keep_their_names():
    """甲和乙均达到90%: a model's 甲 is not the rules' 乙, and of both at once both are."""
    text = "化肥、农药利用率均达到43%。"
    figure = Qualifiers("target", value="43", unit="%")
    names = ("农药利用率", "化肥利用率")
    ruled = [
        facts_of(stated_by_rules([Finding(n, "目标为", "43%", 0, 13, figure)], LEAVES), RESOLVER)
        for n in names
    ]
    told = said("化肥利用率", "达到", "43%", span=(0, 13))
    found = agreed([*ruled[0], *told], RESOLVER, text)
    assert {f.subject.name for f in found} == {*names}
    joint = said("化肥、农药利用率", "达到", "43%", span=(0, 13))
    both = agreed([*ruled[0], *ruled[1], *joint], RESOLVER, text)
    assert [f.subject.name for f in both] == [*names]
    assert all({e.extractor for e in f.evidence} == {"m", BY_RULE} for f in both)


def test_a_year_that_only_one_tells_is_that_of_both():
    """And stands in the object, as where rules tell it."""
    finding = replace(FOUND, qualifiers=replace(TARGET, year=""))
    ruled = facts_of(stated_by_rules([finding], LEAVES), RESOLVER)
    told = said("绿色工厂", "目标为", "2025年500家")
    (fact,) = agreed([*ruled, *told], RESOLVER, TEXT)
    assert fact.object.name == "2025年500家"
    assert {e.qualifiers.year for e in fact.evidence} == {"2025"}


def test_one_model_states_a_figure_once():
    """Twice with other words at one place is once."""
    rows = (("绿色工厂", "数量", "500家"), ("成都市", "达到", "绿色工厂500家"))
    found = agreed([f for row in rows for f in said(*row)], RESOLVER, TEXT)
    assert [(f.subject.name, f.object.name) for f in found] == [("绿色工厂", "500家")]


@pytest.mark.parametrize(
    ("row", "names"),
    [
        (("市工信局", "牵头", "绿色工厂创建"), ["绿色工厂创建"]),
        (("市工信局", "牵头", "绿色"), ["绿色工厂"]),
        (("市工信局", "牵头", "节水"), ["绿色工厂", "节水"]),
        (("市工信局", "负责", "绿色工厂"), ["绿色工厂", "绿色工厂"]),
    ],
)
def test_a_duty_is_one_under_the_fuller_name_of_its_task(row, names):
    """Of one organ in one role."""
    text = f"{TEXT}绿色工厂创建"
    finding = Finding("市工信局", "牵头", "绿色工厂", 20, 26, Qualifiers("duty", role="牵头"))
    ruled = facts_of(stated_by_rules([finding], LEAVES), RESOLVER)
    found = agreed([*ruled, *said(*row, span=(18, 26))], RESOLVER, text)
    assert sorted(f.object.name for f in found) == names


def test_what_rules_know_is_told_in_lines():
    """In the order of the text, organs of a task on one line, by the words of the document."""
    duties = [
        Finding(organ, "牵头", "绿色工厂", 20, 26, Qualifiers("duty", role="牵头"))
        for organ in ("市工信局", "市发改委")
    ]
    cited = Finding(SELF, "依据", "节能法", 40, 44, Qualifiers("reference", role="依据"))
    facts = facts_of(stated_by_rules([*duties, FOUND, cited], LEAVES), RESOLVER)
    assert [one.line(RESOLVER) for one in known(facts, 0, 40)] == [
        "r1: 绿色工厂 | 目标为 | 500家",
        "r2: 市发改委、市工信局 | 牵头 | 绿色工厂",
    ]
    (last,) = known(facts, 40, 99)
    assert last.line(RESOLVER) == "r1: 本文件 | 依据 | 节能法"
    assert known(said("绿色工厂", "包括", "车间"), 0, 99) == []


@pytest.mark.parametrize(
    ("predicate", "object_", "cites"),
    [
        ("依据", "《节能规划》", "节能规划"),
        ("依据", "节能规划", "节能规划"),
        ("废止", "节能规划", "节能规划"),
        ("依据", "本规划", ""),
        ("依据", "本文件", ""),
        ("印发", "节能规划", ""),
    ],
)
def test_what_a_document_rests_on_is_another_of_its_name(predicate, object_, cites):
    """A city's plan is called as its province's is: by rule, import and model alike."""
    stated = Stated("本规划", predicate, object_, (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),))
    finding = Finding(SELF, predicate, object_, 0, 5, Qualifiers("reference", role=predicate))
    for found in (
        facts_of([stated], RESOLVER),
        facts_of(stated_by_rules([finding], LEAVES), RESOLVER),
    ):
        assert [f.object.name for f in found] == [cites] * bool(cites)
        for fact in found:
            assert fact.object != RESOLVER.document
            assert fact.object.type == "document"
            assert fact.evidence[0].qualifiers.kind == "reference"


MODEL = read_meta_model("dual-carbon")
TYPED = TypedTriple("绿色工厂", "target", "目标值为", "2025年500家以上", "value")
BARE = TypedTriple("绿色工厂", "", "目标值为", "2025年500家以上", "")
TOLD = Told("500", "家", "2025", ">=", "云岭省", "")
ROW = ["绿色工厂", "target", "目标值为", "2025年500家以上", "value"]
BARE_ROW = ["绿色工厂", "目标值为", "2025年500家以上"]
BESIDE = ["500", "家", "2025", ">=", "云岭省"]


@pytest.mark.parametrize(
    ("row", "triple", "told"),
    [
        (ROW, TYPED, Told()),
        ([*ROW, *BESIDE], TYPED, TOLD),
        (BARE_ROW, BARE, Told()),
        ([*BARE_ROW, *BESIDE], BARE, TOLD),
    ],
)  # fmt: skip
def test_a_row_is_read(row, triple, told):
    """A row with types is told from one without; values beside a triple are kept as written."""
    (found,) = read_items([{"quote": "q", "triples": [row]}], MODEL)
    assert (found.quote, found.triple, found.told) == ("q", triple, told)


def test_rows_have_no_types_without_a_meta_model():
    """The second element is the relation, whatever it is called."""
    (found,) = read_items([{"quote": "q", "triples": [[*BARE_ROW, "500", "家"]]}])
    assert found.triple == BARE
    assert found.told == Told("500", "家")


@pytest.mark.parametrize(
    "types", [("", "value"), ("target", ""), ("指标", "数值"), ("indicator", "value")]
)
def test_a_row_has_types_where_one_is_known_or_its_relation_is(types):
    """A type that is empty or unknown does not move the rest of the row."""
    row = ["绿色工厂", types[0], "目标值为", "500家", types[1]]
    (found,) = read_items([{"quote": "q", "triples": [row]}], MODEL)
    assert (found.triple.predicate, found.triple.object) == ("目标值为", "500家")


def test_equal_quotes_are_items_of_their_own():
    """Two items with one quote are at two places."""
    below = [{"quote": "q", "triples": [BARE_ROW]}] * 2
    assert [s.item for s in read_items(below)] == [0, 1]


def test_a_single_row_that_is_not_in_a_list_is_read():
    """Some models leave out the outer brackets where there is one."""
    (found,) = read_items([{"quote": "q", "triples": BARE_ROW}])
    assert found.triple == BARE


@pytest.mark.parametrize("bad", [["甲"], [{"quote": "q"}], [{"quote": "q", "triples": ["x"]}]])
def test_another_form_is_refused(bad):
    """The model is asked once more."""
    with pytest.raises(ValueError, match="triples"):
        read_items(bad)


def test_nothing_is_nothing():
    """A table of contents states no fact."""
    assert read_items([]) == []


def test_the_schema_has_every_property_required_and_no_other_allowed():
    """As strict endpoints want it."""
    item = json.loads(json.dumps(ITEMS))["items"]
    assert item["required"] == list(item["properties"]) == ["quote", "triples"]
    assert item["additionalProperties"] is False
    row = item["properties"]["triples"]["items"]
    assert (row["type"], row["items"]) == ("array", {"type": "string"})
    assert len(row["description"].split(", ")) == row["maxItems"] == 11


PASSAGE = (
    "一、目标\n到２０２５年，绿色工厂达到500家以上。省发展改革委牵头负责园区改造，省能源局配合。\n"
    "总投资1,000亿元。推广“三改联动”等节能技术，支持风电、光伏发展。"
)


def source(text=PASSAGE, *, facts="free", title="云岭省节能规划", start=0):
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
        known=(),
        extractor="m",
        language="zh",
        facts=facts,
        meta_model=None if facts == "free" else MODEL,
    )


def item(quote, *triples):
    return {"quote": quote, "triples": [*map(list, triples)]}


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
    assert {PASSAGE[e.start : e.end] for e in fact.evidence} == {"绿色工厂达到500家以上"}
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
    where = Source(passage, leaves, name_resolver(document), (), "m", "zh", "free", None)
    facts, _ = read_facts(read_items([item("推广热泵", ("园区", "推广", "热泵"))]), where)
    (evidence,) = facts[0].evidence
    assert document.text[evidence.start : evidence.end] == "推广热泵"


PLANT = Finding("工厂", "目标为", "500家以上", 18, 29, replace(TARGET, comparator=">=", year=""))
DUTY = Finding("省能源局", "配合", "改造", 45, 50, Qualifiers("duty", role="配合"))


@pytest.mark.parametrize(
    ("correction", "rows"),
    [
        (Correction("r1", "绿色工厂", ""), [("绿色工厂", "目标为", "500家以上", "")]),
        (Correction("r1", "本地区绿色工厂", ""), [("云岭省绿色工厂", "目标为", "500家以上", "")]),
        (Correction("r1", "", "2025年500家以上"), [("工厂", "目标为", "2025年500家以上", "2025")]),
        (Correction("r1", "绿色工厂", "2025年600家"), [("绿色工厂", "目标为", "500家以上", "")]),
        (Correction("r1", "零碳工厂", ""), []),
        (Correction("r2", "", "园区改造"), [("云岭省能源局", "配合", "园区改造", "")]),
        (Correction("r2", "", "其"), []),
        (Correction("r2", "", ""), []),
        (Correction("r9", "绿色工厂", ""), []),
    ],
)
def test_a_correction_is_the_statement_of_rules_under_another_name(correction, rows):
    """If the passage has its words; figures keep their value, and one fact is left."""
    where = source()
    ruled = facts_of(stated_by_rules([PLANT, DUTY], where.leaves), where.names)
    where = replace(where, known=known(ruled, 0, 99))
    facts, dropped = read_facts([], where, [correction])
    assert [
        (*triple, f.evidence[0].qualifiers.year)
        for triple, f in zip(triples(facts), facts, strict=True)
    ] == rows
    assert dropped == ({} if rows else {"correction without support": 1})
    found = agreed([*ruled, *facts], where.names, PASSAGE)
    assert len(found) == 2
    by_both = [f for f in found if {e.extractor for e in f.evidence} == {"m", BY_RULE}]
    names = [(f.subject.name, f.object.name) for f in by_both]
    assert names == [(s.replace("云岭省绿", "绿"), o) for s, _, o, _ in rows]


def test_corrections_that_have_no_form_are_left_out():
    """What is missing in one is empty."""
    assert read_corrections(["r1", {"id": "r1", "subject": " 甲 乙"}]) == [
        Correction("r1", "甲 乙", "")
    ]
    assert json.loads(json.dumps(CORRECTIONS))["items"]["required"] == ["id", "subject", "object"]


def test_values_may_be_told_as_they_are_stored():
    """120000000 千瓦 is the text's 1.2亿千瓦."""
    text = "到2025年，风电装机容量达到1.2亿千瓦。"
    row = ["风电装机容量", "目标值为", "新增", "120000000", "千瓦", "2025"]
    facts, _ = read(item("风电装机容量达到1.2亿千瓦", row), text=text)
    told = facts[0].evidence[0].qualifiers
    assert (told.value, told.unit, told.year) == ("120000000", "千瓦", "2025")


LEADS = ("省发展改革委", "agency", "牵头负责", "园区改造", "measure")
WRONG = ("省发展改革委", "agency", "牵头", "2025年", "deadline")
OPEN = ("园区改造", "measure", "带动", "就业", "jobs")


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
    """Without a meta-model rows have no types."""
    facts, _ = read(item("牵头负责园区改造", (LEADS[0], *LEADS[2:4])))
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
