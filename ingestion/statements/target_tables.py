"""Extract values from indicator tables, also where rows lost their cells."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kgrag.ingestion.statements.target_grammar import UNIT_NAMES, Value, ends, values
from kgrag.qualifiers import Standing
from kgrag.text.plan_periods import plan_years
from kgrag.text.quantities import legible, narrow, parted_cells
from kgrag.text.table_rows import cells_of, holds_row, is_delimiter
from kgrag.text.vocabulary import FIVE_YEAR_PLAN

YEAR = re.compile(r"((?:19|20)\d\d)\s*年?")
# Each text is read in one way: what may stand alone (年, 号, 值) is no ending of another word.
_HEADS = re.compile(
    r"(?:序|编号|分类|领域|[一二三]级(?=指标|具体|$)|单(?=\d{4}|[\n ]|$)"
    r"|主要|核心|具体|规划|指标|名称|内容|属|性质?|类型|计[量算]|单位(?!GDP|地区|国内|生产|工业|产品|面积|能耗|建筑|周转|运输|用地|能源)"
    r"|备注|(?:19|20)\d\d"
    rf"|(?:目标|现状|完成|实际|基期|基准)|五年|累|均(?=增)|年均(?!增)|增速|增长率?|[情况]|展望|评估|结论|达标|牵头|[“\"]?{FIVE_YEAR_PLAN}[”\"]?(?:时期|期间|期末|末)?(?=(?:规划)?目标值|年|五年|$)"
    r"|年|类|别|位|号|计|值|至|[()]|[ \t])+"
)
_FRAGMENT = re.compile(r"[年性属别号计类型值]{2,}")  # what a page left of the words of a header
_TELLS = re.compile(r"指标|属性|性质|单位|(?:19|20)\d\d")
_MORE = (re.compile(r"累计|五年累"), re.compile(r"年均|增速|增长"))
_PAST = re.compile(r"现状|基期|基准|实际")
_AIM_VALUE = re.compile(r"目标值|规划目标")
_AIMED = re.compile(r"目标|规划")
_KIND = re.compile(
    r"(?:规划)?目标值?|规划值?|现状值?|实际值?|完成值|完成(?!情)|基期值?|基准值?|(?<=年)情况"
)
_KIND_RUN = re.compile(rf"(?:{_KIND.pattern}){{2,}}")
_PLAN_AIM_VALUE = re.compile(
    rf"[“\"]?({FIVE_YEAR_PLAN})[”\"]?(?:时期|期间|期末|末)?(?=(?:规划)?目标值)"
)
_CAPTION = re.compile(rf"(?P<plan>{FIVE_YEAR_PLAN}).{{0,60}}(?:指标|目标)")
_HAS_BINDING = re.compile(r"属性|性质")
_COMPARED = re.compile(r"[较比与自]")
_LONGEST_HEAD_LINE = 120  # characters
_SHORTEST_HEAD = 3
_LONGEST_CAPTION_LINE = 60
_IDLE_LINES = 30  # lines without a row after which a table is over

_LINE = re.compile(r"[^\r\n]+")
_BINDING = re.compile(r"(?:约束|预期|引导|指导|导向|引领|参考)性?")
_NAME_HEAD = re.compile(
    r"(?:主要|具体|核心|评价|考核)?(?:指标|名称|指标名称|项目|内容|指标内容|目标名称)(?:\(.{1,6}\))?"
)
_NUMBER = (
    r"(?:[\[〔](?:-(?=\d))?)?(?:(?:≥|≤|>|<|>=|<=|≧|≦|﹥|﹤|约)[ \t]?)?\d++(?:\.\d+)?+"
    r"(?![\d.]{0,20}吨)%?"
    r"(?:左右|以上|以内|以下)?[\]〕]?(?:[①-⑳*]|[a-e](?![a-zA-Z])|(?<=[\]〕])\d\))?(?:\([^()\d]{1,12}\))?"
)
_NOTHING = (
    r"(?:[-—–/√]{1,2}|\d++(?:\.\d+)?+吨|(?:好于|未达|达到|优于|提前|超额)(?:预期(?!性)|完成)|(?:完成|达到|达|保持|稳中|持续|基本|不降低|不低于|不断|稳定|巩固|稳步|逐步|有所|明显|进一步"
    r"|全部|待|从无)(?:(?!(?:指导|导向|参考)性)[^\d\s()%约预引]){0,14}|未[一-鿿]{1,3}(?![一-鿿])|以[^\d\s()%约预引]{2,12}为准)"
)
_SIGNS = str.maketrans("≧≦﹥﹤", "≥≤><")
_NOTES = re.compile(r"\([^()]*\)|(?<=[\]〕])\d\)|(?<=\d)[a-e]$|[\[\]〔〕①-⑳*\s]")
_CELL_NUMBER = re.compile(rf"{_NUMBER}$")
_ATTRIBUTE = r"约束性|预期性|引导性|指导性|导向性|引领性|参考性"
_UNIT_IN_NAME = re.compile(r"\(([^()]{1,14})\)\s*$")
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
class _Line:
    """A line of a document without the blanks around it, and where it stands."""

    start: int
    end: int
    text: str
    is_wide: bool = False  # whether it has full-width digits, which are set without blanks


@dataclass(frozen=True, slots=True)
class _Header:
    """Which column holds what; -1 for none."""

    name: int
    unit: int
    binding: int
    years: tuple[tuple[int, str, Standing], ...]
    n: int
    for_all: str = ""  # the unit that a line above the table names


def table_cells(text: str) -> list[Cell]:
    """Return the values that the indicator tables of a document state, by the form of the table."""
    lines = [
        _Line(
            m.start() + len(m[0]) - len(m[0].lstrip()),
            m.end(),
            m[0].strip(),
            _WIDE.search(text, m.start(), m.end()) is not None,
        )
        for m in _LINE.finditer(legible(text))
        if m[0].strip()
    ]
    return [*_of_cells(lines), *_of_flat_rows(lines)]


def _of_cells(lines: Sequence[_Line]) -> Iterator[Cell]:
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
        value = _cell_value("".join(cells[i].split()), unit)
        if value:
            yield Cell(name, *value, year, standing, _binding(binding), start, end)


def _name(header: _Header, cells: Sequence[str]) -> str:
    """Return the name of a row, that of the cell before it ahead of what is a part: 城镇."""
    name = "".join(cells[header.name].split())
    before = "".join(cells[header.name - 1].split()) if header.name else ""
    if _PART_NAME.fullmatch(name) and len(before) > 3 and before != name:
        return _NO.sub("", before) + name.removeprefix("其中").removeprefix(":")
    return name.removeprefix("其中:")


def _binding(cell: str | None) -> str:
    match = _BINDING.match(cell or "")
    return match[0][:2] + "性" if match else ""


def _cell_value(cell: str, unit: str) -> tuple[str, Value] | None:
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


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table that hold values.

    Attributes:
        years: Of the columns, ascending: a broken header may tell them in another order. As told
            where one has several columns, planned and achieved.
        standings: Of the columns, as far as it says: 现状值, 目标值.
        n_more: How many columns follow them: growth a year, sums of five years.
        has_sum: Whether one of those is a sum.
    """

    years: tuple[str, ...]
    standings: tuple[Standing, ...]
    n_more: int
    has_sum: bool


class Heads:
    """Follows the lines of a document and tells below which header each stands."""

    def __init__(self) -> None:
        self.columns: Columns | None = None
        self._head = ""
        self._idle = 0
        self._plan = ("", 0)  # the last year of the plan that a caption names, and its age

    def step(self, line: str) -> int:
        """Take a line; return where the words of a header end in it, 0 where it holds none."""
        plan = _CAPTION.search(line) if len(line) < _LONGEST_CAPTION_LINE else None
        age = self._plan[1] + 1
        if plan:
            self._plan = str(plan_years(plan["plan"])[1]), 0
        else:
            self._plan = self._plan[0] * (age < 4), age
        at = self._so_far(line)
        if "指标" in self._head or _HAS_BINDING.search(self._head):
            found = _columns(self._head, self._plan[0])
            if found:
                self.columns, self._idle = found, 0
        if at != len(line):
            self._head = ""
        if holds_row(line) or self._idle > _IDLE_LINES:
            self.columns = None
        self._idle += 1
        return at

    def note_row(self) -> None:
        """Say that the line held a row."""
        self._idle = 0

    def _so_far(self, line: str) -> int:
        """Add a line to the header so far; return where its words end."""
        if _HEADS.fullmatch(line) and (self._head or _TELLS.search(line)):
            self._head = self._head[-_LONGEST_HEAD_LINE:] + line + "\n"
            return len(line)
        left = _FRAGMENT.match(line) if self._head else None
        if left:
            self._head += left[0]
            return left.end()
        if "。" in line or not _TELLS.search(line):
            self._head = ""
            return 0
        found = [
            match
            for match in _HEADS.finditer(line)
            if _is_head(match[0]) and not _COMPARED.match(line, max(0, match.start() - 1))
        ]
        if not found:
            self._head = ""
            return 0
        last = found[-1]
        self._head = ("" if last.start() else self._head) + last[0]
        return last.end()


def _is_head(words: str) -> bool:
    """Return whether words within a line are of a header, and no indicator's."""
    is_number = words.strip(" \t()").isdigit()  # 1900, the value of a row behind (亿元)
    return len(words) > _SHORTEST_HEAD and not is_number and _TELLS.search(words) is not None


def _columns(head: str, planned: str) -> Columns | None:
    """Return what a header names; None where it names no years, or one twice.

    Args:
        head: Its words.
        planned: The year in which the aims of its caption's plan are due; empty.
    """
    head = _PLAN_AIM_VALUE.sub(lambda plan: f"{plan_years(plan[1])[1]}年", head)
    years = YEAR.findall(head)
    if not years and _AIM_VALUE.search(head) and not _PAST.search(head) and planned:
        years = [planned]
    dated = _dated(years, head)
    if not dated or (len(years) == 1 and "指标" not in head):
        return None
    bare = "".join(head.split())
    more = [kind.search(bare) is not None for kind in _MORE]
    told, standings = zip(*dated, strict=True)
    return Columns(told, standings, sum(more), more[0])


def _dated(years: Sequence[str], head: str) -> list[tuple[str, Standing]]:
    """Return the years of a header with what it says of each; none where it names one twice."""
    if len(years) == len(set(years)):
        first: Standing = "achieved" if len(years) > 1 and _PAST.search(head) else ""
        return [(year, "" if i else first) for i, year in enumerate(sorted(years))]
    pairs = list(zip(years, _told_of_each(head), strict=False))
    if years[-1] == min(years):  # of a cell by itself, told last
        pairs.sort(key=lambda pair: pair[0])
    return pairs if len(set(pairs)) == len(years) else []


def _told_of_each(head: str) -> tuple[Standing, ...]:
    """Return what a header says of each of its years: 2020年目标 2020年实际; empty for other heads.

    >>> _told_of_each("2015年 2020年 2020年 指标 现状 规划目标 实际")
    ('achieved', 'planned', 'achieved')
    """
    bare = "".join(head.split())
    years = list(YEAR.finditer(bare))
    behind = [kind for year in years if (kind := _KIND.match(bare, year.end()))]
    run = _KIND_RUN.search(bare, years[0].start())
    said = behind if len(behind) == len(years) else list(_KIND.finditer(run[0])) if run else []
    told: list[Standing] = ["planned" if _AIMED.search(kind[0]) else "achieved" for kind in said]
    if told and len(told) == len(years) - 1 and years[-1][1] == min(year[1] for year in years):
        told.append("achieved")  # a year by itself, ahead of those that have an aim and a result
    return tuple(told) if len(told) == len(years) else ()


_STATUS = re.compile(
    rf"(?<=性)(?:已?完成(?!情)|未完成|不?达标|否|是)(?=[\s\d\[(一-鿿]|$)|是(?={_ATTRIBUTE})"
)
"""Whether an aim was met, beside 约束性."""
_MET = re.compile(r"未?完成|不?达标|达到预期")
_CELL = rf"(?>{_NUMBER}|{_NOTHING})"  # what is one cell is not split into two
_CELLS = rf"{_CELL}(?:[ \t]*+{_CELL})*+"
_ROW_CELL = re.compile(_CELL)
_PLAIN = (
    r"%|‰|(?:[百万亿]{0,2}(?:吨|立方米|千瓦时|千瓦|亩|公顷|公里|千米|平方公里|平方米|元|人|个|家|辆|座|处|项|株|户|天)(?:标准煤|标煤)?)"
    r"|mg/[lL]|[uμµ]g/m[3³]?|万?(?:hm2|km2?|m2/km|m2)"
)
_ROW_NO = r"(?:\((?:\d{1,2}|[一二三四五六七八九十]+)\)|\d{1,2}[.、]?(?!\d))"
_NAME = rf"(?!{_ATTRIBUTE}|以[上下]|左右)[一-鿿A-Z“\"](?:(?!{_ATTRIBUTE})[^\n%|。;]){{1,48}}?"
_UNIT = (
    r"(?:\((?P<unit>[^()\n]{1,14})\)"
    r"|[ \t]*(?P<own>(?=[≥≤<>]?\d+(?:\.\d+)?%))"
    rf"|[ \t]*(?=(?:{_ATTRIBUTE})\d{{1,2}}[ \t]+(?P<late>{_PLAIN})[ \t])"
    r"|[ \t]*(?P<rate>(?:(?<=率)|(?<=比例)|(?<=比重)|(?<=占比))(?=[-—–/≥≤<>\[\d]))"
    rf"|[ \t]*(?P<plain>{_PLAIN})(?=[ \t]*[-—–/≥≤<>\[\d约预引指导参]))"
)
_PART = rf"(?<=\))(?!{_ATTRIBUTE}|[其和及])[一-鿿][一-鿿()]{{1,13}}"
"""Of whom a row is, where several share a name: 达标率(%)县城95 96."""
_ROW = re.compile(
    rf"(?:(?<=性)[①-⑳]?|(?<=预期)(?!性)|^)[ \t]*+(?P<no>{_ROW_NO})?[ \t]*+"
    rf"(?P<name>{_NAME})[*#△]*+[ \t]*+{_UNIT}[*#△]*+[ \t]*+(?P<part>{_PART})??"
    rf"(?P<first>{_ATTRIBUTE})?[ \t]*+(?:\d{{1,2}}[ \t]++(?P=late)[ \t]++)?"
    rf"(?P<cells>{_CELLS})[ \t]*+(?P<last>{_ATTRIBUTE})?"
)
_NAME_ALONE = re.compile(
    rf"[ \t]*+(?P<no>{_ROW_NO})?[ \t]*+(?P<name>{_NAME})[*#△]*+[ \t]*+"
    r"(?:\((?P<unit>[^()\n]{1,14})\))?[*#△]*+"
    rf"[ \t]*+(?P<first>{_ATTRIBUTE})?"
)
_VALUES = re.compile(
    rf"(?:[一-鿿]{{1,4}}(?=\d{{1,2}}[ \t]))?"
    rf"(?:(?:(?P<no>\d{{1,2}})[.、]?[ \t]*+)?(?P<first>{_ATTRIBUTE})[ \t]*+"
    rf"(?:\d{{1,2}}[ \t]++(?P<own>{_PLAIN})[ \t]++)?(?P<cells>{_CELLS})"
    rf"|(?:\d{{1,2}}(?:[ \t]++|(?=[-—])))?(?P<unit>{_PLAIN})?[ \t]*+"
    rf"(?P<more>{_CELLS})[ \t]*+(?P<last>{_ATTRIBUTE})(?P<tail>[^\d|。;]{{1,24}})?)"
)
_ONLY_CELLS = re.compile(rf"{_CELL}(?:[ \t]++{_CELL})*+")
_OPENS_NAME = re.compile(rf"(?:{_ROW_NO}[ \t]*)?(?P<name>[一-鿿][^。；;,%|—]{{3,36}})")
_ENDS_NAME = re.compile(
    r"(?P<name>[^。；;,%|\d()]*+(?:\([A-Za-z\d.,]{2,8}\)[^。；;,%|\d()]*+)?)(?:\((?P<unit>[^()]{1,14})\))?"
)
_ROW_BINDING = re.compile(_ATTRIBUTE)
_NAME_PIECE = {-1: re.compile(r"[一-鿿]{1,3}"), 1: re.compile(r"[一-鿿]")}
_SPLIT_UNIT = re.compile(r"(?P<name>[^。；;,%|\d()]{4,40})\((?P<unit>[^()]{1,8})\)")
_UNIT_LIKE = re.compile(rf"(?:{_PLAIN}|[万亿]?[一-鿿μµugmk%‰/\d每³²]{{1,8}})$")
_SINGLE = re.compile(
    rf"(?<![\d.])(?P<no>\d{{1,2}})[.、 ]?(?P<name>[一-鿿][^\n≥≤<>|]{{2,40}}?)"
    rf"[ \t]*+(?:\((?P<unit>[^()\n]{{1,14}})\)|(?P<plain>{_PLAIN}))?[ \t]*+(?P<cell>{_NUMBER})"
    r"(?=[一-鿿]{0,3}$|[ \t]+\d{1,2}(?!约束|预期|引导|指导|左右|以[上内下])[一-鿿])"
)
_ENDS_ROW = re.compile(rf"[性\d\]〕)%]$|(?:{_ATTRIBUTE})\d?[^\d\s]{{0,4}}$|^.{{1,4}}$")
_OF_GROUP = re.compile(r"^[^()]{1,8}(?<!第)(?<!前)\d{1,2}(?=[一-鿿]{3})")
_NO_NAME = re.compile(r"\d$|\([^()]{1,14}\).*[一-鿿]|[。；;]")  # has the values of another column
_HOLDS_NUMBER = re.compile(r"\d")
_SIGNED = re.compile(r"[≥≤<>]")
_UNIT_LINE = re.compile(r"[一-鿿%]{1,3}")
_SKIPPED = 6  # rows between two that are read
_WIDE = re.compile(r"[０-９]")
_COUNTED = re.compile(r"(?:^|(?<=性))[ \t]*+(\d{1,2})[.、]?[ \t]*+(?=[一-鿿A-Z])")
_VALUE_LINE = re.compile(
    rf"(?:[①-⑳][ \t]*+)?(?=[^一-鿿]*\d)(?P<cells>[^一-鿿]++)(?P<last>{_ATTRIBUTE}|性)?"
)
_WHOLE_NAME = re.compile(
    rf"(?:{_ROW_NO})?(?P<name>{_NAME})\((?P<unit>[^()\d]{{1,14}})\)[*#△∗]*[ \t]*"
    r"(?P<first>(?:约束|预期)性?)?"
)
_SIGNED_SECOND = re.compile(r"[ \t][≥≤<>\[]")


def _of_flat_rows(lines: Sequence[_Line]) -> list[Cell]:
    """Return the cells of tables whose cells are not marked.

    Below a header with years: rows with as many values as it has columns and 约束性 or 预期性
    beside them, the name on their line or on those around it. Below a header of one year: rows
    whose numbers go up.
    """
    lines = [_without_status(line) for line in lines]
    found: list[Cell] = []
    heads = Heads()
    numbered = _Numbered()
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
        if not rows and not at and len(columns.years) > 1:
            rows = list(numbered.read(lines, i, columns))
        numbered.note(line.text, i, is_read=bool(rows))
        if rows:
            heads.note_row()
        is_whole = at > 0 or _ENDS_ROW.search(line.text) is not None
        found += rows
    return found


def _without_status(line: _Line) -> _Line:
    """Return a line with blanks where it says whether an aim was met: 约束性完成."""
    if "性" not in line.text:
        return line
    return replace(line, text=_STATUS.sub(lambda said: " " * len(said[0]), line.text))


def _of_line(line: _Line, at: int, columns: Columns, *, is_first: bool) -> Iterator[Cell]:
    """Yield the cells of the rows that stand whole on a line: 森林覆盖率（%）42 42.5约束性."""
    for match in _ROW.finditer(line.text, at):
        binding = match["first"] or match["last"] or ""
        if is_first and not match["no"] and not _OF_GROUP.match(match["name"]):
            continue
        if not binding and not _stands_alone(line, match, columns):
            continue
        cells = _own_cells(match, columns)
        if not cells:
            continue
        is_first = False
        unit = match["unit"] or match["plain"] or match["late"] or ""
        unit = "%" if match["rate"] is not None else unit
        span = (line.start + match.start(), line.start + match.end())
        name = match["name"] + (match["part"] or "")
        yield from _flat_row(name, unit, cells, columns, binding, span)


def _own_cells(match: re.Match[str], columns: Columns) -> list[str]:
    """Return the cells of a row without its number; none where they may be those of the next."""
    cells = _ROW_CELL.findall(match["cells"])
    n, opens, no = len(columns.years), match["first"], match["no"]
    is_numbered = len(cells) == n + 1 and re.fullmatch(r"\d\d?", cells[0])
    if match["plain"] and opens and not no and not is_numbered:
        return []
    has_number = opens and not no and len(cells) == n + columns.n_more + 1 and cells[0].isdigit()
    return cells[1:] if has_number else cells


def _stands_alone(line: _Line, match: re.Match[str], columns: Columns) -> bool:
    """Return whether a row without 约束性 has its unit and all cells: 用水量（亿吨）5.1 6.2."""
    cells = _ROW_CELL.findall(match["cells"])
    n, is_told = len(columns.years), sum(map(bool, map(_HOLDS_NUMBER.search, cells)))
    ends = match.end() == len(line.text) or not _HOLDS_NUMBER.search(cells[-1])
    one = values(f" 1{match['unit']}") if match["unit"] else []
    is_unit = bool(one and one[0].unit and one[0].end == len(match["unit"]) + 2)
    if match["own"] is not None:  # 14.5% 15% behind a numbered name
        is_unit = bool(match["no"]) and all(cell.endswith("%") for cell in cells[:n])
    if match["plain"] and match["no"]:  # 4.削减比例 % 22 25.9完成
        is_unit = len(cells) == n + 1 and _MET.match(cells[n]) is not None
    return bool(is_unit and ends and n > 1 and is_told >= min(n, 2) and n <= len(cells) <= n + 1)


def _flat_row(
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
    name = re.split(_ATTRIBUTE, "".join(name.split()))[-1].removeprefix("其中:").strip("*#△")
    name = _OF_GROUP.sub("", name)
    if len(cells) > n and columns.has_sum and not _HOLDS_NUMBER.search(cells[n - 1]):
        cells = [*cells[: n - 1], cells[n]]  # a sum of five years, due in the last of them
    for cell, year, standing in zip(cells, columns.years, columns.standings, strict=False):
        value = _cell_value(cell, unit)
        if value:
            yield Cell(name, *value, year, standing, binding, *span)


def _of_wrapped(lines: Sequence[_Line], i: int, columns: Columns) -> Iterator[Cell]:
    """Yield the cells of a line whose name the lines around it hold."""
    line, before, behind = lines[i], _beside(lines, i, -1), _beside(lines, i, 1)
    match = _VALUES.fullmatch(line.text)
    if not match:
        if before:
            yield from _below(before, line, columns)
        return
    cells = _ROW_CELL.findall(match["cells"] or match["more"])
    unit = match["unit"] or match["own"] or ""
    named = before and _named(before, match["tail"] or "", behind, unit)
    if named:
        name, unit, start, end = named
        binding = match["first"] or match["last"]
        yield from _flat_row(name, unit, cells, columns, binding, (start, max(end, line.end)))


def _beside(lines: Sequence[_Line], i: int, step: int) -> _Line | None:
    """Return the next line above (-1) or below (1) that is no piece of a group's name."""
    for j in (i + step, i + 2 * step):
        is_piece = 0 <= j < len(lines) and _NAME_PIECE[step].fullmatch(lines[j].text)
        if 0 <= j < len(lines) and not is_piece:
            return lines[j]
    return None


def _named(
    before: _Line, tail: str, behind: _Line | None, unit: str
) -> tuple[str, str, int, int] | None:
    """Return (name, unit, start, end) of a row whose values stand between them; None for none.

    Args:
        before: The line above, behind whose last row the name may begin.
        tail: What stands behind the values on their line.
        behind: The line below; read where there is no tail.
        unit: As the values' line tells it; empty.
    """
    at = max((found.end() for found in _ROW_BINDING.finditer(before.text)), default=0)
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


def _below(before: _Line, line: _Line, columns: Columns) -> Iterator[Cell]:
    """Yield the cells of a line that holds nothing else, below 森林覆盖率（%）约束性."""
    match = _NAME_ALONE.fullmatch(before.text)
    if match and match["unit"] and match["first"] and _ONLY_CELLS.fullmatch(line.text):
        cells = _ROW_CELL.findall(line.text)
        span = (before.start, line.end)
        yield from _flat_row(match["name"], match["unit"], cells, columns, match["first"], span)


class _Numbered:
    """Reads lines of a number and values below the name: 森林覆盖率(%), then 20 42 42.5约束性."""

    def __init__(self) -> None:
        self._last = 0  # number of the row before
        self._tail = -1  # index of the line that may end the name of the row before
        self._is_named = False  # whether the line above that of values was a whole name

    def note(self, line: str, i: int, *, is_read: bool) -> None:
        """Take a line, to count its rows."""
        for match in _COUNTED.finditer(line):
            if int(match[1]) == 1 or self._last < int(match[1]) < self._last + 10:
                self._last = int(match[1])
        if not is_read and _VALUE_LINE.fullmatch(line):
            self._tail = -1 if self._is_named else i + 1
            self._last += line.startswith(str(self._last + 1))
        self._is_named = False

    def read(self, lines: Sequence[_Line], i: int, columns: Columns) -> Iterator[Cell]:
        """Yield the cells of line `i`, or none where its number is not the next."""
        line, no = lines[i], str(self._last + 1)
        named, start, end = self._name(lines, i, no)
        is_own_line, rest = start == line.start, line.text[end:]
        match = _VALUE_LINE.fullmatch(rest.strip())
        self._is_named = named is not None
        if not named or not match:
            return
        cells = [match["cells"].strip()]
        is_apart = rest[0].isspace() or (line.is_wide and _SIGNED_SECOND.search(cells[0]))
        if _ONLY_CELLS.fullmatch(cells[0]) and is_apart and not is_own_line:
            cells = _ROW_CELL.findall(cells[0])
        if len(cells) == 1 and line.is_wide and len(columns.years) == 2:
            cells = parted_cells(cells[0], named["unit"])
        if len(cells) < len(columns.years):
            return
        self._last, self._tail = self._last + (not is_own_line), -1
        binding = _binding(match["last"]) or _binding(named["first"])
        yield from _flat_row(
            named["name"], named["unit"], cells, columns, binding, (start, line.end)
        )

    def _name(
        self, lines: Sequence[_Line], i: int, no: str
    ) -> tuple[re.Match[str] | None, int, int]:
        """Return (name of a row, where it starts, what of line `i` is ahead of its values).

        It stands on the line, or above one that begins with the row's number.
        """
        line, before = lines[i], _beside(lines, i, -1)
        if named := _WHOLE_NAME.match(line.text):
            return named, line.start, named.end()
        if before is None or not line.text.startswith(no):
            return None, line.start, len(no)
        at = max((m.end() for m in _ROW_BINDING.finditer(before.text[:-1])), default=0)
        is_tail = before is lines[self._tail] and not at  # of the name of the row before
        named = None if is_tail else _WHOLE_NAME.fullmatch(before.text, at)
        return named, before.start + at, len(no)


def _of_one_column(
    line: _Line, at: int, year: str, last: int, following: Sequence[_Line]
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
        value = _cell_value(match["cell"], unit)
        if value and (value[1].unit or ends(match["name"], "unitless")):
            last = number
            start = line.start + match.start("name")
            found.append(Cell(match["name"], *value, year, "", "", start, end))
    return found, last
