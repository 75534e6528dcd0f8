"""Who does what: the duties that documents give an organ."""

from collections import defaultdict

from kgrag.retrieval.filter import Filter
from kgrag.store.store import Store
from kgrag.tables.choose import choose, names_all
from kgrag.tables.sources import Spot, quoted, sources_of, spot_of
from kgrag.tables.table import Cell, Column, Row, Table

_ROLES = ("牵头", "负责", "配合")
_COLUMNS = (
    Column("organ", "部门", "organ"),
    Column("role", "角色", "role"),
    Column("task", "任务", "task"),
    Column("deadline", "时限", "deadline"),
    Column("as_written", "原称", "as written"),
)


def duties(store: Store, organ: str, *, role: str = "", within: Filter | None = None) -> Table:
    """Return what an organ is to do, a row for each task, organ and role.

    Args:
        store: The knowledge base.
        organ: Words of its name, divided by blanks: 四川 生态环境厅. Empty for all.
        role: 牵头, 负责 or 配合; empty for all.
        within: Of which documents.

    Raises:
        NotFoundError: If the filter leaves no document.
    """
    chosen, named = choose(store, within), names_all(organ)
    rows: defaultdict[tuple[Cell, ...], list[Spot]] = defaultdict(list)
    stating = set()
    for statement in store.statements("duty", sorted(chosen.cards) if within else None):
        told, fact = statement.qualifiers, statement.fact
        written = told.subject or fact.subject.name
        said = told.role or fact.predicate
        if not (named(fact.subject.name) or named(written)) or (role and said != role):
            continue
        task = told.object or fact.object.name
        cells = (fact.subject.name, said, task, told.deadline or None, written)
        rows[cells].append(spot_of(statement))
        stating.add(statement.doc_id)
    sources = quoted(store, (spot for spots in rows.values() for spot in spots))
    return Table(
        name="duties",
        columns=_COLUMNS,
        rows=tuple(
            Row(cells, sources_of(spots, sources))
            for cells, spots in sorted(rows.items(), key=lambda item: _order(item[0], item[1][0]))
        ),
        notes=(
            chosen.note(stating, zh=f"{organ}职责", en=f"duties of {organ}" if organ else "duties"),
        ),
    )


def _order(cells: tuple[Cell, ...], spot: Spot) -> tuple[str, int, Spot]:
    role = _ROLES.index(str(cells[1])) if cells[1] in _ROLES else len(_ROLES)
    return str(cells[0]), role, spot
