"""Rows of indicator tables that lost their cells, on one line or with the name around them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgrag.ingestion.statements.target_grammar import ends
from kgrag.ingestion.statements.target_tables import (
    ATTRIBUTE,
    NOTHING,
    NUMBER,
    Cell,
    Columns,
    Heads,
    Line,
    cell_value,
)
from kgrag.ingestion.statements.target_values import values

_STATUS = re.compile(
    rf"(?<=性)(?:已?完成(?!情)|未完成|不?达标|否|是)(?=[\s\d\[(一-鿿]|$)|是(?={ATTRIBUTE})"
)
"""Whether an aim was met, beside 约束性."""
_MET = re.compile(r"未?完成|不?达标|达到预期")
_CELL = rf"(?>{NUMBER}|{NOTHING})"  # what is one cell is not split into two
_CELLS = rf"{_CELL}(?:[ \t]*+{_CELL})*+"
_TOKEN = re.compile(_CELL)
_PLAIN = (
    r"%|‰|(?:[百万亿]{0,2}(?:吨|立方米|千瓦时|千瓦|亩|公顷|公里|千米|平方公里|平方米|元|人|个|家|辆|座|处|项|株|户|天)(?:标准煤|标煤)?)"
    r"|mg/[lL]|[uμµ]g/m[3³]?|万?(?:hm2|km2?|m2/km|m2)"
)
_NO = r"(?:\((?:\d{1,2}|[一二三四五六七八九十]+)\)|\d{1,2}[.、]?(?!\d))"
_NAME = rf"(?!{ATTRIBUTE}|以[上下]|左右)[一-鿿A-Z“\"](?:(?!{ATTRIBUTE})[^\n%|。;]){{1,48}}?"
_UNIT = (
    r"(?:\((?P<unit>[^()\n]{1,14})\)"
    r"|[ \t]*(?P<own>(?=[≥≤<>]?\d+(?:\.\d+)?%))"
    rf"|[ \t]*(?=(?:{ATTRIBUTE})\d{{1,2}}[ \t]+(?P<late>{_PLAIN})[ \t])"
    r"|[ \t]*(?P<rate>(?:(?<=率)|(?<=比例)|(?<=比重)|(?<=占比))(?=[-—–/≥≤<>\[\d]))"
    rf"|[ \t]*(?P<plain>{_PLAIN})(?=[ \t]*[-—–/≥≤<>\[\d约预引指导参]))"
)
_PART = rf"(?<=\))(?!{ATTRIBUTE}|[其和及])[一-鿿][一-鿿()]{{1,13}}"
"""Of whom a row is, where several share a name: 达标率(%)县城95 96."""
_ROW = re.compile(
    rf"(?P<part>[一-鿿][一-鿿()]{{1,13}}?)[ \t]*+(?P<cells>{_CELLS})[ \t]*+(?P<last>{ATTRIBUTE})"
)
_ROW = re.compile(
    rf"(?:(?<=性)|(?<=预期)(?!性)|^)[ \t]*+(?P<no>{_NO})?[ \t]*+(?P<name>{_NAME})[*#△]*+[ \t]*+"
    rf"{_UNIT}[*#△]*+[ \t]*+(?P<part>{_PART})??"
    rf"(?P<first>{ATTRIBUTE})?[ \t]*+(?:\d{{1,2}}[ \t]++(?P=late)[ \t]++)?"
    rf"(?P<cells>{_CELLS})[ \t]*+(?P<last>{ATTRIBUTE})?"
)
_NAME_ALONE = re.compile(
    rf"[ \t]*+(?P<no>{_NO})?[ \t]*+(?P<name>{_NAME})[*#△]*+[ \t]*+"
    r"(?:\((?P<unit>[^()\n]{1,14})\))?[*#△]*+"
    rf"[ \t]*+(?P<first>{ATTRIBUTE})?"
)
_VALUES = re.compile(
    rf"(?:[一-鿿]{{1,4}}(?=\d{{1,2}}[ \t]))?"
    rf"(?:(?:(?P<no>\d{{1,2}})[.、]?[ \t]*+)?(?P<first>{ATTRIBUTE})[ \t]*+"
    rf"(?:\d{{1,2}}[ \t]++(?P<own>{_PLAIN})[ \t]++)?(?P<cells>{_CELLS})"
    rf"|(?:\d{{1,2}}(?:[ \t]++|(?=[-—])))?(?P<unit>{_PLAIN})?[ \t]*+"
    rf"(?P<more>{_CELLS})[ \t]*+(?P<last>{ATTRIBUTE})(?P<tail>[^\d|。;]{{1,24}})?)"
)
_ONLY_CELLS = re.compile(rf"{_CELL}(?:[ \t]++{_CELL})*+")
_OPENS_NAME = re.compile(rf"(?:{_NO}[ \t]*)?(?P<name>[一-鿿][^。；;,%|—]{{3,36}})")
_ENDS_NAME = re.compile(
    r"(?P<name>[^。；;,%|\d()]*+(?:\([A-Za-z\d.,]{2,8}\)[^。；;,%|\d()]*+)?)(?:\((?P<unit>[^()]{1,14})\))?"
)
_BINDING = re.compile(ATTRIBUTE)
_FRAGMENT = {-1: re.compile(r"[一-鿿]{1,3}"), 1: re.compile(r"[一-鿿]")}
_SPLIT_UNIT = re.compile(r"(?P<name>[^。；;,%|\d()]{4,40})\((?P<unit>[^()]{1,8})\)")
_UNIT_LIKE = re.compile(rf"(?:{_PLAIN}|[万亿]?[一-鿿μµugmk%‰/\d每³²]{{1,8}})$")
_SINGLE = re.compile(
    rf"(?<![\d.])(?P<no>\d{{1,2}})[.、 ]?(?P<name>[一-鿿][^\n≥≤<>|]{{2,40}}?)"
    rf"[ \t]*+(?:\((?P<unit>[^()\n]{{1,14}})\)|(?P<plain>{_PLAIN}))?[ \t]*+(?P<cell>{NUMBER})"
    r"(?=[一-鿿]{0,3}$|[ \t]+\d{1,2}(?!约束|预期|引导|指导|左右|以[上内下])[一-鿿])"
)
_ENDS_ROW = re.compile(rf"[性\d\])%]$|(?:{ATTRIBUTE})\d?[^\d\s]{{0,4}}$|^.{{1,4}}$")
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
    lines = [_without_status(line) for line in lines]
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
            rows = list(_of_wrapped(lines, i, columns))
        if not rows and len(columns.years) == 1:
            rows, last = _of_one_column(line, at, columns.years[0], last, lines[i + 1 : i + 2])
        if rows:
            heads.note_row()
        is_whole = at > 0 or _ENDS_ROW.search(line.text) is not None
        found += rows
    return found


def _without_status(line: Line) -> Line:
    """Return a line with blanks where it says whether an aim was met: 约束性完成."""
    if "性" not in line.text:
        return line
    return replace(line, text=_STATUS.sub(lambda said: " " * len(said[0]), line.text))


def _of_line(line: Line, at: int, columns: Columns, *, is_first: bool) -> Iterator[Cell]:
    """Yield the cells of the rows that stand whole on a line: 森林覆盖率（%）42 42.5约束性."""
    for match in _ROW.finditer(line.text, at):
        binding = match["first"] or match["last"] or ""
        if is_first and not match["no"] and not _OF_GROUP.match(match["name"]):
            continue
        if not binding and not _stands_alone(line, match, columns):
            continue
        cells = _TOKEN.findall(match["cells"])
        is_numbered = len(cells) == len(columns.years) + 1 and re.fullmatch(r"\d\d?", cells[0])
        if match["plain"] and match["first"] and not match["no"] and not is_numbered:
            continue  # the values are as often those of the next row
        is_first = False
        if match["first"] and len(cells) == len(columns.years) + columns.n_more + 1:
            cells = cells[1:] if cells[0].isdigit() and not match["no"] else cells
        unit = match["unit"] or match["plain"] or match["late"] or ""
        unit = "%" if match["rate"] is not None else unit
        span = (line.start + match.start(), line.start + match.end())
        name = match["name"] + (match["part"] or "")
        yield from _row(name, unit, cells, columns, binding, span)


def _stands_alone(line: Line, match: re.Match[str], columns: Columns) -> bool:
    """Return whether a row without 约束性 has its unit and all cells: 用水量（亿吨）5.1 6.2."""
    cells = _TOKEN.findall(match["cells"])
    n, is_told = len(columns.years), sum(map(bool, map(_HOLDS_NUMBER.search, cells)))
    ends = match.end() == len(line.text) or not _HOLDS_NUMBER.search(cells[-1])
    one = values(f" 1{match['unit']}") if match["unit"] else []
    is_unit = bool(one and one[0].unit and one[0].end == len(match["unit"]) + 2)
    if match["own"] is not None:  # 14.5% 15% behind a numbered name
        is_unit = bool(match["no"]) and all(cell.endswith("%") for cell in cells[:n])
    if match["plain"] and match["no"]:  # 4.削减比例 % 22 25.9完成
        is_unit = len(cells) == n + 1 and _MET.match(cells[n]) is not None
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
    if len(cells) > n and columns.has_sum and not _HOLDS_NUMBER.search(cells[n - 1]):
        cells = [*cells[: n - 1], cells[n]]  # a sum of five years, due in the last of them
    for cell, year, standing in zip(cells, columns.years, columns.standings, strict=False):
        value = cell_value(cell, unit)
        if value:
            yield Cell(name, *value, year, standing, binding, *span)


def _of_wrapped(lines: Sequence[Line], i: int, columns: Columns) -> Iterator[Cell]:
    """Yield the cells of a line whose name the lines around it hold."""
    line, before, behind = lines[i], _beside(lines, i, -1), _beside(lines, i, 1)
    match = _VALUES.fullmatch(line.text)
    if not match:
        if before:
            yield from _below(before, line, columns)
        return
    cells = _TOKEN.findall(match["cells"] or match["more"])
    unit = match["unit"] or match["own"] or ""
    named = _named(before, match["tail"] or "", behind, unit)
    if named:
        name, unit, start, end = named
        binding = match["first"] or match["last"]
        yield from _row(name, unit, cells, columns, binding, (start, max(end, line.end)))


def _beside(lines: Sequence[Line], i: int, step: int) -> Line | None:
    """Return the next line above (-1) or below (1) that is no piece of a group's name."""
    for j in (i + step, i + 2 * step):
        is_piece = 0 <= j < len(lines) and _FRAGMENT[step].fullmatch(lines[j].text)
        if 0 <= j < len(lines) and not is_piece:
            return lines[j]
    return None


def _named(
    before: Line | None, tail: str, behind: Line | None, unit: str
) -> tuple[str, str, int, int] | None:
    """Return (name, unit, start, end) of a row whose values stand between them; None for none.

    Args:
        before: The line above, behind whose last row the name may begin.
        tail: What stands behind the values on their line.
        behind: The line below; read where there is no tail.
        unit: As the values' line tells it; empty.
    """
    if before is None:
        return None
    at = max((found.end() for found in _BINDING.finditer(before.text)), default=0)
    opening = _OPENS_NAME.fullmatch(before.text, at)
    if not opening:
        return None
    name, end = opening["name"], before.end
    start = before.start + at
    if not tail and behind:
        if len(behind.text) > len(before.text) - at + 8:
            return None
        end = behind.end
    rest = tail or (behind.text if behind else "")
    split = _SPLIT_UNIT.fullmatch(name + rest)  # 产值(亿 元)
    if "(" in name and split and _UNIT_LIKE.match(split["unit"]):
        return split["name"], split["unit"], start, end
    ending = _ENDS_NAME.fullmatch(rest)
    if not ending or (ending["unit"] is None and not ends(name + rest, "heads")):
        return None
    return name + ending["name"], ending["unit"] or unit, start, end


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
        if value and (value[1].unit or ends(match["name"], "unitless")):
            last = number
            start = line.start + match.start("name")
            found.append(Cell(match["name"], *value, year, "", "", start, end))
    return found, last
