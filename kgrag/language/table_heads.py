"""The header of the table that a place in a document's text stands in."""

import re
from functools import lru_cache

from kgrag.language.table_rows import cells_of, is_delimiter, is_row, row_line

_LINE = re.compile(r"[^\r\n]+")
_LONGEST = 600  # characters of a header that is repeated; what is longer would hide the rows


def header_before(text: str, at: int) -> str:
    r"""Return the header row that holds for a place in a table's body, else an empty string.

    Args:
        text: Of the document.
        at: Offset; the first row of the body counts as body, the header and its delimiter do not.

    >>> header_before("| 指标 | 2025年 |\n| --- | --- |\n| 产值 | 5 |\n", 32)
    '| 指标 | 2025年 |'
    """
    for start, end, header in _bodies(text):
        if start <= at < end:
            return header
    return ""


@lru_cache(maxsize=8)
def _bodies(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return (start, end, header) of the body of every table."""
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
