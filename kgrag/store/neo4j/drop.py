"""Delete a whole knowledge base from a database, and nothing of any other."""

from contextlib import closing
from functools import partial

from kgrag.errors import NoKnowledgeBaseError
from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.base import DROPPED, bases
from kgrag.store.neo4j.connection import Database, Transaction
from kgrag.store.neo4j.schema import check_version, drop_index
from kgrag.store.neo4j.statements import is_of_base

_PAGE = 5000  # nodes deleted in one transaction
_SHARED = "kgrag__related_id"  # of all knowledge bases of a database


def documents_held(location: str) -> int:
    """Return how many documents would go.

    Args:
        location: Address of a knowledge base.

    Raises:
        NoKnowledgeBaseError: If there is none.
        StoreUnavailableError: If it cannot be reached.
        StoreError: If another version of kgrag made it.
    """
    with closing(Database.open(parse(location))) as database:
        return _documents(database)


def drop(location: str) -> None:
    """Delete a knowledge base: nodes some at a time, indexes and constraints, its own node last.

    From the beginning nobody can open it or write to it. Where it is cut off, the next call goes
    on. Nodes of other programs lose what linked them to it, and nothing else.

    Args:
        location: Its address.

    Raises:
        StoreError: As `documents_held`.
    """
    with closing(Database.open(parse(location))) as database:
        _documents(database)
        _drop(database)


def _documents(database: Database) -> int:
    rows = database.read("base")
    if not rows:
        raise NoKnowledgeBaseError(f"{database.address}: no knowledge base in this database")
    if rows[0]["version"] != DROPPED:
        check_version(database, rows[0]["version"])
    return int(database.read("counts")[0]["documents"])


def _drop(database: Database) -> None:
    database.write(_close)
    _drop_definitions(database, constraints=False)  # or every node is taken out of them one by one
    while database.write(_delete_some):
        pass
    _drop_definitions(database, constraints=True)
    if bases(database) == [database.address.base]:
        database.write(partial(drop_index, name=_SHARED))
    database.write(lambda tx: tx.run("delete_base"))


def _close(tx: Transaction) -> None:
    tx.run("lock_base")
    tx.run("change_base", values={"version": DROPPED})


def _delete_some(tx: Transaction) -> int:
    return int(tx.run("delete_some_nodes", limit=_PAGE)[0]["n"])


def _drop_definitions(database: Database, *, constraints: bool) -> None:
    """Drop constraints and indexes with names like ours on labels of this knowledge base only."""
    held = {row["name"] for row in database.read("constraints")}
    for row in database.read("index_states"):
        name, labels = row["name"], row["labels"] or ("",)
        ours = all(is_of_base(label, database.address.base) for label in labels)
        if not ours or not name.startswith("kgrag_") or (name in held and not constraints):
            continue
        database.write(partial(_drop_constraint if name in held else drop_index, name=name))


def _drop_constraint(tx: Transaction, *, name: str) -> None:
    tx.run("drop_constraint", name=name)
