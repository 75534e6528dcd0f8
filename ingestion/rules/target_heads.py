"""The header of an indicator table that lost its cells: which years its columns are of."""

import re
from dataclasses import dataclass

from kgrag.language.plan_periods import plan_years
from kgrag.language.table_rows import holds_row
from kgrag.qualifiers import Standing
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
_AIM = re.compile(r"目标值|规划目标")
_AIMED = re.compile(r"目标|规划")
_KIND = re.compile(
    r"(?:规划)?目标值?|规划值?|现状值?|实际值?|完成值|完成(?!情)|基期值?|基准值?|(?<=年)情况"
)
_KIND_RUN = re.compile(rf"(?:{_KIND.pattern}){{2,}}")
_PLAN_AIM = re.compile(rf"[“\"]?({FIVE_YEAR_PLAN})[”\"]?(?:时期|期间|期末|末)?(?=(?:规划)?目标值)")
_CAPTION = re.compile(rf"(?P<plan>{FIVE_YEAR_PLAN}).{{0,60}}(?:指标|目标)")
_HAS_BINDING = re.compile(r"属性|性质")
_COMPARED = re.compile(r"[较比与自]")
_LONGEST_HEAD = 120  # characters
_SHORTEST_HEAD = 3
_LONGEST_CAPTION = 60
IDLE_LINES = 30  # lines without a row after which a table is over


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table that hold values.

    Attributes:
        years: Of the columns, ascending: a broken header may tell them in another order. As told
            where one has several columns, planned and achieved.
        standings: Of the columns, as far as it says: 现状值, 目标值.
        n_more: How many columns follow them: growth a year, sums of five years.
        has_sum: Whether one of those is a sum.
        has_binding: Whether one says 约束性 or 预期性.
    """

    years: tuple[str, ...]
    standings: tuple[Standing, ...]
    n_more: int
    has_sum: bool
    has_binding: bool


class Heads:
    """Follows the lines of a document and tells below which header each stands."""

    def __init__(self) -> None:
        self.columns: Columns | None = None
        self._head = ""
        self._idle = 0
        self._plan = ("", 0)  # the last year of the plan that a caption names, and its age

    def step(self, line: str) -> int:
        """Take a line; return where the words of a header end in it, 0 where it holds none."""
        plan = _CAPTION.search(line) if len(line) < _LONGEST_CAPTION else None
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
        if holds_row(line) or self._idle > IDLE_LINES:
            self.columns = None
        self._idle += 1
        return at

    def note_row(self) -> None:
        """Say that the line held a row."""
        self._idle = 0

    def _so_far(self, line: str) -> int:
        """Add a line to the header so far; return where its words end."""
        if _HEADS.fullmatch(line) and (self._head or _TELLS.search(line)):
            self._head = self._head[-_LONGEST_HEAD:] + line + "\n"
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
    is_number = words.strip().isdigit()  # 1900, the value of a row
    return len(words) > _SHORTEST_HEAD and not is_number and _TELLS.search(words) is not None


def _columns(head: str, planned: str) -> Columns | None:
    """Return what a header names; None where it names no years, or one twice.

    Args:
        head: Its words.
        planned: The year in which the aims of its caption's plan are due; empty.
    """
    head = _PLAN_AIM.sub(lambda plan: f"{plan_years(plan[1])[1]}年", head)
    years = YEAR.findall(head)
    if not years and _AIM.search(head) and not _PAST.search(head) and planned:
        years = [planned]
    if not years:
        return None
    told = _told_of_each(head) if len(years) != len(set(years)) else None
    if told and years[-1] == min(years):  # of a cell by itself, told last
        pairs = sorted(zip(years, told, strict=True), key=lambda pair: pair[0])
        years, told = [year for year, _ in pairs], tuple(each for _, each in pairs)
    if told is not None and len(set(zip(years, told, strict=False))) != len(years):
        return None
    has_binding = _HAS_BINDING.search("".join(head.split())) is not None
    if len(years) == 1 and "指标" not in head:
        return None
    has_past = len(years) > 1 and _PAST.search(head) is not None
    more = [kind.search("".join(head.split())) is not None for kind in _MORE]
    if told is None:
        years.sort()
        first: Standing = "achieved" if has_past else ""
        rest: list[Standing] = ["" for _ in years[1:]]
        told = (first, *rest)
    return Columns(tuple(years), told, sum(more), more[0], has_binding)


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
