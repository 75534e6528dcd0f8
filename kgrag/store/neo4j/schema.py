"""Constraints and indexes: made once, and again where they are missing."""

from kgrag.errors import NoKnowledgeBaseError, StoreError, StoreUnavailableError
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.embeddings import KINDS
from kgrag.store.neo4j.statements import statements_of

VERSION = 1  # of the graph's shape


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
    elif foreign := database.read("foreign_nodes")[0]["n"]:
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


def ensure_vector_indexes(database: Database, dimension: int) -> None:
    """Have the vector indexes for vectors of a dimension, unless others are held.

    An index is made outside of the transaction that brings its first vectors: Neo4j does not
    define indexes and write data in one.
    """
    if database.read("base")[0]["dimension"] is not None:
        return
    states = {row["name"]: row for row in database.define("index_states")}
    for kind in KINDS:
        index = states.get(f"{kind}_embedding")
        if index is not None and index["options"]["indexConfig"]["vector.dimensions"] != dimension:
            database.define(f"drop_{kind}_vectors")
        database.define(f"index_{kind}_vectors", dimension=dimension)
    database.await_indexes()


def _check_version(database: Database, version: int) -> None:
    if version != VERSION:
        raise StoreError(
            f"{database.address}: the knowledge base is of version {version}, this kgrag reads "
            f"version {VERSION}: use the kgrag that made it"
        )
