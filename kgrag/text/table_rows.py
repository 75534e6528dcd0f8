r"""Read and write table rows in a document's text: Markdown with outer bars.

`| 指标 | 2025年 |`, then `| --- | --- |`, then a line for every row of the body. A bar in a cell is
escaped as `\|`, an empty cell is `|  |`.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

_LINE = re.compile(r"[^\r\n]+")
_LONGEST = 600  # characters of a header that is repeated; what is longer would hide the rows

CELL_MARK = " | "
_BAR = re.compile(r"(?<!\\)\|")
_UNIT = re.compile(r"[（(]([^（）()]{1,8})[）)]$")
_NUMBER = re.compile(r"[≥≤<>＞＜约]?\s*\d[\d,.]*")
_DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")


def row_line(cells: Iterable[str]) -> str:
    r"""Format single-line cells as a row; empty cells are kept.

    >>> row_line(["指标", "", "甲|乙"])
    '| 指标 |  | 甲\\|乙 |'
    """
    return "| " + CELL_MARK.join(cell.replace("|", "\\|") for cell in cells) + " |"


def delimiter_line(n_columns: int) -> str:
    """Return the line below a header row.

    >>> delimiter_line(2)
    '| --- | --- |'
    """
    return row_line(["---"] * n_columns)


def is_row(line: str) -> bool:
    """Return whether a line is a table row with outer bars, delimiter rows included.

    >>> is_row("| 指标 | 2025年 |"), is_row("甲 | 乙")
    (True, False)
    """
    line = line.strip()
    return len(line) > 2 and line[0] == "|" and line[-1] == "|" and not line.endswith("\\|")


def holds_row(line: str) -> bool:
    """Return whether a line is a table row, with or without outer bars.

    >>> holds_row("甲 | 乙"), holds_row("|甲|乙|"), holds_row("甲|乙")
    (True, True, False)
    """
    return CELL_MARK in line or is_row(line)


def is_delimiter(line: str) -> bool:
    """Return whether a line is the delimiter between a table's header and body.

    >>> is_delimiter("| --- | :-: |"), is_delimiter("| - 5 | 甲 |"), is_delimiter("---")
    (True, False, False)
    """
    line = line.strip()
    return "|" in line and _DELIMITER.fullmatch(line) is not None


def cell_spans(line: str) -> list[tuple[int, int]]:
    """Return (start, end) of every cell in a row, without surrounding blanks.

    Empty cells have empty spans. Outer bars are optional.

    >>> cell_spans("| 甲 |  | 乙 |")
    [(2, 3), (6, 6), (9, 10)]
    """
    bars = [bar.start() for bar in _BAR.finditer(line)]
    if not bars or line[: bars[0]].strip():
        bars.insert(0, -1)
    if line[bars[-1] + 1 :].strip() or len(bars) == 1:
        bars.append(len(line))
    spans = []
    for before, after in pairwise(bars):
        inner = line[before + 1 : after]
        start = before + 1 + len(inner) - len(inner.lstrip())
        bare = inner.strip()
        # An empty cell stands behind the blank that follows its bar.
        start = start if bare else min(before + 2, after)
        spans.append((start, start + len(bare)))
    return spans


def cells_of(line: str) -> list[str]:
    r"""Return the unescaped cells of a row.

    >>> cells_of(r"|  | 甲\|乙 |")
    ['', '甲|乙']
    """
    return [line[a:b].replace("\\|", "|") for a, b in cell_spans(line)]


def named_cells(header: str, row: str) -> str:
    """Return a row with the names of its columns, a unit of theirs behind a bare number.

    >>> named_cells("| 行业 | 企业（家） | 时限 | 备注 |", "| 水泥 | 41 | 2027年底 |  |")
    '行业：水泥；企业：41家；时限：2027年底'
    """
    names, cells = cells_of(header), cells_of(row)
    if len(names) != len(cells):
        return row
    told = []
    for name, cell in zip(names, cells, strict=True):
        unit = _UNIT.search(name) if _NUMBER.fullmatch(cell) else None
        name, cell = (name[: unit.start()], f"{cell}{unit[1]}") if unit else (name, cell)
        told.append(f"{name}：{cell}" if name and cell != name else cell)
    return "；".join(filter(None, (one for one, cell in zip(told, cells, strict=True) if cell)))


def columns_above(text: str, start: int, end: int) -> str:
    """Return the header of the table that `text[start:end]` is one row of; "" for other texts."""
    row = text[start:end]
    return header_before(text, start) if is_row(row) and "\n" not in row.strip() else ""


def header_before(text: str, at: int) -> str:
    r"""Return the header row of the table whose body contains an offset, else an empty string.

    >>> header_before("| 指标 | 2025年 |\n| --- | --- |\n| 产值 | 5 |\n", 32)
    '| 指标 | 2025年 |'
    """
    for start, end, header in bodies(text):
        if start <= at < end:
            return header
    return ""


@lru_cache(maxsize=8)
def bodies(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return (start, end, header) of the rows of each table below its header, in a text.

    The header is empty where it is too long to be repeated.
    """
    found: list[tuple[int, int, str]] = []
    if "---" not in text:
        return ()
    before, start, header = "", -1, ""
    end = 0
    for line in _LINE.finditer(text):
        if not is_row(line[0]):
            if start >= 0 and end > start:
                found.append((start, end, header))
            before, start = "", -1
        elif start < 0 and before and is_delimiter(line[0]):
            start = end = line.end() + 1
            header = before if len(before) <= _LONGEST else ""
        else:
            before, end = row_line(cells_of(line[0])), line.end()
    if start >= 0 and end > start:
        found.append((start, end, header))
    return tuple(found)
