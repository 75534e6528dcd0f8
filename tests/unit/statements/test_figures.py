"""Lists of figures and comparisons: what documents state, and who states nothing."""

import pytest

from kgrag.errors import NotFoundError, OutOfRangeError
from kgrag.qualifiers import Qualifiers
from kgrag.retrieval.filter import Filter
from kgrag.statements.choose import stated_place
from kgrag.statements.figures import figure_words, value_words
from kgrag.store.graph import Statement, Triple
from kgrag.types import Document, Entity
from tests.fixtures.kit import knowledge_base
from tests.unit.statements.conftest import select
from tests.unit.statements.plans import cells

FIGURES = ("indicator", "region", "year", "comparator", "value", "unit", "standing")
COVER = "森林覆盖率"


def test_every_figure_is_listed_with_its_clause(tables):
    """Planned and achieved, of every document; each with the sentence that states it."""
    found = tables("targets")
    assert cells(found, *FIGURES) == [
        (COVER, "全国", 2025, None, 24, "%", "目标"),
        (COVER, "四川省", 2020, None, 40, "%", "完成"),
        (COVER, "四川省", 2025, None, 41, "%", "目标"),
        (COVER, "成都市", 2025, "≥", 40.5, "%", "目标"),
        ("绿色工厂", "四川省", 2025, None, 500, "家", "目标"),
        ("非化石能源消费比重", "全国", 2025, "约", 20, "%", "目标"),
    ]
    assert found.notes == ("共4份文件，其中读出这样的数字的有3份",)
    (source,) = found.rows[1].sources
    assert source.title == "四川省绿色发展实施方案"
    assert source.heading_path == ("一、发展基础",)
    assert source.quote == "2020年，全省森林覆盖率达到40%。"


@pytest.mark.parametrize(
    ("wanted", "n"),
    [
        ({"indicator": "森林"}, 4),
        ({"indicator": "能源 比重"}, 1),
        ({"indicator": "非化石能源占一次能源消费的比重"}, 1),  # another name of it
        ({"places": ("四川",)}, 4),  # with its cities
        ({"places": ("成都市",)}, 1),
        ({"places": ("全国",)}, 2),
        ({"places": ("全国", "成都")}, 3),
        ({"places": ("青白江区",)}, 0),  # a listed county of which nothing is said
        ({"years": (2020, 2020)}, 1),
        ({"years": (2021, 2030)}, 5),
        ({"standing": "achieved"}, 1),
        ({"standing": "planned", "indicator": COVER}, 3),
        ({"within": Filter(kinds=("工作方案",))}, 1),
        ({"within": Filter(regions=("四川",)), "indicator": COVER}, 3),
    ],
)
def test_figures_are_chosen(tables, wanted, n):
    """By name, place, year and kind of figure, and of some documents only."""
    assert len(tables("targets", **wanted).rows) == n


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            lambda t: t("targets", indicator="森林复盖率"),
            "no indicator is called '森林复盖率'; nearest: 森林覆盖率",
        ),
        (lambda t: t("compare", indicator="幸福"), "no indicator is called '幸福'$"),
        (lambda t: t("timeline", indicator="森林复盖率"), "nearest: 森林覆盖率"),
        (lambda t: t("conflicts", indicator="森林复盖率"), "nearest: 森林覆盖率"),
        (lambda t: t("duties", agency="四川省生态环镜厅"), "nearest: 四川省生态环境厅"),
        (lambda t: t("cites", document="四川省绿色方案"), "nearest: 四川省绿色发展实施方案"),
        (lambda t: t("cited_by", document="四川省绿色方案"), "nearest: 四川省绿色发展实施方案"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(tables, asked, said):
    """No empty table that looks as if documents were silent."""
    with pytest.raises(NotFoundError, match=said) as told:
        asked(tables)
    assert all(name in str(told.value) for name in told.value.nearest)


def test_what_a_filter_excludes_and_what_is_not_held_is_told(tables):
    """A place of which nothing is held, and how many documents are excluded."""
    found = tables(
        "compare", indicator=COVER, places=("山西", "成都"), within=Filter(regions=("全国",))
    )
    assert [row.cells[0] for row in found.rows] == []
    assert found.notes == (
        "共4份文件，按条件排除3份，从其余1份中未读出森林覆盖率数字（限山西、成都）",
        "没有以山西为范围的文件",
    )
    assert tables("targets", indicator=COVER, places=("四川",)).notes == (
        "共4份文件，其中读出这样的数字（限四川）的有2份",
    )


def test_what_is_no_place_is_refused(tables):
    """It would be an empty table that looks like an answer."""
    with pytest.raises(NotFoundError, match=r"no place is called .火星"):
        tables("targets", places=("火星",))


def test_provinces_are_compared(tables):
    """A row for each with a document, its own figure first; who states none is named."""
    found = tables("compare", indicator=COVER)
    assert [column.key for column in found.columns] == ["region", "2020", "2025"]
    assert [row.cells for row in found.rows] == [
        ("全国", None, "24%（目标）"),
        ("四川省", "40%（完成）[1]", "41%（目标）[2]\n≥40.5%（成都，目标）[3]"),
    ]
    assert found.notes == (
        "除另注明外：森林覆盖率",
        "共4份文件，其中读出森林覆盖率数字的有3份",
        "未读出：云南省",
    )
    assert [["40%" in s.quote, "41%" in s.quote] for s in found.rows[1].sources] == [
        [True, False], [False, True], [False, False],
    ]  # fmt: skip


def test_documents_are_compared(tables):
    """A row for each document that was asked for."""
    by_document = tables(
        "compare", indicator=COVER, by="document", within=Filter(regions=("云南", "成都"))
    )
    assert cells(by_document, "compared", "2025") == [
        ("《成都市绿色发展工作方案》", "≥40.5%"),
    ]


def test_what_a_figure_counts_and_like_names_are_told(tmp_path):
    """年均 is no other figure of the same year; 处理率 may be 处置率 in other words."""
    text = (
        "四川省节能减排方案\n一、目标\n到2025年，单位地区生产总值能耗比2020年下降14%，年均下降3%。\n"
        "到2025年，污泥无害化处置率达到90%，县城污泥无害化处理率达到80%，垃圾分类覆盖率达到70%。\n"
    )
    with knowledge_base(tmp_path, {"a": text}) as base:
        saved, treated = (
            select(base.store, "compare", indicator=i) for i in ("单位GDP能耗", "污泥无害化处置率")
        )
    (row,) = saved.rows
    told = str(row.cells[1]).splitlines()
    assert told == ["降14%（较2020年）[1]", "年均降3%[2]"]
    assert treated.notes[-1] == "名称相近、未列入的指标，例如：县城污泥无害化处理率（1份）"
    assert not any("相近" in note for note in saved.notes)


def test_a_comparison_of_nothing_is_refused(tables):
    """It would set figures of different things side by side."""
    with pytest.raises(OutOfRangeError, match="indicator"):
        tables("compare", indicator=" ")


DUTIES = [
    ("四川省林业局", "负责", "保护森林"),
    ("四川省生态环境厅", "配合", "建设绿色工厂"),
    ("四川省经济和信息化厅", "牵头", "建设绿色工厂"),
    ("成都市生态环境局", "负责", "建设绿色工厂"),
    ("成都市经济和信息化局", "牵头", "建设绿色工厂"),
]


@pytest.mark.parametrize(
    ("organ", "told", "n"),
    [
        ("", {}, DUTIES),
        ("四川 生态环境", {}, DUTIES[1:2]),
        ("省林业局", {}, DUTIES[:1]),  # as it is written there
        ("", {"role": "牵头"}, [DUTIES[2], DUTIES[4]]),
        ("生态环境", {"within": Filter(regions=("成都",))}, DUTIES[3:4]),
        ("林业局", {"within": Filter(regions=("成都",))}, []),
    ],
)
def test_what_an_organ_is_to_do(tables, organ, told, n):
    """Every task with the role, by any of the organ's names."""
    assert cells(tables("duties", agency=organ, **told), "organ", "role", "task") == n


@pytest.mark.parametrize(
    ("title", "region", "place"),
    [
        ("支持云南建设绿色发展先行区实施方案", "全国", ("云南省",)),
        ("支持云南建设绿色发展先行区实施方案", "", ("云南省",)),
        ("支持云南建设绿色发展先行区实施方案", "昆明市", ("云南省", "昆明市")),
        ("关于川渝共建绿色走廊的意见", "全国", ("全国",)),
        ("四川、重庆共建绿色走廊实施方案", "全国", ("全国",)),
        ("绿色发展行动方案", "全国", ("全国",)),
    ],
)
def test_figures_of_a_national_document_about_one_province_are_its(title, region, place):
    """Its title says so; of several provinces none is meant alone."""
    card = Document("d", title, "", "d.txt", "txt", "00")
    assert stated_place(Qualifiers("target", region=region), card) == place


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"value": "89000000", "unit": "千瓦", "object": "2025年达到8900万千瓦以上"}, "8900万千瓦"),
        ({"value": "60000000000", "unit": "元", "object": "达到600亿元"}, "600亿元"),
        ({"value": "600000", "unit": "吨标准煤", "object": "节能60万吨标准煤"}, "60万吨标准煤"),
        ({"value": "25000", "unit": "户", "object": "25000户"}, "25000户"),
        ({"value": "6000000", "unit": "千瓦", "object": "达到６００万千瓦"}, "600万千瓦"),
        ({"value": "0.2", "unit": "%", "object": "2‰"}, "2‰"),
        ({"value": "1", "value_to": "2", "unit": "家", "object": "选择1-2家"}, "1–2家"),
        ({"value": "50000", "value_to": "100000", "unit": "元", "object": "5-10万元"}, "5–10万元"),
        ({"value": "4000000", "unit": "千瓦", "object": "见上表"}, "400万千瓦"),
        ({"value": "15", "unit": "%", "object": "“十四五”期间下降15%"}, "15%"),
        ({"value": "15", "unit": "支", "object": "“十四五”期间15支"}, "15支"),
        ({"value": "2025", "unit": "座", "object": "2025年2025座"}, "2025座"),
        ({"value": "12", "unit": "%", "object": "12月降12%"}, "12%"),
    ],
)
def test_a_figure_prints_as_the_text_says_it(told, words):
    """Never as 89000000千瓦; what is nowhere in the words, in 万 and 亿."""
    q = Qualifiers("target", comparator="=", **told)
    entity = Entity("i", "指标", "target")
    stated = Statement("d", 0, 1, Triple("f", entity, "目标值", entity), q, "rule", "c", 1.0)
    assert value_words(stated) == words


@pytest.mark.parametrize(
    ("comparator", "name", "words", "told"),
    [
        ("+", "铁水联运量", "十四五期间年均增长10%以上", "年均增≥10%"),
        ("-", "能耗", "比2020年下降10%以上", "较2020年降≥10%"),
        ("=", "减排量", "较2020年达到10%", "较2020年≥10%"),
        ("=", "非化石能源比重", "由2020年的8%上升为10%以上", "≥10%"),
        ("=", "工业增加值能耗", "较2020年达到10%", "≥10%"),
        ("=", "年均浓度", "年均浓度为10%", "≥10%"),
    ],
)
def test_changes_are_told_with_their_base_and_years(comparator, name, words, told):
    """A level is none, even where the text says from where it came."""
    base = "2020" if "2020" in words else ""
    q = Qualifiers(
        "target", value="10", unit="%", object=words, comparator=comparator, bound=">=",
        base_year=base,
    )  # fmt: skip
    entity = Entity("i", name, "target")
    stated = Statement("d", 0, 1, Triple("f", entity, "目标值", entity), q, "rule", "c", 1.0)
    assert figure_words(stated) == told


MEASURES = "推广节能技术，建设能耗监测系统，" * 24
ITEMS = f"""成都市节能行动方案
（一）推进工业节能。实施改造。2023年底前完成80家企业诊断。
（市工信局负责。以下均需各区人民政府落实，不再列出）
（二）推进建筑节能。{MEASURES}到2025年，新建建筑全面达标。（责任单位：市住建局）
"""


def test_duties_are_quoted_with_what_is_to_be_done(tmp_path):
    """The source is the item up to who is responsible; of a long one the middle is left out."""
    with knowledge_base(tmp_path / "kb", {"plan": ITEMS}) as base:
        found = select(base.store, "duties", agency="")
    told = dict(zip(cells(found, "task", "deadline"), found.rows, strict=True))
    assert list(told) == [
        ("以下各项任务", None),
        ("推进建筑节能", "到2025年，新建建筑全面达标"),
        ("推进工业节能", "2023年底前完成80家企业诊断"),
    ]
    of_all, long, short = (row.sources[0] for row in told.values())
    assert "以下均需各区人民政府落实，不再列出" in of_all.quote
    assert "推进工业节能。实施改造。2023年底前完成80家企业诊断。 （市工信局负责" in short.quote
    assert ITEMS[long.start : long.end].startswith("推进建筑节能。推广")
    begin, remark = long.quote.split("…")
    assert begin in ITEMS
    assert remark == "（责任单位：市住建局）"


@pytest.mark.parametrize("organ", ["市住建局", "住建局", "住建", "住房和城乡建设局"])
def test_an_organ_is_called_as_documents_call_it(tmp_path, organ):
    """Its written, short and full names; 商务部 is no 商务部门."""
    text = f"{ITEMS}由市商务部门负责统计工作。"
    with knowledge_base(tmp_path / "kb", {"plan": text}) as base:
        assert len(select(base.store, "duties", agency=organ).rows) == 1
        for other in ("建局部", "商务部"):
            with pytest.raises(NotFoundError, match="no organ with duties"):
                select(base.store, "duties", agency=other)
        assert len(select(base.store, "duties", agency="商务部门").rows) == 1


def test_several_indicators_stand_side_by_side(tmp_path):
    """Each has its columns; a name with 、 in it is one indicator."""
    texts = {
        "a": "四川省低碳方案\n一、目标\n到2025年，全省森林覆盖率达到41%，"
        "非化石能源消费比重达到42%，风电、太阳能发电总装机容量达到3000万千瓦。\n",
        "b": "云南省低碳方案\n一、目标\n到2030年，全省森林覆盖率达到66%。\n",
    }
    with knowledge_base(tmp_path, texts) as base:
        both = select(base.store, "compare", indicator="森林覆盖率、非化石能源占比")
        one = select(base.store, "compare", indicator="风电、太阳能发电装机容量")
        for unknown in ("森林覆盖率、幸福指数", "城市和县城的幸福率"):  # 城市 is no indicator
            with pytest.raises(NotFoundError, match="幸福"):
                select(base.store, "compare", indicator=unknown)
    assert [column.zh for column in both.columns] == [
        "地区", "森林覆盖率 2025", "森林覆盖率 2030", "非化石能源占比 2025",
    ]  # fmt: skip
    assert [row.cells for row in both.rows] == [
        ("四川省", "41%[1]", None, "42%[2]"),
        ("云南省", None, "66%", None),
    ]
    assert both.notes[0] == "除另注明外：森林覆盖率，目标；非化石能源消费比重，目标"
    assert [column.zh for column in one.columns] == ["地区", "2025"]
