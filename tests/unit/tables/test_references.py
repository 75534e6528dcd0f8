"""What a document cites, what cites it, and what it rests on."""

import pytest

from kgrag.errors import NotFoundError
from tests.unit.tables.test_figures import cells

NATION, PROVINCE, CITY = (
    "《绿色发展行动方案》",
    "《四川省绿色发展实施方案》",
    "《成都市绿色发展工作方案》",
)
LAW = "《中华人民共和国节约能源法》"


def test_what_a_document_cites(tables):
    """Held or not, with the number that stands beside it."""
    assert cells(tables.cites("chengdu"), "role", "cited", "held") == [
        ("落实", PROVINCE, "在库"),
        ("依据", LAW, "不在库"),
    ]
    found = tables.cites("sichuan.txt")
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
    found = tables.cited_by(title)
    assert [c for (c,) in cells(found, "citing")] == citing
    assert found.notes == (f"共4份文件，其中读出引用它的有{len(citing)}份",)


def test_a_title_that_nobody_cites_is_refused(tables):
    """0 of 4 would look like an answer."""
    with pytest.raises(NotFoundError, match="建筑法"):
        tables.cited_by("建筑法")


def test_the_chain_that_a_document_rests_on(tables):
    """Depth first; what is not held ends it."""
    steps = cells(tables.basis("chengdu"), "step", "role", "from", "basis", "held")
    assert steps == [
        (1, "落实", CITY, PROVINCE, "在库"),
        (2, "落实", PROVINCE, NATION, "在库"),
        (3, "依据", NATION, LAW, "不在库"),
        (1, "依据", CITY, LAW, "不在库"),
    ]
    assert [s[:1] for s in cells(tables.basis("chengdu", hops=1), "step")] == [(1,), (1,)]


def test_a_circle_ends_where_it_closes(tmp_path):
    """Two plans that rest on each other."""
    from kgrag.api import KnowledgeBase
    from kgrag.config import Config, EmbeddingConfig

    for name, other in (("甲", "乙"), ("乙", "甲")):
        text = f"四川省{name}类规划\n为落实《四川省{other}类规划》，制定本规划。\n"
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash-32"))
    with KnowledgeBase.open(tmp_path / "kb", config=config) as base:
        base.ingest(sorted(tmp_path.glob("*.txt")))
        steps = cells(base.tables().basis("甲", hops=5), "step", "basis")
    assert steps == [(1, "《四川省乙类规划》"), (2, "《四川省甲类规划》")]
