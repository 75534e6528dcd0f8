"""Indicator tables: rows of cells, and cells one a line.

A table is read only where its header names the columns and a row fits it; all else is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kgrag.ingestion.rules.prose import legible
from kgrag.ingestion.rules.target_heads import YEAR
from kgrag.ingestion.rules.target_values import UNIT_NAMES, Value, values
from kgrag.language.plan_periods import plan_years
from kgrag.language.quantities import narrow
from kgrag.language.table_rows import cells_of, holds_row, is_delimiter
from kgrag.qualifiers import Standing
from kgrag.text.vocabulary import FIVE_YEAR_PLAN

_LINE = re.compile(r"[^\r\n]+")
_BINDING = re.compile(r"(?:约束|预期|引导|指导|导向|引领|参考)性?")
_NAME_HEAD = re.compile(
    r"(?:主要|具体|核心|评价|考核)?(?:指标|名称|指标名称|项目|内容|指标内容|目标名称)(?:\(.{1,6}\))?"
)
_HEAD = re.compile(
    r"序号?|编号|类别|分类|领域|(?:主要|具体)?指标(?:名称|内容|属性|性质|类型)?(?:\(.{1,6}\))?|名称|属性|性质|类型|(?:计量)?单位|备注"
    r"|(?:19|20)\d\d年?(?:\(.{1,6}\)|现状值?|目标值?|完成值?|实际值?|底|末)?|(?:目标|现状|完成|基期|规划)值|责任部门|牵头部门"
)
NUMBER = (
    r"(?:[\[〔](?:-(?=\d))?)?(?:(?:≥|≤|>|<|>=|<=|≧|≦|﹥|﹤|约)[ \t]?)?\d++(?:\.\d+)?+"
    r"(?![\d.]{0,20}吨)%?"
    r"(?:左右|以上|以内|以下)?[\]〕]?(?:[①-⑳*]|[a-e](?![a-zA-Z])|(?<=[\]〕])\d\))?(?:\([^()\d]{1,12}\))?"
)
NOTHING = (
    r"(?:[-—–/√]{1,2}|\d++(?:\.\d+)?+吨|(?:好于|未达|达到|优于|提前|超额)(?:预期(?!性)|完成)|(?:完成|达到|达|保持|稳中|持续|基本|不降低|不低于|不断|稳定|巩固|稳步|逐步|有所|明显|进一步"
    r"|全部|待|从无)(?:(?!(?:指导|导向|参考)性)[^\d\s()%约预引]){0,14}|未[一-鿿]{1,3}(?![一-鿿])|以[^\d\s()%约预引]{2,12}为准)"
)
_SIGNS = str.maketrans("≧≦﹥﹤", "≥≤><")
_NOTES = re.compile(r"\([^()]*\)|(?<=[\]〕])\d\)|(?<=\d)[a-e]$|[\[\]〔〕①-⑳*\s]")
_CELL_NUMBER = re.compile(rf"{NUMBER}$")
ATTRIBUTE = r"约束性|预期性|引导性|指导性|导向性|引领性|参考性"
_TOKEN = re.compile(rf"{NUMBER}|{NOTHING}")
_UNIT_IN_NAME = re.compile(r"\(([^()]{1,14})\)\s*$")
_MOST_COLUMNS = 10
_LONGEST_HEAD, _LONGEST_CAPTION = 24, 40  # characters
_CAPTION_LINES = 3
_PLAN = re.compile(rf"[“\"]?({FIVE_YEAR_PLAN})[”\"]?")
_PLAN_AIM = re.compile(rf"[“\"]?({FIVE_YEAR_PLAN})[”\"]?(?:时期|期间|期?末)?(?:规划)?目标")
_UNIT_ABOVE = re.compile(r"单位:\s*([^\s,，;；、()]{1,8})\)?$")
_AIM_ALONE = re.compile(r"(?:规划|预期)?目标值?|规划值")
# Of several years together, which no column of a year is.
_OVER_YEARS = re.compile(
    r"(?:19|20)\d\d年?[-—–~至到]+(?:19|20)?\d\d|年均|增速|增长率|增幅|[较比]\d{4}"
)
_PART_NAME = re.compile(
    r"(?:其中)?:?(?:总量|总数|总额|数量|规模|面积|占比|比重|比例|增速|增长率?|年均增长|城镇|农村|乡村|城市)"
)
_NO = re.compile(r"^(?:\d{1,2}|[一二三四五六七八九十]+)[.、]?(?=[^\d])")
_DONE = re.compile(r"现状|实际|完成|基期|基数|现值")
_AIM = re.compile(r"目标|规划|预期")


@dataclass(frozen=True, slots=True)
class Cell:
    """The value of an indicator in a table.

    Attributes:
        indicator: As worded, without its unit.
        text: The cell, with the unit of its row.
        value: The number.
        year: Of its column.
        standing: As the header says; empty where it does not.
        binding: 约束性, 预期性; empty.
        start: First character of the row in the document.
        end: Offset after the row.
    """

    indicator: str
    text: str
    value: Value
    year: str
    standing: Standing
    binding: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a document without the blanks around it, and where it stands."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Header:
    """Which column holds what; -1 for none."""

    name: int
    unit: int
    binding: int
    years: tuple[tuple[int, str, Standing], ...]
    n: int
    for_all: str = ""  # the unit that a line above the table names


def table_cells(lines: Sequence[Line]) -> list[Cell]:
    """Return the values that the indicator tables of a text state, in order.

    Args:
        lines: Of the document, from `lines_of`.
    """
    found = [*_of_cells(lines), *_of_single_cells(lines)]
    return sorted(found, key=lambda cell: (cell.start, cell.end))


def lines_of(text: str) -> list[Line]:
    """Return the lines of a text that are not blank, narrowed, with the marks its font lost."""
    return [
        Line(m.start() + len(m[0]) - len(m[0].lstrip()), m.end(), m[0].strip())
        for m in _LINE.finditer(legible(text))
        if m[0].strip()
    ]


def _of_cells(lines: Sequence[Line]) -> Iterator[Cell]:
    """Yield from tables whose cells the loader marked."""
    header: _Header | None = None
    caption: list[str] = []
    for line in lines:
        if not holds_row(line.text):
            header = None
            caption = [*caption[1 - _CAPTION_LINES :], line.text]
            continue
        cells = cells_of(line.text)
        heading = _header(cells, _told_above(caption))
        if heading:
            header = heading
        elif header and len(cells) == header.n and not is_delimiter(line.text):
            yield from _row(header, cells, line.start, line.end)


def _told_above(lines: Sequence[str]) -> tuple[str, str]:
    """Return the year in which a caption's plan ends, and the unit that holds for all columns.

    >>> _told_above(["表1 “十四五”主要指标", "单位:亿元"])
    ('2025', '亿元')
    """
    year = unit = ""
    for line in lines:
        if len(line) > _LONGEST_CAPTION:
            year = unit = ""
            continue
        plan, named = _PLAN.search(line), _UNIT_ABOVE.search(line)
        year = str(plan_years(plan[1])[1]) if plan and "指标" in line else year
        unit = named[1] if named else unit
    return year, unit


def _of_single_cells(lines: Sequence[Line]) -> Iterator[Cell]:
    """Yield from tables whose cells stand one a line."""
    i = 0
    while i < len(lines):
        j = i
        while j < len(lines) and j - i < _MOST_COLUMNS and _HEAD.fullmatch(lines[j].text):
            j += 1
        header = _header([line.text for line in lines[i:j]]) if j - i > 2 else None
        if header is None:
            i = max(i + 1, j - 1) if j - i < _MOST_COLUMNS else i + 1
            continue
        while j + header.n <= len(lines):
            row = lines[j : j + header.n]
            cells = list(_row(header, [line.text for line in row], row[0].start, row[-1].end))
            if not cells or not _fits(header, [line.text for line in row]):
                break
            yield from cells
            j += header.n
        i = j


def _header(cells: Sequence[str], above: tuple[str, str] = ("", "")) -> _Header | None:
    """Return which column holds what; None for a row that is no header.

    Args:
        cells: Of the row.
        above: As `_told_above` gives it: of a column that names no year, and no unit.
    """
    name = unit = binding = -1
    years: list[tuple[int, str, Standing]] = []
    for i, cell in enumerate(cells):
        bare = "".join(cell.split())
        year = YEAR.search(_PLAN_AIM.sub(lambda plan: f"{plan_years(plan[1])[1]}年目标", bare))
        if len(bare) <= _LONGEST_HEAD and year and not _OVER_YEARS.search(bare):
            years.append((i, year[1], _standing(bare)))
        elif _NAME_HEAD.fullmatch(bare) and (name < 0 or bare == "".join(cells[i - 1].split())):
            name = i  # of a label over two columns the inner one
        elif bare in ("单位", "计量单位"):
            unit = i
        elif bare.endswith(("属性", "性质", "类型")) and len(bare) <= 6:
            binding = i
        elif above[0] and _AIM_ALONE.fullmatch(bare):
            years.append((i, above[0], "planned"))
    if name < 0 or not years:
        return None
    return _Header(name, unit, binding, tuple(years), len(cells), above[1])


def _standing(head: str) -> Standing:
    if _AIM.search(head):
        return "planned"
    return "achieved" if _DONE.search(head) else ""


def _row(header: _Header, cells: Sequence[str], start: int, end: int) -> Iterator[Cell]:
    name = _name(header, cells)
    unit = cells[header.unit] if header.unit >= 0 else ""
    inside = _UNIT_IN_NAME.search(name)
    if inside and not unit:
        unit = inside[1]
        name = name[: inside.start()]
    name = _NO.sub("", name).strip(":*#△")
    if len(name) < 2 or not re.search(r"[一-鿿]{2}", name) or len(name) > 60:
        return
    binding = cells[header.binding] if header.binding >= 0 else ""
    unit = unit or header.for_all
    for i, year, standing in header.years:
        value = cell_value("".join(cells[i].split()), unit)
        if value:
            yield Cell(name, *value, year, standing, _binding(binding), start, end)


def _name(header: _Header, cells: Sequence[str]) -> str:
    """Return the name of a row, that of the cell before it ahead of what is a part: 城镇."""
    name = "".join(cells[header.name].split())
    before = "".join(cells[header.name - 1].split()) if header.name else ""
    if _PART_NAME.fullmatch(name) and len(before) > 3 and before != name:
        return _NO.sub("", before) + name.removeprefix("其中").removeprefix(":")
    return name.removeprefix("其中:")


def _binding(cell: str) -> str:
    match = _BINDING.match(cell)
    return match[0][:2] + "性" if match else ""


def _fits(header: _Header, cells: Sequence[str]) -> bool:
    """Return whether the cells of a row are what their columns hold."""
    for i, _, _ in header.years:
        if not _TOKEN.fullmatch("".join(cells[i].split())):
            return False
    if header.binding >= 0 and not _BINDING.match(cells[header.binding]):
        return False
    return not re.search(r"\d{2}", cells[header.name][:2])


def cell_value(cell: str, unit: str) -> tuple[str, Value] | None:
    """Return (text with unit, value) of a cell; None where it holds no number."""
    bare = _NOTES.sub("", cell.translate(_SIGNS)).removeprefix("-")
    if not _CELL_NUMBER.match(bare):
        return None
    unit = "" if unit in ("-", "—", "/") else unit.strip().replace("/每", "/")
    after = re.search(r"(?:左右|以上|以内|以下)$", bare)
    number = bare[: after.start()] if after else bare
    text = number + ("" if number.endswith("%") else unit) + (after[0] if after else "")
    found = values(f" {narrow(text)}")
    if unit in UNIT_NAMES and len(found) != 1:  # 50hm2
        name, scale = UNIT_NAMES[unit]
        found = [
            replace(each, unit=name, number=each.number * scale)
            for each in values(f" {narrow(number)}")
        ]
    if len(found) != 1:
        return None
    value = found[0]
    return text, value if value.unit or number.endswith("%") else replace(value, unit=unit)
