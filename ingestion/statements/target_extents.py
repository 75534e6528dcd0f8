"""Complete an indicator that is a bare head noun by what its sentence says it is of."""

import re
from collections.abc import Sequence

from kgrag.ingestion.statements.target_grammar import ends
from kgrag.ingestion.statements.target_statement import Statement
from kgrag.text.quantities import COUNTS

_KIND = (
    r"(?:总占地|占地|建筑|建设|用地|种植|覆盖|综合|资源化|平均|年均|设计|规划|处理|生产|新增|新建"
    r"|年|总|其)"
)
_HEAD = (
    r"(?:利用率|处理率|覆盖率|达标率|完成率|普及率|收集率|回收率|合格率|面积|规模|装机容量|装机|容量"
    r"|库容|产能|能力|产量|产值|收入|投资额?|长度|里程|总量|数量|占比|比例|增速|增长率|平均浓度)"
)
_BARE = re.compile(rf"{_KIND}{{0,2}}{_HEAD}")
"""An indicator that does not say of what: 总面积, 利用率."""
_OWN_HEAD = re.compile(
    rf"(?:累计|下达|完成|到位|合计){{0,4}}(?:{_KIND}{{0,2}}{_HEAD}|投资(?:完成率|到位率))$"
)
_NO_PART = re.compile(r"^(?:累计|下达|已|[一二三四五六七八九十两]+[处座个条家]|(?:建成)?运行的?)+")
"""What opens the words before and is no part of what an indicator is of."""
_WHOLE_VALUE = re.compile(r"(?:总值|产值|增加值|经济)$")
_OF_A_VALUE = frozenset(("总规模", "规模", "总量", "年均增速", "增速", "增长率"))
_FOR_ALL = frozenset(("投资", "总投资", "投资额"))  # told of a whole work, in clauses of their own
_LEADS_IN = re.compile(
    r"^(?:[一-鿿]{1,4}(?:区|市|县|省))?(?:积极|大力|深入|全面|加快|有序|持续|稳步|扎实|逐步|继续|进一步)*"
    r"(?:推进|推动|加强|开展|实施|建设|新建|强化|促进|推行|提高|提升|发展|恢复|修复|改造|建成|建立|创建|健全|完善|打造){1,2}(?:了)?"
    r"(?P<of>[^,、;:\d()“”]{3,20}?)(?:建设|工作|工程|项目)?$"
)
_NUMBERED = re.compile(r"^(?:[(]?[\d一二三四五六七八九十]{1,3}[).、])+")
_ENTRY = re.compile(r"^[^,;。:]{2,30}(?:项目|工程)$")
_CLAUSE_MARKS = ",;:"
_NEAR = 120  # characters within which a work's investments are told
_KINDS = re.compile(r"^(?:主要|各级|各类)+(?=[一-鿿]{2})")
_SHORTEST = 2  # characters of what an indicator is of
_LONGEST = 30


def whole(name: str, text: str, clause: tuple[int, int], found: Sequence[Statement]) -> str:
    """Return an indicator with what it is of, if it is a bare head noun; else as it is.

    What is counted right before lends itself (苗圃5个,面积…), another indicator what it is of
    (灌区总投资…,完成投资…), and a clause without a number its object (建设某湿地,湿地面积…).

    Args:
        name: The indicator.
        text: The passage.
        clause: (start, end) in the passage.
        found: What the sentence states before.
    """
    head = name.removeprefix("其")
    near = found[-1] if found and _is_next(text, found[-1], clause) else None
    if _BARE.fullmatch(head):
        of = _lent_by(near, head) if near else ""
        if not of and head in _FOR_ALL:
            of = _work(found, clause)
        if of := _NO_PART.sub("", of):
            return of + head
    if near is None and (object_ := _NO_PART.sub("", _object_before(text, clause))):
        return _joined(object_, head) or (object_ + head if _BARE.fullmatch(head) else name)
    if _BARE.fullmatch(head) and (entry := _entry(text, clause)):
        return entry + head
    return name


def _is_next(text: str, before: Statement, clause: tuple[int, int]) -> bool:
    """Return whether a statement is of the same clause, or of the one right before."""
    if before.clause == clause:
        return True
    return before.clause[1] + 1 == clause[0] and text[before.clause[1]] == ","


def _lent_by(before: Statement, head: str) -> str:
    """Return what the statement before is of; empty where it does not tell."""
    name = before.indicator
    if head in _OF_A_VALUE and _WHOLE_VALUE.search(name):
        return name
    if before.value.unit in COUNTS and not ends(name, "heads"):
        return _KINDS.sub("", name) if len(name) <= _LONGEST else ""
    if not (own := _OWN_HEAD.search(name)):
        return ""
    of = name[: own.start()]
    return of if _SHORTEST <= len(of) <= _LONGEST else ""


def _work(found: Sequence[Statement], clause: tuple[int, int]) -> str:
    """Return the work whose investment a sentence told before."""
    for before in reversed(found):
        if clause[0] - before.clause[1] > _NEAR:
            break
        if "投资" in before.indicator and (of := _lent_by(before, "投资")):
            return of
    return ""


def _object_before(text: str, clause: tuple[int, int]) -> str:
    """Return what the clause before does something to; or counts; empty for neither."""
    if not clause[0] or text[clause[0] - 1] != ",":
        return ""
    end = clause[0] - 1
    start = max(text.rfind(mark, 0, end) for mark in (*_CLAUSE_MARKS, "。")) + 1
    said = _LEADS_IN.match(text[start:end])
    return said["of"] if said else ""


def _entry(text: str, clause: tuple[int, int]) -> str:
    """Return the project that an entry of a list tells of: 东山光伏项目:…,总投资…."""
    start = text.rfind("。", 0, clause[0]) + 1
    mark = text.find(":", start, clause[0])
    name = text[start : max(mark, start)]
    name = _NUMBERED.sub("", name)
    return name if _ENTRY.match(name) else ""


def _joined(of: str, name: str) -> str:
    """Return both put together at the words that they share; empty where they share none.

    >>> _joined("东湖湿地", "湿地面积"), _joined("秸秆综合利用", "利用率")
    ('东湖湿地面积', '秸秆综合利用率')
    """
    for n in range(min(len(of), len(name) - 1), 1, -1):
        if of.endswith(name[:n]) and len(of) > n:
            return of + name[n:]
    return ""
