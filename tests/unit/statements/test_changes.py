"""What comes when, what changed between two documents, what does not go together."""

from datetime import date
from functools import partial
from types import SimpleNamespace

import pytest

from kgrag.errors import NotFoundError, OutOfRangeError
from kgrag.retrieval.filter import Filter
from kgrag.text.due import due_clauses
from tests.unit.statements.conftest import select
from tests.unit.statements.plans import cells, plans_in


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A knowledge base of the plans."""
    with plans_in(tmp_path_factory.mktemp("plans")) as made:
        yield made


@pytest.fixture
def tables(base):
    """Its tables."""
    return partial(select, base.store)


SEWAGE, LOSS = "农村生活污水治理率", "城市公共供水管网漏损率"
PAIRS = [
    ("低于上级", SEWAGE, "四川省", 2025, "45%", "全国", 2025, "100%"),
    ("低于上级", SEWAGE, "四川省", 2025, "35%", "全国", 2025, "100%"),
    ("两文不一", SEWAGE, "四川省", 2025, "35%", "四川省", 2025, "45%"),
    ("两文不一", "绿色工厂", "四川省", 2025, "500家", "四川省", 2025, "600家"),
]
AGAINST = (
    "kind", "indicator", "region", "year", "figure", "against_region", "against_year",
    "against_figure",
)  # fmt: skip


def test_what_does_not_go_together(tables):
    """Below, unlike; amounts of a part are not below the whole, results are no aims."""
    found = tables("conflicts")
    assert cells(found, *AGAINST) == PAIRS
    assert found.notes[0] == "比较了4份文件中有年份的16项目标，发现4处差异"
    assert len(found.notes) == 2
    own, other = found.rows[0].sources
    assert (own.title, other.title) == ("四川省清洁生产工作方案（2023年）", "清洁生产行动方案")
    assert own.heading_path == ("一、总体目标",)
    assert "全省农村生活污水治理率达到45%" in own.quote
    assert "农村生活污水治理率达到100%" in other.quote


@pytest.mark.parametrize(
    ("told", "n"),
    [
        ({"indicator": "污水"}, 3),
        ({"places": ("四川",)}, 4),
        ({"places": ("成都",)}, 0),
        ({"years": (2026, 2030)}, 0),
        ({"within": Filter(documents=("sichuan-new",))}, 3),  # what it is compared with is not
    ],
)
def test_conflicts_are_chosen(tables, told, n):
    """By the local figure; of documents, one of the two is wanted."""
    assert len(tables("conflicts", **told).rows) == n


@pytest.mark.parametrize(
    ("one", "other", "n"),
    [
        ("污水处理率达到95%", "污水处理率达到98%", 1),
        ("污水处理率达到95%", "污水处理率达到95%以上", 0),
        ("光伏装机容量超过800万千瓦", "光伏装机容量达到805.5万千瓦", 0),  # said roundly
        ("单位GDP能耗比2020年下降13.46%", "单位GDP能耗比2020年下降13.5%", 0),
        ("新增光伏装机容量100万千瓦", "光伏装机容量达到900万千瓦", 0),  # added
        ("PM2.5浓度下降到30微克/立方米", "PM2.5浓度下降到32微克/立方米", 1),
    ],
)
def test_two_documents_of_a_place(tmp_path, base, one, other, n):
    """Figures of one thing that cannot both hold, and no others."""
    for name, text in (("甲", one), ("乙", other)):
        text = f"云南省{name}规划\n云南省人民政府\n2022年3月1日\n一、目标\n到2025年，{text}。\n"
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    with type(base).open(tmp_path / "kb", config=base.config) as made:
        made.ingest(sorted(tmp_path.glob("*.txt")))
        found = select(made.store, "conflicts")
    assert [row.cells[0] for row in found.rows] == ["两文不一"] * n


@pytest.mark.parametrize(
    ("national", "n"),
    [
        ("到2025年，全国森林覆盖率达到24.1%", 0),
        ("到2025年，森林覆盖率达到24.1%", 0),
        ("到2025年，森林覆盖率达到100%", 1),
    ],
)
def test_an_average_of_the_country_bounds_no_place(tmp_path, base, national, n):
    """What is to be all of it does."""
    texts = {
        "国务院关于造林的意见\n国务院": national,
        "云南省造林规划\n云南省人民政府": "到2025年，森林覆盖率达到20%",
    }
    for i, (title, text) in enumerate(texts.items()):
        text = f"{title}\n2022年3月1日\n一、目标\n{text}。\n"
        (tmp_path / f"{i}.txt").write_text(text, "utf-8")
    with type(base).open(tmp_path / "kb", config=base.config) as made:
        made.ingest(sorted(tmp_path.glob("*.txt")))
        assert [row.cells[0] for row in select(made.store, "conflicts").rows] == ["低于上级"] * n


@pytest.mark.parametrize(
    ("day", "told"),
    [
        ("2024-01-01", ""),
        ("2026-12-31", "已失效，有效期至2026-10-31"),
        ("2021-10-20", "2021-10-20尚未施行，自2021-11-01起施行"),
    ],
)
def test_what_is_not_in_force_is_marked(base, monkeypatch, day, told):
    """A pair with a document that expired is no conflict of today."""
    today = SimpleNamespace(today=lambda: date.fromisoformat(day))
    monkeypatch.setattr("kgrag.statements.selection.date", today)
    (pair,) = select(base.store, "conflicts", indicator="绿色工厂").rows
    status = pair.sources[0].status
    assert status
    assert status.told() == told


def test_what_happens_when(tables):
    """In order of date; what is due in a year at its end; the same thing is one row."""
    found = tables("timeline", places=("四川省",), until="2025", within=Filter(regions=("四川",)))
    assert cells(found, "date", "event", "what")[:7] == [
        ("2021-10-08", "成文", "《四川省清洁生产工作方案（2021年）》"),
        ("2021-11-01", "施行", "《四川省清洁生产工作方案（2021年）》"),
        ("2022-06", "时限", "2022年6月底前报送进展情况"),
        ("2023-03-02", "成文", "《四川省清洁生产工作方案（2023年）》"),
        ("2023-06-01", "成文", "《成都市清洁生产实施方案》"),
        ("2025", "目标", "农村生活污水治理率 35%"),
        ("2025", "目标", "农村生活污水治理率 45%"),
    ]
    twice = next(row for row in found.rows if row.cells[2] == "单位GDP能耗 较2020年降14%")
    assert len(twice.sources) == 2
    assert found.notes[1:] == (
        "按条件排除1份文件，共4份",
        "0份文件没有印发或成文日期，0份的日期是推断的",
        *found.notes[3:],
    )
    assert found.rows[1].sources[0].quote == "本方案自2021年11月1日起施行，有效期5年。"


def test_when_a_document_expires_is_computed_from_how_long_it_holds(tables):
    """It says so, and cites the words."""
    (row,) = tables("timeline", events=("expires",)).rows
    assert (row.cells[0], row.cells[4]) == ("2026-10-31", "推算")
    assert row.sources[0].quote == "本方案自2021年11月1日起施行，有效期5年。"


@pytest.mark.parametrize(
    ("told", "n"),
    [
        ({"since": "2022", "until": "2022"}, 1),
        ({"since": "2026"}, 2),
        ({"since": "2021-10-09", "until": "2021"}, 1),
        ({"events": ("written",)}, 4),
        ({"indicator": "漏损"}, 4),  # two figures, and the documents that state them
        ({"events": ("due",), "indicator": "漏损"}, 0),
        ({"places": ("成都",)}, 5),
        ({"within": Filter(documents=("chengdu",))}, 5),
    ],
)
def test_times_are_chosen(tables, told, n):
    """By day, event, indicator, place and document."""
    assert len(tables("timeline", **told).rows) == n


def test_deadlines_without_a_day_are_left_out(tmp_path, base):
    """持续推进 is on no day; a month without a year is of the year of the plan."""
    lines = "（一）查企业。（责任单位：省工信厅，完成期限：{}）\n"
    text = "云南省2022年节能工作计划\n云南省人民政府\n2022年3月1日\n一、任务\n"
    text += lines.format("持续推进") + lines.replace("查", "帮").format("8月底")
    (tmp_path / "a.txt").write_text(text, "utf-8")
    with type(base).open(tmp_path / "kb", config=base.config) as made:
        made.ingest([tmp_path / "a.txt"])
        found = select(made.store, "timeline", events=("due",))
    assert cells(found, "date", "what", "certainty") == [("2022-08", "帮企业", "推断")]


@pytest.mark.parametrize("day", ["soon", "2022-13", "2022-1", "2022-02-32"])
def test_what_is_no_day_is_refused(tables, day):
    """It would choose by its letters."""
    with pytest.raises(OutOfRangeError, match="2022-0"):
        tables("timeline", since=day)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("到2025年底，建成体系。", ["2025"]),
        ("中国承诺力争于2030年前实现碳达峰。", []),
        ("按照《2030年前碳达峰行动方案》，做好工作。", []),
        ("力争2023年6月底前全部建成，2024年全面推广。", ["2023-06"]),
        ("比2020年底下降5%。截至2020年底达到五成以上。", []),
        ("确保如期实现2030年前碳达峰的重大决策部署。", []),
        ("2005年底前建成的老旧小区改造。", []),
        ("2030年前", []),  # a heading
    ],
)
def test_clauses_that_say_until_when(text, dates):
    """Not what is past, a basis of comparison, or what others decided."""
    assert [clause.date for clause in due_clauses(text)] == dates


def test_a_short_clause_begins_with_its_sentence():
    """全部退出 says nothing without what stands before the day."""
    text = "二、任务\n矿热炉原则上2022年底前全部退出；其余改造。"
    ((start, end, date),) = due_clauses(text)
    assert (text[start:end], date) == ("矿热炉原则上2022年底前全部退出", "2022")
    text = "绿色建筑占新建建筑比例到2025年达到30%以上，并逐年提高。"
    assert [text[d.start : d.end] for d in due_clauses(text)] == [text[:-1]]


DIGEST = [
    ("目标", "不同", SEWAGE, "2025年：35%", "2025年：45%"),
    ("目标", "不同", "绿色工厂", "2025年：500家", "2025年：600家"),
    ("目标", "仅前者有", "科技支出比例", "2025年：2%", None),
    (
        "职责", "不同", "建设绿色工厂",
        "牵头：四川省经济和信息化厅；配合：四川省生态环境厅",
        "牵头：四川省经济和信息化厅；配合：四川省财政厅",
    ),
    ("职责", "仅后者有", "发展循环经济", None, "负责：四川省商务厅"),
    ("职责", "仅前者有", "推广清洁能源", "负责：四川省能源局", None),
    ("引用", "仅后者有", "《减污降碳协同增效实施方案》", None, "落实"),
    ("引用", "仅前者有", "《清洁生产行动方案》", "依据", None),
]  # fmt: skip


def test_two_editions(tables):
    """Targets, duties and references; what agrees is counted. Results are no targets."""
    parts = ("targets", "duties", "references")
    found = tables("digest", document="sichuan-old", new="工作方案（2023年）", parts=parts)
    assert cells(found, "part", "change", "item", "old", "new") == DIGEST
    assert found.notes == (
        "前者：《四川省清洁生产工作方案（2021年）》（2021-10-08）",
        "后者：《四川省清洁生产工作方案（2023年）》（2023-03-02）",
        "目标：仅前者有1，仅后者有0，不同2，相同1",
        "职责：仅前者有1，仅后者有1，不同1，相同1",
        "引用：仅前者有1，仅后者有1，不同0，相同1",
    )
    assert [len(row.sources) for row in found.rows] == [2, 2, 1, 2, 1, 1, 1, 1]


def test_clauses_of_two_editions(tables):
    """The sentences that differ, with both places; what is only in one, with its text."""
    found = tables("digest", document="sichuan-old", new="sichuan-new", parts=("clauses",))
    told = {row.cells[2]: row for row in found.rows}
    assert [row.cells[1] for row in found.rows].count("不同") == 3
    changed = told["（一）建设绿色工厂"]
    assert changed.cells[3].startswith("推动企业节能改造，建立企业名录。")
    assert changed.cells[4].startswith("推动企业节能改造，建立企业名录，给予资金奖励。")
    assert [s.quote for s in changed.sources] == [
        "推动企业节能改造，建立企业名录。",
        "推动企业节能改造，建立企业名录，给予资金奖励。",
    ]
    assert told["三、实施要求"].cells[1:5:3] == ("仅前者有", None)
    assert told["（三）发展循环经济"].cells[1] == "仅后者有"
    assert "（二）治理农村污水" not in told
    assert found.notes[2] == "条款：仅前者有2，仅后者有1，不同3，相同1"


def test_plans_of_two_places(tables):
    """One figure left of an indicator is one, though the years differ; amounts are shown."""
    found = tables("digest", document="nation", new="chengdu", parts=("targets",))
    assert cells(found, "change", "item", "old", "new") == [
        ("不同", SEWAGE, "2025年：100%", "2025年：90%"),
        ("不同", LOSS, "2025年：≤9%", "2025年：≤10%"),
        ("不同", "绿色工厂", "2025年：9000家", "2025年：120家"),
        ("不同", "单位GDP能耗", "2025年：较2020年降13.5%", "2030年：较2020年降13%"),
        ("仅前者有", "科技支出比例", "2025年：3%", None),  # which nobody deleted
    ]
    assert found.notes[2] == "目标：仅前者有1，仅后者有0，不同4，相同0"


@pytest.mark.parametrize(
    ("old", "new", "error", "said"),
    [
        ("nation", "清洁生产行动", OutOfRangeError, "are one document"),
        ("nation", "四川省清洁生产", NotFoundError, "may be any of .*《四川省清洁生产工作方案"),
        ("nation", "没有的文件", NotFoundError, "no document is called"),
        ("", "nation", NotFoundError, "no document is called"),
    ],
)
def test_documents_that_cannot_be_compared(tables, old, new, error, said):
    """In words: a part of several titles names them."""
    with pytest.raises(error, match=said):
        tables("digest", document=old, new=new)
