"""Figures that a question asks for: of places, by name, compared, of the nation and a place."""

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Quote, Row
from kgrag.answer.citation import Citation
from kgrag.answering.figures import asked_figures, named_figures
from kgrag.answering.rows import contrast, with_documents
from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.qualifiers import Qualifiers
from kgrag.question.query import analyse
from kgrag.question.question import question_of
from kgrag.retrieval.filter import Filter
from kgrag.store.decisions import Decision
from kgrag.store.graph import Statement, Triple
from kgrag.text.words import normalize_name
from kgrag.types import Document, Entity
from tests.fixtures.kit import knowledge_base, shared_base

NAMES = {
    normalize_name(name): {name}
    for name in ("森林覆盖率", "城市森林覆盖率", "PM2.5浓度", "绿色工厂", "单位GDP能耗")
}
NAMES[normalize_name("PM2.5")] = {"PM2.5浓度"}


@pytest.mark.parametrize(
    ("question", "indicator", "places", "level", "years"),
    [
        ("四川、云南2025年森林覆盖率目标分别是多少", "森林覆盖率", ("四川", "云南"), "", {2025}),
        ("各省2025年森林覆盖率目标分别是多少？", "森林覆盖率", (), "省", {2025}),
        ("哪些城市提出了PM2.5目标", "PM2.5", (), "市", set()),
        ("各地的绿色工厂目标是多少", "绿色工厂", (), "地", set()),
        ("哪些文件提出了单位GDP能耗下降目标", "单位GDP能耗", (), "文件", set()),
        ("How many provinces set targets for 森林覆盖率 in 2025?", "森林覆盖率", (), "省", {2025}),
        ("全国2030年森林覆盖率目标是多少", "森林覆盖率", ("全国",), "", {2030}),
        ("哪些省提到了森林覆盖率，从高到低排", "森林覆盖率", (), "省", set()),
        ("“十四五”期间四川各市森林覆盖率达到多少", "森林覆盖率", ("四川",), "市", {2025}),
        ("各省十五五的森林覆盖率目标", "森林覆盖率", (), "省", {2030}),
    ],
)
def test_what_is_surely_asked(question, indicator, places, level, years):
    """Indicator, places or their level, years; words of asking besides."""
    asked = asked_figures(question_of(analyse(question)), NAMES)
    assert asked is not None
    told = asked.question
    assert (asked.indicator, told.places, told.level, told.due) == (indicator, places, level, years)


@pytest.mark.parametrize(
    "question",
    [
        "四川、云南怎样保护森林",  # no indicator
        "四川、云南对森林覆盖率不达标的县怎么处罚",  # something else about it
        "各省2025年公园绿地面积目标",  # nothing of it was read
        "《甲方案》里各省的森林覆盖率目标",  # of one document
    ],
)
def test_what_is_not_sure_is_no_table(question):
    assert asked_figures(question_of(analyse(question)), NAMES) is None


def test_an_indicator_is_itself_and_not_what_ends_in_it():
    """城市森林覆盖率 is another one; PM2.5 is every measure of it."""
    asked = asked_figures(question_of(analyse("各省森林覆盖率目标")), NAMES)
    assert asked is not None
    assert asked.subjects == {"森林覆盖率"}
    assert asked.question.standing == "planned"


def test_places_are_answered_in_their_order(policies):
    """Each with its clause; of a place without a row, what is nearest to quote."""
    answer = policies.ask("四川、全国、云南2025年森林覆盖率目标分别是多少？")
    *rows, last = answer.text.splitlines()
    assert [line[:4] for line in rows] == ["四川省：", "全国：2"]
    assert last == "云南：没有选出可以引用的句子"
    assert [c.title for c in answer.citations] == ["四川省绿色发展实施方案", "绿色发展行动方案"]
    assert "41%" in answer.citations[0].quote
    assert answer.notes[0] == (
        "共4份文件，其中读出森林覆盖率目标的有3份，四川、全国、云南2025年的有2份"
    )
    assert not any("云南" in note for note in answer.notes[1:])


def test_without_a_place_the_country_comes_first_then_all_places(policies):
    answer = policies.ask("2025年森林覆盖率目标是多少？")
    assert [line.split("：")[0] for line in answer.text.splitlines()] == [
        "全国",
        "四川省",
        "成都市",
    ]
    assert answer.notes[0] == "共4份文件，其中读出森林覆盖率目标的有3份，2025年的有3份"
    within = Filter(regions=("成都",))
    (quoted,) = policies.ask("2025年森林覆盖率目标是多少？", within=within).blocks
    assert quoted.lead == "成都市，"  # a quote: of one place there is nothing to set side by side
    for other in ("什么是森林覆盖率？", "森林覆盖率目标有哪些内容？"):
        told = policies.ask(other)
        assert not any(getattr(n, "kind", "") == "figures" for n in told.notes)


def test_a_place_within_another_is_the_one_that_is_asked_for(policies):
    """四川成都 is 成都: the province's figure is no answer."""
    answer = policies.ask("四川成都2025年森林覆盖率目标是多少？")
    assert [block.label for block in answer.blocks if isinstance(block, Row)] == ["成都市"]
    assert ["40.5%" in c.quote for c in answer.citations] == [True]


def test_absent_words_excluded_documents_and_places_are_told(policies):
    """Of an answer and of a refusal; in the language of the question."""
    told = policies.ask("火星移民基地的食堂由谁管？")
    assert not told.found
    assert "这些文件中没有出现：火星、移民、基地、食堂" in told.notes
    within = Filter(regions=("四川",))
    notes = policies.ask("比较山西和全国2025年森林覆盖率目标", within=within).notes
    assert "没有以山西为范围的文件" in notes
    assert any(str(note).startswith("按条件排除") for note in notes)


def test_a_sentence_of_the_text_is_shown_for_its_own_place_only(policies):
    """Of places that no row is of; more places than a plan has sides are named alone."""
    places = "四川、云南、贵州、广东、湖南、湖北、江西"
    answer = policies.ask(f"{places}2025年森林覆盖率目标分别是多少？")
    assert [c.title for c in answer.citations] == ["四川省绿色发展实施方案"]
    assert "没有以广东、江西、湖北、湖南、贵州为范围的文件" in answer.notes


def test_all_documents_are_asked_within_a_filter(policies):
    """What was achieved is no target, and what a filter leaves out is not counted."""
    answer = policies.ask("哪些文件提出了森林覆盖率目标？", within=Filter(regions=("四川",)))
    assert answer.notes[0] == "共2份文件，其中读出森林覆盖率目标的有2份"
    assert not any("40%" in c.quote for c in answer.citations)


def test_the_highest_comes_first_where_that_is_asked(policies):
    answer = policies.ask("全国、四川、成都2025年森林覆盖率目标谁最高？")
    assert [line.split("：")[0] for line in answer.text.splitlines()] == [
        "四川省",
        "成都市",
        "全国",
    ]


@pytest.mark.parametrize(
    ("question", "notes"),
    [
        (
            "哪些城市提出了森林覆盖率目标？",
            ("共4份文件，其中读出森林覆盖率目标的有3份，各市的有1份",),
        ),
        (
            "各省的绿色工厂目标是多少？",
            ("共4份文件，其中读出绿色工厂目标的有1份，各省的有1份",),
        ),
    ],
)
def test_one_document_that_states_a_figure_is_an_answer(policies, question, notes):
    """Where a figure is clearly asked for."""
    answer = policies.ask(question)
    assert len(answer.citations) == 1
    assert answer.notes[: len(notes)] == notes


def test_what_is_said_of_a_thing_is_no_table_of_one(policies):
    """Other provinces may speak of it without a figure."""
    assert not any("读出" in note for note in policies.ask("哪些省提到了绿色工厂？").notes)


def test_other_systems_know_no_tables(policies):
    """The ablation leaves all of it out."""
    answer = policies.ask("四川、全国2025年森林覆盖率目标分别是多少？", system="hybrid")
    assert not any("读出" in note for note in answer.notes)


@pytest.mark.parametrize(
    "question",
    [
        "云南2025年森林覆盖率目标是多少？",
        "四川2040年森林覆盖率目标是多少？",
        "各省2040年森林覆盖率目标是多少？",
        "哪些文件提出了2040年森林覆盖率目标？",
        "云南、贵州2030年森林覆盖率目标分别是多少？",
        "云南和四川的林业数字分别是多少？",
    ],
)
def test_of_a_figure_that_was_not_read_nothing_is_counted(policies, question):
    """The question is searched; it may stand in the text in other words."""
    assert not any("读出" in note for note in policies.ask(question).notes)


def test_a_comparison_is_answered_before_the_rows(policies):
    """With what is computed, which no check speaks against."""
    answer = policies.ask("四川2020年和2025年森林覆盖率差多少？")
    assert answer.text.splitlines()[0] == (
        "2025年更高：2025年 41%[2]、2020年 40%[1]，相差1个百分点。"
    )
    assert answer.checks == ()


def test_an_indicator_is_named_with_whom_it_is_measured_of(tmp_path):
    """公共机构人均综合能耗 is 人均综合能耗 of 公共机构, as the table has it."""
    for place in ("四川省", "云南省"):
        (tmp_path / f"{place}.txt").write_text(
            f"{place}绿色发展规划\n一、主要目标\n到2025年，全省公共机构单位建筑面积能耗、"
            "人均综合能耗与2020年相比分别下降6%和7%。\n",
            "utf-8",
        )
    config = Config(embedding=EmbeddingConfig(model="hash-32"))
    with KnowledgeBase.open(tmp_path / "kb", config=config) as kb:
        kb.ingest(sorted(tmp_path.glob("*.txt")))
        answer = kb.ask("哪些文件提出了公共机构人均综合能耗下降目标？")
    assert answer.notes[0] == "共2份文件，其中读出公共机构人均综合能耗目标的有2份"
    assert len(answer.text.splitlines()) == 2


SHANGHAI = """上海市人民政府关于印发上海市节能方案的通知
沪府发〔2022〕7号

各区人民政府：
现将《上海市节能方案》印发给你们，请认真组织实施。
上海市人民政府
2022年3月5日
上海市节能方案
一、主要目标
到2025年，全市森林覆盖率达到19%，比2020年提高6个百分点，湿地保护率提高3个百分点。
到2030年，湿地保护率达到60%。
二、重点区域
（一）临港新片区
到2025年，非化石能源消费比重达到15%，森林覆盖率达到12%。
"""


# A city that states a figure of an area in it alone.
shanghai = shared_base({"shanghai": SHANGHAI}, "hash-32")


LONGER = """北京市能源发展规划
北京市人民政府
2022年3月5日
一、主要目标
到2025年，全市重点领域新增光伏发电装机70万千瓦。
（一）大兴区
到2025年，新增光伏发电装机6万千瓦。
"""
beijing = shared_base({"beijing": LONGER})


def test_what_a_place_states_under_a_longer_name_is_named(beijing):
    """Of the place itself, before names that others have, and for the year that is asked for."""
    notes = list(map(str, beijing.ask("北京2025年光伏装机目标").notes))
    told = "北京有这些名称相近的：重点领域新增光伏发电装机容量（2025年70万千瓦）"
    assert told in notes
    assert not any("名称相近的：" in n for n in beijing.ask("北京2030年光伏装机目标").notes)


@pytest.mark.parametrize(
    ("question", "told"),
    [("日本的光伏装机目标是什么", True), ("光伏装机目标是什么", False), ("日光温室有多少", False)],
)
def test_of_a_country_that_no_document_is_about_that_is_said(beijing, question, told):
    assert ("没有以日本为范围的文件" in beijing.ask(question).notes) is told


@pytest.mark.parametrize(
    "question",
    ["上海2025年非化石能源消费比重目标是多少？", "各省2025年非化石能源消费比重目标"],
)
def test_the_figure_of_a_part_is_not_told_as_the_whole(shanghai, question):
    """The row says of which area it is, and a note."""
    answer = shanghai.ask(question)
    assert answer.text.startswith("临港新片区：2025年达到15%")
    assert "上海：所列为其中一部分地方的数字" in (
        note.replace("上海市", "上海") for note in answer.notes
    )


@pytest.mark.parametrize(
    ("question", "told", "noted"),
    [
        # the area's own figure goes without where the whole has one
        ("上海2025年森林覆盖率目标是多少？", ["上海市：2025年达到19%"], False),
        (
            "上海2025年森林覆盖率提高几个百分点？",
            ["上海市：2025年达到19%", "上海市：2025年比2020年提高6个百分点"],
            False,
        ),
        ("上海2025年湿地保护率目标是多少？", ["上海市：2025年提高3个百分点"], True),
        ("上海2030年湿地保护率目标是多少？", ["上海市：2030年达到60%"], False),
    ],
)
def test_a_change_is_no_level(shanghai, question, told, noted):
    """It is a row where it is asked for or all there is, with a note then."""
    answer = shanghai.ask(question)
    rows = [line.partition("，《")[0] for line in answer.text.splitlines() if "，《" in line]
    assert rows == told
    assert ("上海：所列为增减的幅度" in answer.notes) == noted


PLAN = """# 云岭省能源发展规划

到2025年，森林覆盖率达到41%，城市森林覆盖率达到30%。光伏发电达到500万千瓦。
单位地区生产总值能耗下降13%。新建绿色工厂300家，绿色工厂产值达到100亿元。
国有林场达到50个，国有林场面积达到20万亩。
"""


@pytest.fixture
def plan(tmp_path):
    with knowledge_base(tmp_path, {"plan.md": PLAN}) as base:
        yield base.store


def named(plan, text, *pieces):
    return {s.fact.subject.name for s in named_figures(plan, text, pieces)}


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("森林覆盖率", {"森林覆盖率", "城市森林覆盖率"}),
        ("光伏发电", {"光伏装机容量"}),  # as the unit tells
        ("单位GDP能源消耗", {"单位GDP能耗"}),
        ("公园绿地面积", set()),
    ],
)
def test_an_indicator_is_found_by_all_its_names(plan, piece, expected):
    """Its own, other names, and those of longer ones; others are not read."""
    assert named(plan, f"目标{piece}是多少", piece) == expected


def test_words_of_asking_may_be_in_a_name(plan):
    """国有林场, cut at 有, is found whole."""
    found = named(plan, " 国有林场目标", "国", "林场")
    assert {"国有林场", "国有林场面积"} <= found
    assert "森林覆盖率" not in found


def test_a_name_that_a_person_merged_is_found_by_both(plan):
    """What is asked may be called as it was before."""
    assert named(plan, "林地占比", "林地占比") == set()
    plan.decide(decisions=[Decision("merge", "林地占比", "森林覆盖率")])
    assert "森林覆盖率" in named(plan, "林地占比", "林地占比")


CITED = Citation(0, "d", "规划", "d.txt", (), None, 0, 1, "文", "d:256:0")


def stated(value, unit="%", comparator="=", year="2025", indicator="森林覆盖率", **told):
    """Return a statement of a figure with its document and its citation."""
    q = Qualifiers("target", value=value, unit=unit, comparator=comparator, year=year, **told)
    entity = Entity(indicator, indicator, "target")
    fact = Triple("f", entity, "目标值", Entity("v", told.get("object", "见表"), "value"))
    statement = Statement("d", 0, 1, fact, q, "rule", "d:256:0", 1.0)
    return statement, Document("d", "规划", "", "d.txt", "txt", "00"), CITED


def said_of(sides, *, least=False):
    """Return what is said of sides, as text."""
    return Answer("谁高？", tuple(contrast(sides, least=least, language="zh")), "m").text


@pytest.mark.parametrize(
    ("one", "other", "question", "said"),
    [
        (["41"], ["24.1"], "差多少", "甲省更高：甲省 41%[1]、乙省 24.1%[1]，相差16.9个百分点。"),
        (["41"], ["24.1"], "谁更低", "乙省更低：乙省 24.1%[1]、甲省 41%[1]，相差16.9个百分点。"),
        (["0.3"], ["0.1"], "差多少", "甲省更高：甲省 0.3%[1]、乙省 0.1%[1]，相差0.2个百分点。"),
        (["24"], ["24.0"], "相差多少", "两者相同：甲省 24%[1]、乙省 24%[1]。"),
        (
            ["89000000", "千瓦"],
            ["60000000", "千瓦"],
            "差多少",
            "甲省更高：甲省 8900万千瓦[1]、乙省 6000万千瓦[1]，相差2900万千瓦。",
        ),
        (
            ["41", "%", ">="],
            ["24", "%", ">="],
            "谁高",
            "甲省更高：甲省 ≥41%[1]、乙省 ≥24%[1]，相差17个百分点。",
        ),
    ],
)
def test_two_figures(one, other, question, said):
    """Exactly, as decimals; the text's own words."""
    sides = {"甲省": [stated(*one)], "乙省": [stated(*other)]}
    assert said in said_of(sides, least="低" in question)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["41", "%", ">="], ["24"]),
        (["41"], ["24", "%", "=", "2030"]),
        (["41"], ["24", "千瓦"]),
        (["41", "%", "+"], ["24"]),
    ],
)
def test_unlike_figures_are_not_compared(one, other):
    """The rows stand beside each other; the reader sees what differs."""
    assert not contrast(
        {"甲省": [stated(*one)], "乙省": [stated(*other)]}, least=False, language="zh"
    )


def test_what_cannot_be_told_is_not_guessed():
    """Two values of one place and year, or one side alone."""
    sides = {"甲省": [stated("41"), stated("42")], "乙省": [stated("24")]}
    assert not contrast(sides, least=False, language="zh")
    assert not contrast({"甲省": sides["甲省"]}, least=False, language="zh")


def test_years_of_one_place_are_sides_too():
    sides = {"2025年": [stated("20")], "2030年": [stated("25", year="2030")]}
    said = said_of(sides)
    assert said == "2030年更高：2030年 25%[1]、2025年 20%[1]，相差5个百分点。"


NATIONAL = (
    "国务院关于加快节能降碳的意见\n国发〔2021〕3号\n各省人民政府：\n"
    "一、目标\n到2025年，非化石能源消费比重达到20%左右。\n"
    "到2025年，森林覆盖率达到24%。\n到2025年，新增造林面积500万亩。\n"
    "到2025年，城镇绿色建筑占比达到70%。\n国务院\n2021年5月6日\n"
)
LOCAL = (
    "云南省节能降碳实施方案\n云政发〔2021〕8号\n"
    "根据《国务院关于加快节能降碳的意见》（国发〔2021〕3号），制定本方案。\n"
    "一、目标\n到2025年，非化石能源消费比重达到45%左右。\n"
    "到2025年，森林覆盖率达到24%。\n到2025年，新增造林面积20万亩。\n"
    "到2030年，城镇绿色建筑占比达到80%。\n云南省人民政府\n2021年8月6日\n"
)


both = shared_base({"national": NATIONAL, "local": LOCAL})


@pytest.fixture(scope="module")
def quoting(both):
    """Return a function that makes an answer out of sentences of documents, by file."""
    documents = {d.file.rpartition("/")[2]: d for d in both.store.documents()}

    def make(*quotes, question="国家和云南各是多少？"):
        cited = []
        for number, (file, words) in enumerate(quotes, 1):
            document = documents[file]
            at = document.text.index(words)
            end = document.text.index("。", at) + 1
            cited.append(
                Citation(number, document.doc_id, document.title, file, (), None, at, end,
                         document.text[at:end], "c")
            )  # fmt: skip
        return Answer(question, tuple(map(Quote, cited)), "m")

    return make


def pair(words, other=""):
    return ("national.txt", words), ("local.txt", other or words)


SHARE = "到2025年，非化石能源"


def test_figures_of_like_names_are_named_beside_those_asked_for(tmp_path):
    """处理率 may be 处置率 in other words: that is for the reader to decide."""
    texts = {
        place: f"{place}节能规划\n2022年3月1日\n到2025年，污泥无害化{word}达到90%。\n"
        for place, word in (("四川省", "处置率"), ("云南省", "处置率"), ("贵州省", "处理率"))
    }
    with knowledge_base(tmp_path, texts) as base:
        answer = base.ask("各省2025年污泥无害化处置率目标是多少？")
    assert [c.title for c in answer.citations] == ["四川省节能规划", "云南省节能规划"]
    assert "名称相近、未列入的指标，例如：污泥无害化处理率（1份）" in answer.notes


def test_quotes_of_several_documents_name_their_place_and_document(both, quoting):
    """A sentence of a province's plan reads as if it held everywhere."""
    documents = {d.doc_id: d for d in both.store.documents()}
    answer = quoting(*pair(SHARE))
    rows = with_documents(answer, analyse("非化石能源消费比重怎么规定"), documents).blocks
    assert all(isinstance(row, Row) for row in rows)
    assert {row.text("zh", str)[:3] for row in rows} == {"《国务", "云南省"}
    for question in ("云南的非化石能源消费比重怎么规定", "《绿色发展行动方案》怎么规定"):
        asked = analyse(question, known_places=frozenset({"云南"}))
        assert with_documents(answer, asked, documents) is answer
    alone = quoting(pair(SHARE)[0])
    (first,) = with_documents(alone, analyse("比重"), documents).blocks
    assert first.text("zh", str).startswith("《国务")


@pytest.fixture(scope="module")
def levels(tmp_path_factory):
    """Plans of three provinces with several figures each."""
    told = {
        "四川": "森林覆盖率达到41%，非化石能源消费比重达到42%，单位地区生产总值能耗降低14%。",
        "云南": "森林覆盖率达到66%，非化石能源消费比重达到46%，能耗强度下降13.5%。",
        "贵州": "森林覆盖率达到64%，风电装机容量达到1080万千瓦，光伏装机容量达到3100万千瓦。",
    }
    texts = {
        f"{place}.md": f"# {place}省低碳发展规划\n\n到2025年，全省{text}\n"
        for place, text in told.items()
    }
    with knowledge_base(tmp_path_factory.mktemp("levels"), texts) as base:
        yield base


@pytest.mark.parametrize(
    ("question", "leads"),
    [
        (
            "四川和云南2025年森林覆盖率和非化石能源消费比重分别是多少",
            [
                *("森林覆盖率，四川省", "森林覆盖率，云南省"),
                *("非化石能源消费比重，四川省", "非化石能源消费比重，云南省"),
            ],
        ),
        ("贵州2025年风电、光伏装机容量", ["风电，贵州省", "光伏装机容量，贵州省"]),
        ("贵州2025年风电光伏各多少", ["风电，贵州省", "光伏，贵州省"]),
        # a name that the text writes otherwise: 单位GDP能耗降低, 能耗强度
        ("各省2025年单位GDP能耗降幅", ["四川省", "云南省"]),
        ("2025年森林覆盖率最高的两个省", ["云南省", "贵州省"]),
        ("哪个省2025年森林覆盖率最低", ["四川省", "贵州省", "云南省"]),
        ("2025年森林覆盖率超过60%的省", ["贵州省", "云南省"]),
        ("2025年森林覆盖率超过64%的省", ["云南省"]),
        ("2025年森林覆盖率64%以上的省", ["贵州省", "云南省"]),
        ("哪些省2025年森林覆盖率不高于64%", ["四川省", "贵州省"]),
        ("哪些省2025年森林覆盖率是64%", ["贵州省"]),
    ],
)
def test_several_figures_rankings_and_bounds(levels, question, leads):
    """Each indicator has its rows; a ranking is cut, a bound kept; others are counted."""
    answer = levels.ask(question)
    rows = [b for b in answer.blocks if isinstance(b, Row)]
    assert [row.lead.partition("：")[0] for row in rows] == leads


def test_what_a_plan_above_sets_is_a_row(tmp_path):
    """A place whose plan says only 完成国家下达目标 is not one that states nothing."""
    plan = "# {}省低碳发展规划\n\n到2025年，全省{}。\n"
    texts = {
        "a.md": plan.format("四川", "单位地区生产总值二氧化碳排放降低20%"),
        "b.md": plan.format("云南", "单位地区生产总值二氧化碳排放降低18%"),
        "c.md": plan.format("贵州", "单位地区生产总值二氧化碳排放降低率完成国家下达的目标任务"),
        "d.md": plan.format("甘肃", "森林覆盖率达到12%"),
    }
    with knowledge_base(tmp_path, texts) as base:
        answer = base.ask("各省2025年碳强度降幅")
    told = [(b.label, b.lead.strip("，")) for b in answer.blocks if isinstance(b, Row)]
    assert told[2:] == [("贵州省", "贵州省：完成国家下达的目标任务")]
    assert not any("未读出" in note for note in answer.notes)


def test_what_a_bound_leaves_out_is_counted(levels):
    """Places with other values are not said to state none."""
    answer = levels.ask("2025年森林覆盖率超过60%的省")
    assert any("有2地；另有1地" in note for note in answer.notes)
    assert not any("未读出" in note for note in answer.notes)


def test_a_comparison_of_two_indicators_has_a_line_for_each(levels):
    """The line names the indicator."""
    answer = levels.ask("四川和云南2025年森林覆盖率、非化石能源消费比重谁更高")
    text = answer.text
    assert "森林覆盖率，2025年：云南更高" in text
    assert "非化石能源消费比重，2025年：云南更高" in text
