"""Constraints and indexes: made once, and again where they are missing."""

import logging
import re
from functools import partial

from kgrag.errors import NoKnowledgeBaseError, StoreError, StoreUnavailableError
from kgrag.store.neo4j.base import DROPPED, SWITCHING, read_base
from kgrag.store.neo4j.connection import Database, Row, Transaction
from kgrag.store.neo4j.labels import update_labels
from kgrag.store.neo4j.statements import of_base, statement, statements_of
from kgrag.vectors.vector import KINDS

logger = logging.getLogger(__name__)

_MADE = re.compile(
    r"(INDEX|CONSTRAINT) (\w+) IF NOT EXISTS\s+FOR \((?:n:([\w|]+)\)|\)-\[r:(\w+)\])"
)
_NAME_TAKEN = "Neo.ClientError.Schema.IndexWithNameAlreadyExists"
VERSION = 4  # of the graph's shape
LEAST = 300  # vectors that a search asks for: so many are found however an index was made
_GROWN = 1.5  # times as many vectors as when the indexes were made: they are made anew


def prepare(database: Database, *, create: bool) -> None:
    """Create a knowledge base in a database, or check the existing one.

    Args:
        database: On a server.
        create: Make one if there is none; what is there already is left alone.

    Raises:
        NoKnowledgeBaseError: If there is none and shall be none.
        StoreUnavailableError: If another program has an index of the same name as one of ours.
        StoreError: If another version of kgrag made it.
    """
    rows = database.read("base")
    if rows:
        check_version(database, rows[0]["version"])
    elif not create:
        raise NoKnowledgeBaseError(
            f"{database.address}: no knowledge base in this database: `kgrag ingest` makes one"
        )
    if create:
        _make(database)


def _make(database: Database) -> None:
    """Make what a knowledge base lacks."""
    constraints = {row["name"] for row in database.read("constraints")}
    indexes = index_states(database)
    for name in statements_of("schema"):
        kind, made = _MADE.findall(statement(name, database.address.base))[0][:2]
        if made in (constraints if kind == "CONSTRAINT" else indexes):
            continue
        try:
            database.define(name)
        except StoreError as exc:  # of a constraint that a server died over, its index is left
            if getattr(exc.__cause__, "code", None) != _NAME_TAKEN:
                raise
            database.write(partial(drop_index, name=made))
            database.define(name)
    database.await_indexes()
    row = database.write(lambda tx: tx.run("create_base", version=VERSION))[0]
    check_version(database, row["version"])
    update_labels(database)


def drop_index(tx: Transaction, *, name: str) -> None:
    """Drop an index by its full name, where there is one that no constraint owns."""
    tx.run("drop_index", name=name)


def ensure_vector_indexes(database: Database, *, renew: bool) -> int | None:
    """Ensure the indexes of the stored vectors; return their dimension, None without any.

    They are made from vectors that are there already: at once that is several times faster than
    one by one, and the graph in which the index looks for neighbours comes out better. With them
    comes the full-text index that other programs search.

    Args:
        database: The knowledge base.
        renew: Make them anew where they have outgrown those that they were made from.

    Raises:
        StoreUnavailableError: If staged vectors are taking over just now, or another program has
            an index of the same name.
    """
    base = read_base(database)
    if base["switching"]:
        raise StoreUnavailableError(f"{database.address}: {SWITCHING}")
    if base["dimension"] is None:
        return None
    n = database.read("count_embeddings")[0]["n"]
    states = index_states(database)
    outgrown = renew and n > max(LEAST, _GROWN * base["indexed"])
    made = False
    for kind in KINDS:
        index = states.get(of_base(f"kgrag_{kind}_embedding", database.address.base))
        fits = index and index["options"]["indexConfig"]["vector.dimensions"] == base["dimension"]
        if outgrown or not fits:
            made = True
            drop = (f"drop_{kind}_vectors",) if index else ()
            database.define(*drop, f"index_{kind}_vectors", dimension=base["dimension"])
    if made or renew:
        database.define("index_chunk_text")
    if made or (renew and not base["indexed"]):
        database.write(lambda tx: tx.run("change_base", values={"indexed": n}))
    database.await_indexes()
    return int(base["dimension"])


def index_states(database: Database) -> dict[str, Row]:
    """Return the indexes of the database by name.

    Raises:
        StoreUnavailableError: If one that is called as ours must be is on other nodes: another
            program's, which would silently stay in the place of ours.
    """
    states = {row["name"]: row for row in database.read("index_states")}
    wanted = indexes_of(None, database.address.base)
    for name in sorted(states.keys() & wanted.keys()):
        labels = set(states[name]["labels"])
        if labels != wanted[name]:
            raise StoreUnavailableError(
                f"{database.address}: {name} is an index of another program (on "
                f"{', '.join(sorted(labels))}): drop it, or use another database"
            )
    return states


def indexes_of(base: Row | None, name: str) -> dict[str, set[str]]:
    """Return the labels of the indexes and constraints of a knowledge base, by their names.

    Args:
        base: Its state; None for those that any state can have.
        name: The knowledge base's name.
    """
    texts = [statement(part, name) for part in statements_of("schema")]
    texts += [statement("index_terms", name, size=n) for n in (base["ready"] if base else ())]
    if base is None or (base["indexed"] and base["dimension"]):
        dimension = base["dimension"] if base else 0
        texts += [statement(f"index_{kind}_vectors", name, dimension=dimension) for kind in KINDS]
        texts.append(statement("index_chunk_text", name))
    found = (match for text in texts for match in _MADE.finditer(text))
    return {match[2]: set((match[3] or match[4]).split("|")) for match in found}


def check_version(database: Database, version: int) -> None:
    """Refuse a knowledge base that is not for us.

    Raises:
        StoreError: If another kgrag made it, or it is being deleted.
    """
    if version == DROPPED:
        raise StoreError(
            f"{database.address}: the knowledge base is being deleted: `kgrag drop` goes on with it"
        )
    if version != VERSION:
        raise StoreError(
            f"{database.address}: the knowledge base is of version {version}, this kgrag reads "
            f"version {VERSION}: use the kgrag that made it"
        )
