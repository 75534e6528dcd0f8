"""One engine for what documents state: a selection to a table with its sources."""

from collections import defaultdict
from collections.abc import Callable, Mapping

from kgrag.answer.notes import note
from kgrag.statements.choose import check_named, choose
from kgrag.statements.conflicts import conflicts
from kgrag.statements.digest import digest
from kgrag.statements.documents import documents
from kgrag.statements.references import basis, cited_by, cites
from kgrag.statements.selection import Kind, Selection
from kgrag.statements.sources import (
    Spot,
    Stated,
    object_of,
    role_of,
    role_rank,
    sourced,
    spot_of,
    subject_of,
)
from kgrag.statements.table import Cell, Column, Table
from kgrag.statements.targets import compare, targets
from kgrag.statements.timeline import timeline
from kgrag.store.store import Store

_DUTIES = (
    Column("organ", "部门", "organ"),
    Column("role", "角色", "role"),
    Column("task", "任务", "task"),
    Column("deadline", "时限", "deadline"),
    Column("as_written", "原称", "as written"),
)


def duties(store: Store, selection: Selection) -> Stated:
    """Return the duties of an agency, a row for each task, agency and role.

    Raises:
        NotFoundError: If no document is selected, or none names the agency.
    """
    chosen = choose(store, selection, "duty")
    check_named(store, chosen, "duty")
    rows: defaultdict[tuple[Cell, ...], list[Spot]] = defaultdict(list)
    tasks: dict[Spot, str] = {}
    for s in chosen.statements:
        task, deadline = object_of(s), s.qualifiers.deadline or None
        rows[s.fact.subject.name, role_of(s), task, deadline, subject_of(s)].append(spot_of(s))
        tasks[spot_of(s)] = task

    def rank(row: tuple[tuple[Cell, ...], list[Spot]]) -> tuple[str, int, Spot]:
        (name, role, *_), spots = row
        return str(name), role_rank(role), spots[0]

    of = note("duties-of" if selection.agency else "all-duties", "zh", organ=selection.agency)
    ordered = sorted(rows.items(), key=rank)
    notes = (chosen.note(chosen.stating, of), *chosen.place_notes(()))
    return Stated(_DUTIES, ordered, notes, tasks)


# What gives the rows of each kind, and the heading of its table: Chinese, English.
_TABLES: Mapping[Kind, tuple[Callable[[Store, Selection], Stated], str, str]] = {
    "targets": (targets, "指标数值", "Figures"),
    "compare": (compare, "指标对比", "Comparison of figures"),
    "duties": (duties, "任务分工", "Duties"),
    "cites": (cites, "引用文件", "Documents cited"),
    "cited_by": (cited_by, "被引情况", "Cited by"),
    "basis": (basis, "制定依据", "Basis"),
    "timeline": (timeline, "时间节点", "Timeline"),
    "conflicts": (conflicts, "不一致之处", "Conflicts"),
    "digest": (digest, "两文对照", "Comparison"),
    "documents": (documents, "文件", "Documents"),
}


def rows(store: Store, selection: Selection) -> Table:
    """Return the table of a selection, each row with the passages that state it.

    What extraction missed is missing here; notes tell what was searched and left out.

    Raises:
        NotFoundError: If what it names is not held; the error lists similar names.
        OutOfRangeError: If it is empty where it must not be, or out of range.
    """
    function, zh, en = _TABLES[selection.kind]
    stated = function(store, selection)
    every = list(stated.rows)
    some = every[selection.offset :][: selection.limit or None]
    made = sourced(store, some, stated.tasks, day=selection.day)
    heading = Column(selection.kind, zh, en)
    return Table(selection.kind, stated.columns, made, stated.notes, heading, len(every))
