"""What a document cites, what cites it, and what it rests on."""

import pytest

from kgrag.errors import NotFoundError
from tests.fixtures.kit import knowledge_base, shared_base
from tests.unit.statements.conftest import select
from tests.unit.statements.plans import cells

NATION, PROVINCE, CITY = (
    "《绿色发展行动方案》",
    "《四川省绿色发展实施方案》",
    "《成都市绿色发展工作方案》",
)
LAW = "《中华人民共和国节约能源法》"


def test_what_a_document_cites(tables):
    """Held or not, with the number that stands beside it."""
    assert cells(tables("cites", document="chengdu"), "role", "cited", "held") == [
        ("落实", PROVINCE, "在库"),
        ("依据", LAW, "不在库"),
    ]
    found = tables("cites", document="sichuan.txt")
    assert cells(found, "cited", "number") == [(NATION, "国发〔2021〕9号")]
    assert found.notes == ("共引用1项，其中1项在库",)


@pytest.mark.parametrize(
    ("title", "citing"),
    [
        ("绿色发展行动方案", [PROVINCE]),
        ("《绿色发展行动方案》", [PROVINCE]),
        ("四川省绿色发展实施方案", [CITY]),
        ("中华人民共和国节约能源法", [NATION, CITY]),  # not held; the elder first
        ("节约能源法", [NATION, CITY]),
        ("chengdu", []),
    ],
)
def test_who_cites_a_document(tables, title, citing):
    """Whether it is held or not, by its whole title or a part that no held one bears."""
    found = tables("cited_by", document=title)
    assert [c for (c,) in cells(found, "citing")] == citing
    assert found.notes == (f"共4份文件，其中读出引用它的有{len(citing)}份",)


def test_a_title_that_nobody_cites_is_refused(tables):
    """0 of 4 would look like an answer."""
    with pytest.raises(NotFoundError, match="建筑法"):
        tables("cited_by", document="建筑法")


def test_the_chain_that_a_document_rests_on(tables):
    """Depth first; what is not held ends it."""
    steps = cells(tables("basis", document="chengdu"), "step", "role", "from", "basis", "held")
    assert steps == [
        (1, "落实", CITY, PROVINCE, "在库"),
        (2, "落实", PROVINCE, NATION, "在库"),
        (3, "依据", NATION, LAW, "不在库"),
        (1, "依据", CITY, LAW, "不在库"),
    ]
    assert [s[:1] for s in cells(tables("basis", document="chengdu", hops=1), "step")] == [
        (1,),
        (1,),
    ]


def test_a_circle_ends_where_it_closes(tmp_path):
    """Two plans that rest on each other."""
    texts = {
        name: f"四川省{name}类规划\n为落实《四川省{other}类规划》，制定本规划。\n"
        for name, other in (("甲", "乙"), ("乙", "甲"))
    }
    with knowledge_base(tmp_path, texts) as base:
        steps = cells(select(base.store, "basis", document="甲", hops=5), "step", "basis")
    assert steps == [(1, "《四川省乙类规划》"), (2, "《四川省甲类规划》")]


_CITING = {
    "甲": "青川市甲类办法\n根据《中华人民共和国节水法》、《国务院关于加快节水工作的意见》制定。\n",
    "乙": "青川市乙类办法\n根据《节水法》、《节水产业目录（2019年版）》，制定本办法。\n",
    "丙": "青川市丙类办法\n根据《节水产业目录》、《关于加快节水工作的意见》，制定本办法。\n",
    "丁": "青川市丁类办法\n根据《节水产业目录（2023年版）》，制定本办法。\n",
}


# Documents that call laws, catalogues and opinions by several names.
citing = shared_base(_CITING, "hash-32")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("节水法", "甲乙"),
        ("中华人民共和国节水法", "甲乙"),
        ("节水产业目录", "乙丙丁"),
        ("节水产业目录（2019年版）", "乙丙"),
        ("《节水产业目录（2023年版）》", "丙丁"),
        ("国务院关于加快节水工作的意见", "甲丙"),
        ("关于加快节水工作的意见", "甲丙"),
        ("中共中央、国务院关于加快节水工作的意见", "甲丙"),
    ],
)
def test_a_law_is_one_whatever_it_is_called(citing, title, expected):
    """Tables and answers have the same; an edition that is named leaves other editions out."""
    found = select(citing.store, "cited_by", document=title)
    assert {c for (c,) in cells(found, "citing")} == {f"《青川市{d}类办法》" for d in expected}
    answer = citing.ask(f"哪些文件引用了《{title.strip('《》')}》？")
    assert f"有{len(expected)}份" in "".join(answer.notes)


def test_the_name_by_which_it_is_cited_is_shown(citing):
    """Editions can be told apart."""
    called = cells(select(citing.store, "cited_by", document="节水产业目录"), "called")
    assert {c for (c,) in called} == {
        "《节水产业目录（2019年版）》", "《节水产业目录》", "《节水产业目录（2023年版）》"
    }  # fmt: skip


def test_a_law_has_one_node(citing):
    """Whichever name is asked for; citations keep what they write."""
    nodes = {citing.graph(name)[0].entity_id for name in ("节水法", "中华人民共和国节水法")}
    assert len(nodes) == 1
    assert cells(select(citing.store, "cites", document="甲"), "cited")[0] == (
        "《中华人民共和国节水法》",
    )
