"""Rows of indicator tables that lost their cells, on one line or with the name around them."""

import re
from collections.abc import Iterator, Sequence

from kgrag.ingestion.rules import target_patterns as p
from kgrag.ingestion.rules.target_heads import Columns, Heads
from kgrag.ingestion.rules.target_tables import (
    ATTRIBUTE,
    NOTHING,
    NUMBER,
    Cell,
    Line,
    cell_value,
)
from kgrag.ingestion.rules.target_values import values

_CELL = rf"(?:{NUMBER}|{NOTHING})"
_CELLS = rf"{_CELL}(?:[ \t]*{_CELL})*"
_TOKEN = re.compile(_CELL)
_PLAIN = (
    r"%|‰|(?:[百万亿]{0,2}(?:吨|立方米|千瓦时|千瓦|亩|公顷|公里|千米|平方公里|平方米|元|人|个|家|辆|座|处|项|株|户|天)(?:标准煤|标煤)?)"
    r"|mg/[lL]|[uμµ]g/m[3³]?|万?(?:hm2|km2?|m2/km|m2)"
)
_NO = r"(?:\((?:\d{1,2}|[一二三四五六七八九十]+)\)|\d{1,2}[.、]?(?!\d))"
_NAME = rf"(?!{ATTRIBUTE}|以[上下]|左右)[一-鿿A-Z“\"](?:(?!{ATTRIBUTE})[^\n%|。;]){{1,48}}?"
_UNIT = (
    r"(?:\((?P<unit>[^()\n]{1,14})\)"
    rf"|[ \t]*(?P<own>(?=[≥≤<>]?\d+(?:\.\d+)?%))"
    rf"|[ \t]*(?P<plain>{_PLAIN})(?=[ \t]*[-—–/≥≤<>\[\d约预引指导参]))"
)
_ROW = re.compile(
    rf"(?:(?<=性)|(?<=预期)(?!性)|^)[ \t]*(?P<no>{_NO})?[ \t]*(?P<name>{_NAME})[*#△]*[ \t]*"
    rf"{_UNIT}[*#△]*[ \t]*"
    rf"(?P<first>{ATTRIBUTE})?[ \t]*(?P<cells>{_CELLS})[ \t]*(?P<last>{ATTRIBUTE})?"
)
_NAME_ALONE = re.compile(
    rf"[ \t]*(?P<no>{_NO})?[ \t]*(?P<name>{_NAME})[*#△]*[ \t]*"
    r"(?:\((?P<unit>[^()\n]{1,14})\))?[*#△]*"
    rf"[ \t]*(?P<first>{ATTRIBUTE})?"
)
_VALUES = re.compile(
    rf"(?:(?P<no>\d{{1,2}})[.、]?[ \t]*)?(?P<first>{ATTRIBUTE})[ \t]*"
    rf"(?:\d{{1,2}}[ \t]+(?P<own>{_PLAIN})[ \t]+)?(?P<cells>{_CELLS})"
    rf"|(?:\d{{1,2}}(?:[ \t]+|(?=[-—])))?(?P<unit>{_PLAIN})?[ \t]*"
    rf"(?P<more>{_CELLS})[ \t]*(?P<last>{ATTRIBUTE})(?P<tail>[^\d|。;]{{1,24}})?"
)
_ONLY_CELLS = re.compile(rf"{_CELL}(?:[ \t]+{_CELL})*")
_OPENS_NAME = re.compile(rf"(?:{_NO}[ \t]*)?(?P<name>[一-鿿][^。；;,%|—]{{3,36}})")
_ENDS_NAME = re.compile(
    r"(?P<name>[^。；;,%|\d()]*(?:\([A-Za-z\d.,]{2,8}\))?[^。；;,%|\d()]*)(?:\((?P<unit>[^()]{1,14})\))?"
)
_HAS_UNIT = re.compile(r"\((?P<unit>[^()]{1,14})\)[*#△]*$")
_UNIT_LIKE = re.compile(rf"(?:{_PLAIN}|[万亿]?[一-鿿μµugmk%‰/\d每³²]{{1,8}})$")
_SINGLE = re.compile(
    rf"(?<![\d.])(?P<no>\d{{1,2}})[.、 ]?(?P<name>[一-鿿][^\n≥≤<>|]{{2,40}}?)"
    rf"[ \t]*(?:\((?P<unit>[^()\n]{{1,14}})\)|(?P<plain>{_PLAIN}))?[ \t]*(?P<cell>{NUMBER})"
    r"(?=$|[ \t]+\d{1,2}(?!约束|预期|引导|指导|左右|以[上内下])[一-鿿])"
)
_ENDS_ROW = re.compile(r"[性\d\])%]$|^.{1,4}$")
_OF_GROUP = re.compile(r"^[^()]{1,8}(?<!第)(?<!前)\d{1,2}(?=[一-鿿]{3})")
_NO_NAME = re.compile(r"\d$|\([^()]{1,14}\).*[一-鿿]|[。；;]")  # has the values of another column
_HOLDS_NUMBER = re.compile(r"\d")
_SIGNED = re.compile(r"[≥≤<>]")
_UNIT_LINE = re.compile(r"[一-鿿%]{1,3}")
_SKIPPED = 6  # rows between two that are read


def row_cells(lines: Sequence[Line]) -> list[Cell]:
    """Return what the rows of indicator tables that lost their cells state, in order.

    Read below a header that names the years: rows with as many values as it has columns and
    约束性 or 预期性 beside them, the name on their line or on those around it; and below a
    header of one year the rows whose numbers go up.

    Args:
        lines: Of the document, from `lines_of`.
    """
    found: list[Cell] = []
    heads = Heads()
    last = 0
    is_whole = True  # whether the line before ended a row
    for i, line in enumerate(lines):
        before = heads.columns
        at = heads.step(line.text)
        columns = heads.columns
        if columns is not before:
            last, is_whole = 0, True
        if columns is None or at == len(line.text):
            continue
        rows = list(_of_line(line, at, columns, is_first=not is_whole))
        if not rows and not at:
            rows = list(_of_wrapped(lines[max(0, i - 1) : i + 2], columns)) if i else []
        if not rows and len(columns.years) == 1:
            rows, last = _of_one_column(line, at, columns.years[0], last, lines[i + 1 : i + 2])
        if rows:
            heads.note_row()
        is_whole = at > 0 or _ENDS_ROW.search(line.text) is not None
        found += rows
    return found


def _of_line(line: Line, at: int, columns: Columns, *, is_first: bool) -> Iterator[Cell]:
    """Yield the cells of the rows that stand whole on a line: 森林覆盖率（%）42 42.5约束性."""
    for match in _ROW.finditer(line.text, at):
        binding = match["first"] or match["last"] or ""
        if is_first and not match["no"] and not _OF_GROUP.match(match["name"]):
            continue
        if not binding and not _stands_alone(line, match, columns):
            continue
        if match["plain"] and match["first"] and not match["no"]:
            continue  # the values are as often those of the next row
        is_first = False
        cells = _TOKEN.findall(match["cells"])
        if match["first"] and len(cells) == len(columns.years) + columns.n_more + 1:
            cells = cells[1:] if cells[0].isdigit() and not match["no"] else cells
        unit = match["unit"] or match["plain"] or ""
        span = (line.start + match.start(), line.start + match.end())
        yield from _row(match["name"], unit, cells, columns, binding, span)


def _stands_alone(line: Line, match: re.Match[str], columns: Columns) -> bool:
    """Return whether a row without 约束性 has its unit and all cells: 用水量（亿吨）5.1 6.2."""
    cells = _TOKEN.findall(match["cells"])
    n, is_told = len(columns.years), sum(map(bool, map(_HOLDS_NUMBER.search, cells)))
    ends = match.end() == len(line.text) or not _HOLDS_NUMBER.search(cells[-1])
    one = values(f" 1{match['unit']}") if match["unit"] else []
    is_unit = one and one[0].unit and one[0].end == len(match["unit"]) + 2
    if match["own"] is not None:  # 14.5% 15% behind a numbered name
        is_unit = match["no"] and all(cell.endswith("%") for cell in cells[:n])
    return bool(is_unit and ends and n > 1 and is_told >= min(n, 2) and n <= len(cells) <= n + 1)


def _row(
    name: str,
    unit: str,
    cells: Sequence[str],
    columns: Columns,
    binding: str,
    span: tuple[int, int],
) -> Iterator[Cell]:
    """Yield the cells of a row that has as many as its table has columns."""
    n = len(columns.years)
    has_more = len(cells) == n + 1 and not _HOLDS_NUMBER.search(cells[n])
    if len(cells) not in (n, n + columns.n_more) and not has_more:
        return
    name = re.split(ATTRIBUTE, "".join(name.split()))[-1].removeprefix("其中:").strip("*#△")
    name = _OF_GROUP.sub("", name)
    if len(cells) > n and columns.has_sum and not any(map(_HOLDS_NUMBER.search, cells[:n])):
        cells = [*cells[1:n], cells[n]]  # a sum of five years, due in the last of them
    for cell, year, standing in zip(cells, columns.years, columns.standings, strict=False):
        value = cell_value(cell, unit)
        if value:
            yield Cell(name, *value, year, standing, binding, *span)


def _of_wrapped(around: Sequence[Line], columns: Columns) -> Iterator[Cell]:
    """Yield the cells of the middle one of three lines, whose name the others hold."""
    if len(around) < 2:
        return
    before, line = around[0], around[1]
    behind = around[2] if len(around) > 2 else None
    match = _VALUES.fullmatch(line.text)
    if not match:
        yield from _below(before, line, columns)
        return
    opening = _OPENS_NAME.fullmatch(before.text)
    if not opening:
        return
    binding = match["first"] or match["last"]
    cells = _TOKEN.findall(match["cells"] or match["more"])
    name, unit, end = opening["name"], match["unit"] or match["own"] or "", line.end
    whole = _HAS_UNIT.search(name)
    if whole and _UNIT_LIKE.match(whole["unit"]):
        name, unit = name[: whole.start()], whole["unit"]
    else:
        ending = _ENDS_NAME.fullmatch(match["tail"] or (behind.text if behind else ""))
        if not ending:
            return
        if not match["tail"] and behind:
            if len(behind.text) > len(before.text) + 8:
                return
            end = behind.end
        name += ending["name"]
        unit = ending["unit"] or unit
        if ending["unit"] is None and not p.INDICATOR_END.search(name):
            return
    yield from _row(name, unit, cells, columns, binding, (before.start, end))


def _below(before: Line, line: Line, columns: Columns) -> Iterator[Cell]:
    """Yield the cells of a line that holds nothing else, below 森林覆盖率（%）约束性."""
    match = _NAME_ALONE.fullmatch(before.text)
    if match and match["unit"] and match["first"] and _ONLY_CELLS.fullmatch(line.text):
        cells = _TOKEN.findall(line.text)
        span = (before.start, line.end)
        yield from _row(match["name"], match["unit"], cells, columns, match["first"], span)


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
