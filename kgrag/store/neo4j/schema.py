"""Constraints and indexes: made once, and again where they are missing."""

import re

from kgrag.errors import NoKnowledgeBaseError, StoreError, StoreUnavailableError
from kgrag.store.neo4j import read
from kgrag.store.neo4j.base import SWITCHING
from kgrag.store.neo4j.connection import Database, Row
from kgrag.store.neo4j.described import describe_documents
from kgrag.store.neo4j.statements import statement, statements_of
from kgrag.store.vectors import KINDS

_MADE = re.compile(r"(?:INDEX|CONSTRAINT) (\w+) IF NOT EXISTS")
VERSION = 1  # of the graph's shape
# What a knowledge base made before facts had vectors lacks, until it is opened to write.
FACT_INDEXES = frozenset(
    {
        "fact_vector_id",
        "fact_vector_fact",
        "fact_vector_document",
        "fact_vector_embedding_key",
        "fact_embedding",
    }
)


def prepare(database: Database, *, create: bool) -> None:
    """Make a database a knowledge base, or see that it is one.

    Args:
        database: On a server.
        create: Make it one if it is none; what is there already is left alone.

    Raises:
        NoKnowledgeBaseError: If it is none and shall not become one.
        StoreUnavailableError: If it holds another graph under our labels.
        StoreError: If a newer kgrag made it.
    """
    rows = database.read("base")
    if rows:
        _check_version(database, rows[0]["version"])
    elif not create:
        raise NoKnowledgeBaseError(
            f"{database.address}: no knowledge base in this database: `kgrag ingest` makes one"
        )
    elif (foreign := database.read("foreign_nodes")[0]["n"]) and not database.read("base"):
        raise StoreUnavailableError(
            f"{database.address}: the database holds another graph ({foreign} nodes called "
            "Document, Chunk, Entity or the like): use an empty database"
        )
    if create:
        for name in statements_of("schema"):
            database.define(name)
        database.await_indexes()
        row = database.write(lambda tx: tx.run("create_base", version=VERSION))[0]
        _check_version(database, row["version"])
        describe_documents(database)


def ensure_vector_indexes(database: Database, *, grown: float) -> int | None:
    """Have the vector indexes for the vectors held; return their dimension, None without any.

    They are made from vectors that are there already: at once that is several times faster than
    one by one, and the graph in which the index looks for neighbours comes out better.

    Args:
        database: The knowledge base.
        grown: Make them anew where there are more than so many times as many vectors as when
            they were made.

    Raises:
        StoreUnavailableError: If staged vectors are taking over just now.
    """
    base = read.base(database)
    if base["switching"]:
        raise StoreUnavailableError(f"{database.address}: {SWITCHING}")
    if base["dimension"] is None:
        return None
    n = database.read("count_embeddings")[0]["n"]
    states = {row["name"]: row for row in database.read("index_states")}
    outgrown = n > grown * base["indexed"]
    made = False
    for kind in KINDS:
        index = states.get(f"{kind}_embedding")
        fits = index and index["options"]["indexConfig"]["vector.dimensions"] == base["dimension"]
        if outgrown or not fits:
            made = True
            drop = (f"drop_{kind}_vectors",) if index else ()
            database.define(*drop, f"index_{kind}_vectors", dimension=base["dimension"])
    if made:
        database.write(lambda tx: tx.run("change_base", values={"indexed": n}))
    database.await_indexes()
    return int(base["dimension"])


def index_names(base: Row) -> set[str]:
    """Return the names of the indexes and constraints that a knowledge base in this state has."""
    texts = [statement(name) for name in statements_of("schema")]
    texts += [statement("index_terms", size=size) for size in base["ready"]]
    if base["indexed"] and base["dimension"]:
        texts += [statement(f"index_{kind}_vectors", dimension=base["dimension"]) for kind in KINDS]
    return {match[1] for text in texts for match in _MADE.finditer(text)}


def _check_version(database: Database, version: int) -> None:
    if version != VERSION:
        raise StoreError(
            f"{database.address}: the knowledge base is of version {version}, this kgrag reads "
            f"version {VERSION}: use the kgrag that made it"
        )
