"""Pages in columns are read column by column, and items whose lines hang are whole."""

import textwrap

import pytest

from kgrag import KnowledgeBase
from kgrag.ingestion.load.columns import Fragment, find_columns
from kgrag.ingestion.load.page_tables import Line
from kgrag.ingestion.load.pdf import read_pdf
from kgrag.ingestion.load.reflow import reflow
from scripts.pdf_writer import Words, break_lines, ruled, write_drawn

SIZE, LEADING, WIDE = 10, 15, 22  # points, points, characters
CHINESE = [
    f"第{n}条　养老机构的新型床位不少于{30 + n}张，社区食堂覆盖率不低于{60 + n}%，"
    "由民政部门核定后公布。申请设立的，应当自受理之日起5个工作日内提交材料，逾期视为放弃。"
    for n in range(1, 19)
]
ENGLISH = [
    f"{n}. Each owner of a plant shall report its consumption within {n + 20} days to the "
    "authority, which publishes it for the public without delay and keeps it for later years."
    for n in range(1, 19)
]


def broken(text: str) -> list[str]:
    """Return the lines of a paragraph in a column; ASCII is half as wide."""
    if text.isascii():
        return textwrap.wrap(text, 2 * WIDE, initial_indent="    ")
    return break_lines(text, WIDE - 2, WIDE)


def in_columns(texts: list[str], *, by_row: bool) -> bytes:
    """Return a page in two columns of 30 lines, with a title over both."""
    lines = [
        (2 * SIZE * (i == 0), line.strip()) for text in texts for i, line in enumerate(broken(text))
    ][:60]
    words = [
        Words(60 + indent + 242 * (i // 30), 740 - LEADING * (i % 30), line, SIZE)
        for i, (indent, line) in enumerate(lines)
    ]
    if by_row:
        words.sort(key=lambda word: (-word.y, word.x))
    title = Words(170, 780, "关于养老服务机构管理的若干规定", 18)
    return write_drawn([[title, *words]])


def squeezed(text: str) -> str:
    """Return a text without blanks in its lines."""
    return "\n".join("".join(line.split()) for line in text.split("\n"))


@pytest.mark.parametrize("texts", [CHINESE, ENGLISH], ids=["zh", "en"])
@pytest.mark.parametrize("by_row", [False, True], ids=["by column", "by row"])
def test_a_page_in_two_columns_is_read_column_by_column(texts, by_row):
    """Every paragraph is whole and in order, in whichever order the file has its lines."""
    read = squeezed(read_pdf(in_columns(texts, by_row=by_row), name="a.pdf", stem="x").text).split(
        "\n"
    )

    whole = [squeezed(text) for text in texts]
    assert read[0] == "关于养老服务机构管理的若干规定"
    assert len(read) > 12
    assert read[1:-1] == whole[: len(read) - 2]
    assert whole[len(read) - 2].startswith(read[-1])


def test_search_quotes_a_sentence_that_two_columns_share(tmp_path):
    """It is in one passage, as it is read."""
    (tmp_path / "a.pdf").write_bytes(in_columns(CHINESE, by_row=True))

    with KnowledgeBase.open(tmp_path / "kb") as kb:
        kb.ingest([tmp_path / "a.pdf"])
        found = kb.search("新型床位不少于34张")

    assert any("新型床位不少于34张，社区食堂覆盖率不低于64%" in hit.chunk.text for hit in found)


def test_a_table_across_the_page_is_not_in_a_column():
    """Its rulings cross the gutter; the columns above and below it are read apart."""
    rows = [
        ["指标", "2020年", "2025年", "单位"],
        *[[f"床位{n}", "9", "20", "局"] for n in "一二三"],
    ]
    table = ruled(rows, x=60, y=700, widths=(100, 121, 121, 120), height=20)
    upper = [
        Words(60 + 242 * c, 780 - 15 * i, CHINESE[i % 9][4:26], 10)
        for c in (0, 1)
        for i in range(5)
    ]
    lower = [
        Words(60 + 242 * c, 560 - 15 * i, CHINESE[i % 9][4:26], 10)
        for c in (0, 1)
        for i in range(9)
    ]

    text = read_pdf(write_drawn([[*upper, *table, *lower]]), name="a.pdf", stem="x").text

    assert "床位二 | 9 | 20 | 局" in text


def test_columns_of_short_cells_are_no_columns_of_text():
    """A list of names beside figures is read row by row."""
    cells = [
        Fragment(x, x + width, 700 - 15 * i, 710 - 15 * i, [i])
        for i in range(12)
        for x, width in ((60, 20 + 13 * (i % 5)), (300, 30 + 9 * (i % 4)))
    ]

    assert find_columns(cells, []) == []


def test_reflow_when_lines_of_an_item_hang():
    """They begin where its text does, and the next item begins where its number does."""
    page = [
        Line("为做好许可工作，现将有关办理事项和要求公告如下，请申请人遵照执行。", 80, 480, 12),
        Line("（一）受理机关对申请材料齐全、符合法定形式的，自受理之日起5个工作日", 80, 480, 12),
        Line("内作出决定，并将结果告知申请人，需要延长期限的，经本机关负责人批准", 116, 480, 12),
        Line("可以延长。", 116, 170, 12),
        Line("（二）不予许可的，说明理由。", 80, 250, 12),
    ]

    lines = reflow([page])[0].split("\n")

    assert lines[-2].endswith(
        "自受理之日起5个工作日内作出决定，并将结果告知申请人，需要延长期限的，经本机关负责人批准可以延长。"
    )
    assert lines[-1] == "（二）不予许可的，说明理由。"
