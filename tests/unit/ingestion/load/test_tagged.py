"""Tables that only a PDF file's tags tell."""

import re
from collections.abc import Sequence
from itertools import count

import pytest

from kgrag.ingestion.load.pdf import read_pdf
from scripts.pdf_writer import Words, write_drawn

Cell = tuple[float, str, int, int]  # left, text, rows and columns that it covers

TASKS: list[list[Cell]] = [
    [(80, "类别", 1, 1), (160, "任务", 1, 1), (300, "完成时限", 1, 1)],
    [(80, "保障", 2, 1), (160, "筹集房源并完善配套", 1, 1), (300, "年底前", 1, 1)],
    [(160, "审核资格", 1, 1)],
    [(80, "监管", 1, 1), (300, "长期坚持", 1, 1)],
    [(80, "其他事项", 1, 3)],
]


def tagged(pages: Sequence[Sequence[Sequence[Cell]]], *, twice: bool = False) -> bytes:
    """Return a PDF of one table, its rows on one page or more, 40 points apart.

    Args:
        pages: Rows of cells.
        twice: Whether each element is named twice by the one that it is in.
    """
    drawn: list[list[Words]] = []
    objects = {91: b"/Type /StructElem /S /Table /P 90 0 R /K [%s]"}
    nums, rows = b"", []
    for number, page in enumerate(pages):
        drawn.append([Words(80, 780, "现将任务分工列表如下，请抓好落实。", 12)])
        refs = b""
        for i, row in enumerate(page):
            at = 100 + len(objects)
            rows.append(at)
            objects[at] = b""
            cells = []
            for left, text, high, wide in row:
                mark = refs.count(b" R")
                paint = f"EMC /TD << /MCID {mark} >> BDC"
                drawn[-1].append(Words(left, 700 - 40 * i, text, 12, paint))
                cells.append(own := 100 + len(objects))
                refs += b"%d 0 R " % own
                objects[own] = (
                    b"/Type /StructElem /S /TD /P %d 0 R /Pg %%d 0 R /K %d /A << /O /Table "
                    b"/RowSpan %d /ColSpan %d >>" % (at, mark, high, wide)
                ) % (7 + 2 * number)
            kids = b" ".join(b"%d 0 R" % cell for cell in cells * (1 + twice))
            objects[at] = b"/Type /StructElem /S /TR /P 91 0 R /K [%s]" % kids
        nums += b"%d [%s] " % (number, refs)
    objects[91] %= b" ".join(b"%d 0 R" % row for row in rows * (1 + twice))
    objects[90] = b"/Type /StructTreeRoot /K 91 0 R /ParentTree << /Nums [%s] >>" % nums
    numbers = count()
    data = re.sub(
        b"/Type /Page /",
        lambda _: b"/Type /Page /StructParents %d /" % next(numbers),
        write_drawn(drawn),
    )
    told = b"".join(b"%d 0 obj\n<< %s >>\nendobj\n" % one for one in sorted(objects.items()))
    return data.replace(
        b"/Type /Catalog", b"/Type /Catalog /StructTreeRoot 90 0 R /MarkInfo << /Marked true >>"
    ).replace(b"xref\n", told + b"xref\n", 1)


def table_of(data: bytes) -> list[str]:
    text = read_pdf(data, name="a.pdf", stem="x").text
    return [line for line in text.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("twice", [False, True])
def test_tags_tell_rows_cells_and_spans(twice):
    """Without a ruling; an empty cell, which has no tag, is where no other is."""
    assert table_of(tagged([TASKS], twice=twice)) == [
        "| 类别 | 任务 | 完成时限 |",
        "| --- | --- | --- |",
        "| 保障 | 筹集房源并完善配套 | 年底前 |",
        "| 保障 | 审核资格 |  |",
        "| 监管 |  | 长期坚持 |",
    ]


def test_a_label_goes_on_behind_a_page_end():
    """Its rows on the next page have no cell for it."""
    rest: list[list[Cell]] = [
        [(160, "公开结果", 1, 1), (300, "每季度", 1, 1)],
        [(80, "评估", 1, 1), (160, "委托第三方", 1, 1), (300, "每年", 1, 1)],
    ]

    told = table_of(tagged([TASKS[:3], rest]))

    assert told[3:] == [
        "| 保障 | 审核资格 |  |",
        "| 保障 | 公开结果 | 每季度 |",
        "| 评估 | 委托第三方 | 每年 |",
    ]


def test_no_text_is_lost_where_tags_contradict_each_other():
    """A row without room for its cells."""
    rows: list[list[Cell]] = [TASKS[0], [(80, "保障", 9, 3)], TASKS[3]]

    text = read_pdf(tagged([rows]), name="a.pdf", stem="x").text

    assert all(word in text for word in ("类别", "完成时限", "保障", "监管", "长期坚持"))
