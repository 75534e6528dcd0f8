"""The knowledge base's node: the lock that writers share, and what a transaction leaves in it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.store.neo4j.connection import Database, Row, Transaction
from kgrag.store.neo4j.statements import is_base_name

SWITCHING = (
    "the vectors of this knowledge base are changed to another encoder just now: wait for that "
    "`kgrag reembed`, or run it again if it was stopped"
)

DROPPED = 0  # in place of the version: the knowledge base is being deleted


@dataclass(slots=True)
class Base:
    """The knowledge base's node as a writing transaction finds it, and what the writer touches.

    Attributes:
        sizes: Chunk sizes whose words are indexed.
        dimension: Of the stored vectors, None before the first.
        deleting: Documents of which chunks are left over from a deletion that was cut off.
        dead_terms: Indexed chunks that were deleted since their index was made.
        begun: What will be recorded of the encoder whose vectors are staged; None for none.
        switching: Whether staged vectors are taking over.
        hidden: Labels that our nodes do without; see `kgrag.store.neo4j.labels`.
        embedder: The encoder that is recorded; None in a new one.
        touched: Entities that lost or gained a name.
        keys: Embeddings that lost a node.
    """

    sizes: tuple[int, ...]
    dimension: int | None
    deleting: list[str]
    dead_terms: int
    begun: dict[str, str] | None = None
    switching: bool = False
    hidden: frozenset[str] = frozenset()
    embedder: str | None = None
    touched: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)

    def readable(self, label: str) -> list[str]:
        """Return a label that other programs use, too, as a list; none where ours do without."""
        return [] if label in self.hidden else [label]


def read_base(database: Database) -> Row:
    """Return the state of the knowledge base.

    Raises:
        StoreError: If it has gone.
    """
    rows = database.read("base")
    if not rows:
        raise gone(database)
    return rows[0]


def gone(database: Database) -> StoreError:
    """Return the error for a knowledge base that was there when it was opened."""
    return StoreError(
        f"{database.address}: the knowledge base was deleted meanwhile: open it again"
    )


def bases(database: Database) -> list[str]:
    """Return the names of the knowledge bases of the database; empty for the one without."""
    parts = (row["label"].partition("_") for row in database.read("labels"))
    names = {name for kind, _, name in parts if kind == "KgragKnowledgeBase"}
    return sorted(name for name in names if not name or is_base_name(name))


def look(tx: Transaction) -> Base:
    """Return the knowledge base's state without the lock: another writer may change it.

    Raises:
        StoreError: If the knowledge base has gone.
    """
    return _base(tx.run("base"))


def lock(tx: Transaction) -> Base:
    """Take the lock that writers share, and return the knowledge base's state.

    Raises:
        StoreError: If the knowledge base has gone.
    """
    return _base(tx.run("lock_base"))


def _base(rows: Sequence[Row]) -> Base:
    if not rows or rows[0]["version"] == DROPPED:
        raise StoreError("the knowledge base was deleted meanwhile: open it again")
    row = rows[0]
    return Base(
        tuple(row["sizes"]),
        row["dimension"],
        list(row["deleting"]),
        row["dead_terms"],
        begun(row),
        row["switching"],
        frozenset(row["hidden"]),
        row["embedder"],
    )


def begun(row: Row) -> dict[str, str] | None:
    """Return what will be recorded of the encoder whose vectors are staged; None for none."""
    return json.loads(row["staged"]) if row["staged"] else None


def begin(tx: Transaction) -> Base:
    """Take the lock to change documents.

    Raises:
        StoreError: If the knowledge base has gone.
        StoreUnavailableError: If staged vectors are taking over just now.
    """
    base = lock(tx)
    if base.switching:
        raise StoreUnavailableError(SWITCHING)
    return base
