"""Rows of indicator tables that a page broke: names around their values, and a single column."""

import re
from collections.abc import Iterator, Sequence

from kgrag.ingestion.load.parsed import CELL_MARK
from kgrag.ingestion.rules import target_patterns as p
from kgrag.ingestion.rules.target_tables import (
    ATTRIBUTE,
    IDLE_LINES,
    NOTHING,
    NUMBER,
    YEAR,
    Cell,
    Line,
    cell_value,
    head_so_far,
)

_CELL = rf"(?:{NUMBER}|{NOTHING})"
_CELLS = rf"{_CELL}(?:[ \t]+{_CELL})*"
_TOKEN = re.compile(_CELL)
_PLAIN = r"%|(?:[万亿]?(?:吨|立方米|千瓦时|千瓦|亩|公顷|公里|元|平方米|人|个|家|辆)(?:标准煤)?)"
_VALUES = re.compile(
    rf"(?:\d{{1,2}}[ \t]*)?(?P<first>{ATTRIBUTE})[ \t]*(?P<cells>{_CELLS})"
    rf"|(?:\d{{1,2}}[ \t]+)?(?P<unit>{_PLAIN})?[ \t]*(?P<more>{_CELLS})[ \t]*(?P<last>{ATTRIBUTE})"
)
_OPENS_NAME = re.compile(r"[一-鿿][^。；;,%|]{3,29}")
_ENDS_NAME = re.compile(
    r"(?P<name>[^。；;,%|\d]*(?:\([A-Za-z\d.,]{2,8}\))?[^。；;,%|\d()]*)(?:\((?P<unit>[^()]{1,14})\))?"
)
_HAS_UNIT = re.compile(r"\([^()]{1,14}\)$")
_SINGLE = re.compile(
    rf"(?<![\d.])(?P<no>\d{{1,2}})[.、 ]?(?P<name>[一-鿿][^\n≥≤<>|]{{2,40}}?)"
    rf"[ \t]*(?:\((?P<unit>[^()\n]{{1,14}})\)|(?P<plain>{_PLAIN}))?[ \t]*(?P<cell>{NUMBER})"
    r"(?=$|[ \t]+\d{1,2}(?!约束|预期|引导|指导|左右|以[上内下])[一-鿿])"
)
_NO_NAME = re.compile(r"\d$|\([^()]{1,14}\).*[一-鿿]|[。；;]")  # has the values of another column
_SIGNED = re.compile(r"[≥≤<>]")
_UNIT_LINE = re.compile(r"[一-鿿%]{1,3}")
_SKIPPED = 6  # rows between two that are read


def row_cells(lines: Sequence[Line]) -> list[Cell]:
    """Return what broken rows of indicator tables state, in order.

    Read below a header that names the years: rows of which one line holds nothing but values and
    约束性 or 预期性, and the lines around it the name; and below a header of one year the rows
    whose numbers go up.

    Args:
        lines: Of the document, from `lines_of`.
    """
    found: list[Cell] = []
    columns: list[str] = []
    head, idle, last = "", 0, 0
    for i, line in enumerate(lines):
        head, at = head_so_far(head, line.text)
        years = YEAR.findall(head)
        if years and "指标" in head and len(set(years)) == len(years):
            columns, idle, last = years, 0, 0
        head = head if at == len(line.text) else ""
        if CELL_MARK in line.text or idle > IDLE_LINES:
            columns = []
        if not columns or at == len(line.text):
            continue
        idle += 1
        if len(columns) == 1:
            rows, last = _of_one_column(line, at, columns[0], last, lines[i + 1 : i + 2])
        else:
            rows = list(_of_wrapped(lines[max(0, i - 1) : i + 2], columns)) if i else []
        idle = 0 if rows else idle
        found += rows
    return found


def _of_wrapped(around: Sequence[Line], columns: Sequence[str]) -> Iterator[Cell]:
    """Yield the cells of the middle one of three lines, whose name the others hold."""
    if len(around) != 3:
        return
    before, line, behind = around
    match = _VALUES.fullmatch(line.text)
    opening, ending = _OPENS_NAME.fullmatch(before.text), _ENDS_NAME.fullmatch(behind.text)
    if not match or not opening or not ending or _HAS_UNIT.search(before.text):
        return
    name = before.text + ending["name"]
    cells = _TOKEN.findall(match["cells"] or match["more"])
    is_named = ending["unit"] is not None or p.INDICATOR_END.search(name)
    if len(cells) != len(columns) or not is_named or len(behind.text) > len(before.text) + 8:
        return
    for cell, year in zip(cells, columns, strict=True):
        value = cell_value(cell, ending["unit"] or match["unit"] or "")
        if value:
            binding = match["first"] or match["last"]
            yield Cell(name, *value, year, "", binding, before.start, behind.end)


def _of_one_column(
    line: Line, at: int, year: str, last: int, following: Sequence[Line]
) -> tuple[list[Cell], int]:
    """Return the cells of a line below a header of one year, and the number of its last row."""
    found = []
    for match in _SINGLE.finditer(line.text, at):
        number = int(match["no"])
        unit = match["unit"] or match["plain"] or ""
        end = line.end
        if _NO_NAME.search(match["name"].strip()):
            continue
        if not last < number <= last + _SKIPPED or not (unit or _SIGNED.search(match["cell"])):
            continue
        if not unit and following and _UNIT_LINE.fullmatch(following[0].text):
            unit, end = following[0].text, following[0].end
        value = cell_value(match["cell"], unit)
        if value and (value[1].unit or p.UNITLESS.search(match["name"])):
            last = number
            start = line.start + match.start("name")
            found.append(Cell(match["name"], *value, year, "planned", "", start, end))
    return found, last
