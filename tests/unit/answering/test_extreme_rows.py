"""The largest and the smallest row of a table: what is compared, and what is not."""

import pytest

from kgrag import KnowledgeBase
from kgrag.answer.blocks import Row
from kgrag.embedding.hashing import HashEmbedder

PROJECTS = (
    "| 项目 | 地区 | 投资（亿元） |\n| --- | --- | --- |\n| 风电基地 | 青川市 | 1,132.5 |\n"
    "| 水电站 | 南桥市 | 86 |\n| 数据中心 | 青川市 | 45 |\n| 合计 |  | 1,263.5 |"
)
MIXED = "| 指标 | 2025年目标 |\n| --- | --- |\n| 森林覆盖率 | 41% |\n| 蓄积量 | 3亿立方米 |"
GRANTS = "| Program | Grant |\n| --- | --- |\n| Solar roofs | 300 |\n| Heat pumps | 1200 |"


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    for name, text in (("项目表", PROJECTS), ("主要指标表", MIXED)):
        (folder / f"{name}.md").write_text(f"# 云岭省{name}\n\n{text}\n", "utf-8")
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        base.ingest([*folder.glob("*.md")])
        yield base


def first(kb, question):
    block = kb.ask(question).blocks[0]
    return (block.citation.quote, block.lead) if isinstance(block, Row) else ("", "")


@pytest.mark.parametrize(
    ("question", "row", "lead"),
    [
        ("哪个项目投资最大？", "| 风电基地 | 青川市 | 1,132.5 |", "最大的一行（比较了此表的3行）"),
        ("青川市投资最少的项目？", "| 数据中心 | 青川市 | 45 |", "最小的一行（比较了此表的2行）"),
    ],
)
def test_the_row_stands_first_and_says_how_many_were_compared(kb, question, row, lead):
    """A sum of the others is no row, and a cell that the question names narrows the choice."""
    assert first(kb, question) == (row, f"“投资（亿元）”{lead}")


def test_rows_that_are_equal_stand_together(tmp_path):
    path = tmp_path / "云岭省补贴表.md"
    rows = (
        "| 类别 | 标准（元） |\n| --- | --- |\n| 充电桩 | 300 |\n| 光伏 | 300 |\n| 热泵 | 200 |\n"
    )
    path.write_text(f"# 云岭省补贴表\n\n{rows}", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        base.ingest([path])
        blocks = base.ask("哪一类的标准最高？").blocks
    assert [b.citation.quote for b in blocks if isinstance(b, Row)] == [
        "| 充电桩 | 300 |",
        "| 光伏 | 300 |",
    ]


def test_in_english(tmp_path):
    path = tmp_path / "grants.md"
    path.write_text(f"# Grants of the County\n\nEach is paid once.\n\n{GRANTS}\n", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        base.ingest([path])
        said = "the largest “Grant” (2 rows of this table were compared)"
        assert first(base, "Which program has the highest grant?") == (
            "| Heat pumps | 1200 |",
            said,
        )


@pytest.mark.parametrize(
    "question",
    [
        *(
            "2025年目标最高的指标是哪个？",
            "哪个项目最好？",
            "投资是多少？",
            "哪个项目编制人数最多？",
        ),
        "四川省哪个项目投资最大？",  # of another place
    ],
)
def test_figures_of_several_units_and_columns_that_are_not_named_are_not_compared(kb, question):
    assert first(kb, question) == ("", "")
