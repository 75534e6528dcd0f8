"""One engine for what documents state: a selection to a table with its sources."""

from collections.abc import Callable, Mapping

from kgrag.statements.conflicts import conflicts
from kgrag.statements.digest import digest
from kgrag.statements.lists import definitions, documents, duties, provisions
from kgrag.statements.references import basis, cited_by, cites
from kgrag.statements.selection import Kind, Selection
from kgrag.statements.sources import Stated, sourced
from kgrag.statements.table import Column, Table
from kgrag.statements.targets import compare, targets
from kgrag.statements.timeline import timeline
from kgrag.store.store import Store

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
    "provisions": (provisions, "条款", "Provisions"),
    "definitions": (definitions, "术语", "Definitions"),
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
    made = sourced(store, stated.rows, stated.tasks, day=selection.day)
    heading = Column(selection.kind, zh, en)
    return Table(selection.kind, stated.columns, made, stated.notes, heading)
