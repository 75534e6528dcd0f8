"""One engine: tables agree, and what a selection selects."""

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from pydantic import ValidationError

from kgrag.statements.selection import Selection
from kgrag.text.regions import listed_regions
from tests.fixtures.extent import FULL
from tests.fixtures.kit import knowledge_base, shared_base
from tests.unit.statements.conftest import select
from tests.unit.statements.plans import PLANS, cells

POLICIES = Path(__file__).resolve().parents[4] / "shared" / "data" / "policy" / "text"
TERMS = {
    "办法": "云岭省节水管理办法\n云岭省人民政府\n2023年5月1日\n第一条\n为节约用水，制定本办法。\n"
    "第二条\n本办法所称节水型企业，是指用水效率达到先进水平的企业。\n"
    "第三条\n本办法自2023年6月1日起施行，有效期2年。\n"
    "第四条\n《云岭省节水管理暂行办法》自本办法施行之日起废止。\n"
}
base = shared_base({**PLANS, **TERMS}, "hash-32")
SEWAGE, FACTORIES = "农村生活污水治理率", "绿色工厂"


@pytest.fixture(scope="module", params=["plans", "policies"])
def archive(request, tmp_path_factory):
    """A knowledge base of made plans, and one of real policies where they are."""
    if request.param == "plans":
        texts = PLANS
    elif not POLICIES.is_dir():
        pytest.skip("needs ../shared/data/policy")
    else:
        files = islice(sorted(POLICIES.glob("*.txt")), 0, 48, 4)
        texts = {file.stem: file.read_text("utf-8") for file in files}
    with knowledge_base(tmp_path_factory.mktemp("archive"), texts, "hash-32") as made:
        yield made


@pytest.mark.slow
def test_figures_and_comparisons_agree(archive):
    """For 30 indicators and all provinces: the same years and the same passages."""
    stated = Counter(s.fact.subject.name for s in archive.store.statements("target"))
    places = [region.name for region in listed_regions() if region.level == "省"]
    if not FULL:
        held = {name for card in archive.documents() for name in card.metadata.regions}
        places = [*held.intersection(places), "云南省", "西藏自治区"]
    n = 0
    for name, _ in stated.most_common(30):
        compared = select(archive.store, "compare", indicator=name)
        heads = [column.key for column in compared.columns[1:]]
        by_place = {row.cells[0]: row for row in compared.rows}
        for place in places:
            listed = select(archive.store, "targets", indicator=name, places=(place,)).rows
            row = by_place.get(place)
            if row is None:
                assert listed == ()
                continue
            of_year = dict(zip(heads, row.cells[1:], strict=True))
            years = {str(one.cells[2] or one.cells[3] or "undated") for one in listed}
            assert {head or "undated" for head, cell in of_year.items() if cell} == years
            assert {*row.sources} == {source for one in listed for source in one.sources}
            n += 1
    assert n


@pytest.mark.parametrize(
    ("fields", "keys", "expected"),
    [
        (
            {"kind": "targets", "indicator": SEWAGE, "level": "省", "standing": "planned"},
            ("region", "value"),
            [("四川省", 35), ("四川省", 45)],
        ),
        (
            {"kind": "targets", "indicator": FACTORIES, "order": "most"},
            ("region", "value"),
            [("全国", 9000), ("四川省", 600), ("四川省", 500), ("成都市", 120)],
        ),
        (
            {"kind": "compare", "indicator": FACTORIES},
            ("region", "2025"),
            [("全国", "9000家"), ("四川省", "600家[1]\n500家[2]\n120家（成都）[3]")],
        ),
        (
            {"kind": "targets", "indicator": f"{SEWAGE}、{FACTORIES}", "document": "chengdu"},
            ("indicator", "value"),
            [(SEWAGE, 90), (FACTORIES, 120)],
        ),
        (
            {"kind": "duties", "agency": "生态环境局", "places": ("成都",)},
            ("task",),
            [("保障措施",)],
        ),
    ],
)
def test_what_is_selected(base, fields, keys, expected):
    """By level, order and document; every row has a passage."""
    found = select(base.store, **fields)
    assert cells(found, *keys) == expected
    assert all(row.sources for row in found.rows)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"kind": "compare", "indicator": SEWAGE, "level": "省", "years": (2030, 2030)}, "未读出"),
        ({"kind": "documents", "places": ("成都",)}, "符合条件的有1份"),
    ],
)
def test_what_is_left_out_is_told(base, fields, told):
    """In a note that says how much, and why."""
    assert told in "".join(select(base.store, **fields).notes)


@pytest.mark.parametrize(
    ("day", "status", "quote"),
    [
        ("2022-01-01", "现行有效", "本方案自2021年11月1日起施行，有效期5年。"),
        ("2027", "已失效，有效期至2026-10-31", "本方案自2021年11月1日起施行，有效期5年。"),
    ],
)
def test_validity_has_the_clause_that_says_so(base, day, status, quote):
    """At any day; of a document that says nothing, the line of its title."""
    (row,) = select(base.store, "documents", document="sichuan-old", as_of=day).rows
    assert (row.cells[1], row.sources[0].quote) == (status, quote)


def test_a_title_that_is_repealed_and_not_held_is_found_by_its_words(base):
    """With the clause that repeals it, from its day on, and only under a filter that has it."""
    (row,) = select(base.store, "documents", topic="节水 暂行").rows
    assert row.cells[:2] == (
        "云岭省节水管理暂行办法",
        "已废止，自2023-06-01起，由《云岭省节水管理办法》废止",
    )
    assert [source.heading_path for source in row.sources] == [("第四条",)]
    for other in ({"as_of": "2022"}, {"status": "expired"}, {"document": "sichuan-old"}):
        assert not select(base.store, "documents", **{"topic": "节水 暂行"} | other).rows


def test_a_selection_refuses_what_it_does_not_know():
    """A misspelt field would select everything."""
    for wrong in ({"place": "四川"}, {"limit": -1}, {"order": "first"}):
        with pytest.raises(ValidationError):
            Selection(kind="targets", **wrong)
