"""Read duties out of tables whose rows stand on lines, cells between bars."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kgrag.ingestion.rules.duty_roles import COLUMN, Roles, role_of_label, roles
from kgrag.ingestion.rules.duty_tasks import lead
from kgrag.language.table_rows import cells_of, is_delimiter
from kgrag.text.numerals import HAN_SMALL

_LONGEST_CELL = 700  # characters that are read
_TASK = re.compile(r"任务|内容|事项|措施|项目|工作|举措|工程|指标|名称|目标")
_DUE = re.compile(r"(?:完成|办结)?(?:时限|期限|时间|时间节点|进度)(?:要求)?$|年限$")
_LINE = re.compile(r"[^\r\n]+")
_BLANKS = re.compile(r"[\s\ufeff\u200b]+")
_BETWEEN_ORGANS = re.compile(
    r"(?<=[委厅局部办院署室]) (?=[一-鿿]{2,12}[委厅局部办院署室](?:[ 、，；]|$))"
)
_NUMBER = re.compile(rf"[\d{HAN_SMALL}（）().、．]*|-+|:?-+:?")


@dataclass(frozen=True, slots=True)
class DutyRow:
    """A row that says who does what, between two offsets."""

    start: int
    end: int
    roles: Roles
    task: str


@dataclass(frozen=True, slots=True)
class _Columns:
    organs: dict[int, str]  # the role by column
    tasks: tuple[int, ...]
    due: int


def duty_rows(text: str) -> Iterator[DutyRow]:
    """Yield the rows under a head that names a column of organs (责任单位, 牵头部门).

    Args:
        text: Paragraphs and rows, each on a line; cells stand between bars.
    """
    columns: _Columns | None = None
    task = ""
    for line in _LINE.finditer(text):
        written = cells_of(line[0]) if "|" in line[0] else []
        cells = [_bare(cell) for cell in written]
        if not cells:
            columns, task = None, ""
        elif head := _columns([_label(cell) for cell in written]):
            columns, task = head, ""
        elif columns and not is_delimiter(line[0]):
            task = _task(cells, columns) or task
            held = _roles(cells, columns)
            if held.holders and task:
                yield DutyRow(*line.span(), held, task)


def _label(cell: str) -> str:
    """Return the label of a column: of two that a header joined, the one of organs.

    >>> _label("责任单位 牵头单位"), _label("责 任 单 位")
    ('牵头单位', '责任单位')
    """
    whole, last = _BLANKS.sub("", cell), cell.split()[-1:]
    return last[0] if not COLUMN.fullmatch(whole) and last and COLUMN.fullmatch(last[0]) else whole


def _bare(cell: str) -> str:
    """Return a cell without blanks; where one parts two organs, a mark does it: 甲局 乙局."""
    return _BLANKS.sub("", _BETWEEN_ORGANS.sub("、", cell))


def _columns(cells: list[str]) -> _Columns | None:
    organs = {i: role_of_label(c) for i, c in enumerate(cells) if COLUMN.fullmatch(c)}
    if not organs:
        return None
    due = next((i for i, c in enumerate(cells) if _DUE.search(c)), -1)
    tasks = tuple(
        i for i, c in enumerate(cells) if i not in organs and i != due and _TASK.search(c)
    )
    return _Columns(organs, tasks or tuple(i for i in range(len(cells)) if i not in organs), due)


def _task(cells: list[str], columns: _Columns) -> str:
    """Return the lead of the last column of tasks that says anything: the innermost."""
    told = [cells[i] for i in columns.tasks if i < len(cells) and not _NUMBER.fullmatch(cells[i])]
    return next(
        (task for cell in reversed(told) if len(task := lead(cell[:_LONGEST_CELL])) > 1), ""
    )


def _roles(cells: list[str], columns: _Columns) -> Roles:
    found = [
        roles(cells[i][:_LONGEST_CELL], default=r)
        for i, r in columns.organs.items()
        if i < len(cells)
    ]
    holders = tuple(dict.fromkeys(h for held in found for h in held.holders))
    due = cells[columns.due] if 0 <= columns.due < len(cells) else ""
    due = due or next((held.deadline for held in found if held.deadline), "")
    return replace(Roles(holders, due), led=any(held.led for held in found))
