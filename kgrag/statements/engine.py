"""One engine for what documents state: a selection to a table with its sources."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kgrag.answer.notes import note
from kgrag.statements.conflicts import conflicts
from kgrag.statements.digest import digest
from kgrag.statements.lists import definitions, documents, duties, provisions, validity
from kgrag.statements.references import basis, cited_by, cites
from kgrag.statements.selection import Kind, Selection
from kgrag.statements.table import Table
from kgrag.statements.targets import compare, targets
from kgrag.statements.timeline import timeline
from kgrag.store.store import Store

_TABLES: Mapping[Kind, Callable[[Store, Selection], Table]] = {
    "targets": targets,
    "compare": compare,
    "duties": duties,
    "cites": cites,
    "cited_by": cited_by,
    "basis": basis,
    "timeline": timeline,
    "conflicts": conflicts,
    "digest": digest,
    "documents": documents,
    "validity": validity,
    "provisions": provisions,
    "definitions": definitions,
}


def rows(store: Store, selection: Selection) -> Table:
    """Return the table of a selection, each row with the passages that state it.

    What extraction missed is missing here; notes tell what was searched and left out.

    Raises:
        NotFoundError: If what it names is not held; the error lists similar names.
        OutOfRangeError: If it is empty where it must not be, or out of range.
    """
    table = _TABLES[selection.kind](store, selection)
    shown, n = table.rows[: selection.limit], len(table.rows)
    if len(shown) == n:
        return table
    cut = note("shortened-rows", "zh", shown=len(shown), n=n)
    return replace(table, rows=shown, notes=(*table.notes, cut))
