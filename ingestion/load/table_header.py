"""How many of a table's first rows are its header, where its format does not say."""

import re
from collections.abc import Sequence

from kgrag.text.vocabulary import FIVE_YEAR_PLAN

_MOST_ROWS = 5
_LONGEST_LABEL = 30  # characters
_NO_VALUE = re.compile(  # digits that a label may hold
    r"(?:19|20)\d\d[年]?(?:[-—–~至]+(?:(?:19|20)\d\d|\d\d)年?)?|\d{1,2}[月日]|第?[1-4]季度?"
    rf"|[（(][^（）()]*[)）]|[“\"]?{FIVE_YEAR_PLAN}[”\"]?|[①-⑳]|(?:km|m|hm|dm|cm)[23]|CO2"
)
_YEAR = re.compile(r"(?:19|20)\d\d\s*年?(?:[（(].{1,8}[)）]|.{0,6})")
_UNIT = re.compile(r"[（(][^（）()]{1,12}[)）]")


def guess_header(
    rows: Sequence[Sequence[str]], cells: Sequence[Sequence[int]], *, at_least: int = 1
) -> int:
    """Return how many rows from the top are header: the first, and more only on evidence.

    A row counts as header if it holds no values and cells of the row above reach into it or are
    parted by it, or if it holds nothing but years or units below labels. At least one row is left
    for the body.

    Args:
        rows: Texts, equally many in each row.
        cells: For each text the number of its cell; slots of one cell have the same number.
        at_least: What is known of it.

    >>> guess_header([["指标", "目标"], ["", "2025年"], ["产值", "5"]], [[0, 1], [2, 3], [4, 5]])
    2
    """
    n = max(at_least, 1)
    while n < min(len(rows) - 1, _MOST_ROWS) and _goes_on(rows, cells, n):
        n += 1
    return n


def _goes_on(rows: Sequence[Sequence[str]], cells: Sequence[Sequence[int]], n: int) -> bool:
    """Return whether row `n` belongs to the header that the rows before it begin."""
    row, own, above = rows[n], cells[n], cells[n - 1]
    new = [j for j, cell in enumerate(own) if row[j] and cell != above[j]]
    opens_row = 0 in new and not (len(row) > 1 and above[0] == above[1] >= 0)
    if not new or opens_row or any(_is_value(row[j]) for j in new):
        return False
    parts_a_label = any(
        above[j] == above[j - 1] >= 0 and own[j] != own[j - 1] and j in new and j - 1 in new
        for j in range(1, len(row))
    )
    texts = [row[j] for j in new]
    return parts_a_label or any(
        all(kind.fullmatch(text) for text in texts) for kind in (_YEAR, _UNIT)
    )


def _is_value(text: str) -> bool:
    return len(text) > _LONGEST_LABEL or any(c.isdigit() for c in _NO_VALUE.sub("", text))
