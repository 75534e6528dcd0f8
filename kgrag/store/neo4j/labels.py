"""The labels that other programs use, too: ours do without those on which another has a constraint.

Such a constraint could refuse a document of ours, or what the other program writes for the sake of
ours: `CREATE CONSTRAINT FOR (n:Entity) REQUIRE n.name IS UNIQUE`.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from kgrag.store.neo4j.connection import Database, Transaction
from kgrag.store.neo4j.faults import ConstraintError

logger = logging.getLogger(__name__)

_READABLE = ("Chunk", "Document", "Duty", "Entity", "Organ", "Region", "Summary", "Target")
_PAGE = 10_000  # nodes that are labelled in one transaction
_T = TypeVar("_T")


def update_labels(database: Database) -> bool:
    """Have our nodes carry the readable labels on which nobody has a constraint, and no others.

    Where it is cut off, the next call goes on.

    Args:
        database: Holds a knowledge base.

    Returns:
        Whether anything was to be done.
    """
    constrained = {label for row in database.read("constraints") for label in row["labels"]}
    hidden = [label for label in _READABLE if label in constrained]
    state = database.read("hidden_labels")[0]
    if state["hidden"] == hidden and not state["relabelling"]:
        return False
    if hidden:
        logger.warning(
            "%s: another program has a constraint on %s: ours are labelled %s alone",
            database.address,
            ", ".join(hidden),
            ", ".join(f"Kgrag{label}" for label in hidden),
        )
    database.write(partial(_record, hidden=hidden, relabelling=True))
    while database.write(partial(_relabel_some, hidden=hidden)) == _PAGE:
        pass
    database.write(partial(_record, hidden=hidden, relabelling=False))
    return True


def write_despite_constraints(database: Database, work: Callable[[Transaction], _T]) -> _T:
    """Return what `work` does in a transaction; a constraint made just now does not hinder it.

    Args:
        database: Holds a knowledge base.
        work: As for `Database.write`.

    Raises:
        ConstraintError: If it is a constraint on a label that ours need.
    """
    try:
        return database.write(work)
    except ConstraintError:
        if not update_labels(database):
            raise
        return database.write(work)


def relabel(tx: Transaction, hidden: frozenset[str]) -> None:
    """Label all of our nodes within a transaction, which holds the lock."""
    while int(tx.run("relabel_some", hidden=sorted(hidden), limit=_PAGE)[0]["n"]) == _PAGE:
        pass


def _record(tx: Transaction, *, hidden: list[str], relabelling: bool) -> None:
    tx.run("lock_base")
    tx.run("change_base", values={"hidden": hidden, "relabelling": relabelling})


def _relabel_some(tx: Transaction, *, hidden: list[str]) -> int:
    tx.run("lock_base")
    return int(tx.run("relabel_some", hidden=hidden, limit=_PAGE)[0]["n"])
