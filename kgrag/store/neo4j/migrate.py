"""What an earlier kgrag stored is brought up to date.

In version 1 of the graph's shape our nodes had no labels of their own, in version 2 documents had
no typed metadata, in version 3 there were no typed nodes and relationships. What follows from what
a document says of itself, and these, have versions, too.
"""

import json
import re
from collections.abc import Mapping
from functools import partial

from kgrag.store.neo4j.base import lock
from kgrag.store.neo4j.connection import Database, Row, Transaction
from kgrag.store.neo4j.document_knowledge import read_knowledge
from kgrag.store.neo4j.nodes import DESCRIPTION, stored
from kgrag.store.neo4j.statements import statements_of
from kgrag.store.neo4j.typed import VERSION as TYPED
from kgrag.store.neo4j.typed import write_typed
from kgrag.store.texts import NOTHING, metadata_of

OLD = 1  # the version in which our nodes had no labels of their own
UNTYPED = 2  # the version in which documents had no typed metadata
UNDERIVED = 3  # the version without typed nodes and relationships
_PAGE = 10_000  # nodes that get their labels in one transaction
_DESCRIBED = 1000  # documents in a statement
_DERIVED = 50  # documents whose typed nodes are made in one transaction
_CONSTRAINTS = frozenset(
    f"{kind}_id"
    for kind in (
        *("knowledge_base", "setting", "document", "document_layout", "source", "chunk", "summary"),
        *("entity", "embedding", "fact_vector", "terms", "related"),
        *("staged_document", "staged_embedding"),
    )
)
_INDEXES = re.compile(
    r"(chunk|summary|document|fact)_embedding|(chunk|summary|document|fact_vector)_embedding_key"
    r"|(chunk|summary|source|terms|fact_vector)_document|chunk_size|document_(name|title)_key"
    r"|document_(year|region|kind)|fact_vector_fact|entity_normalized(_text)?|chunk_text"
    r"|entity_names|terms_\d+"
)
_LABELS = re.compile(
    r"KnowledgeBase|Setting|Document(Layout)?|Source|Chunk|Summary|Entity|RELATED|FactVector"
    r"|Terms\d*|(Chunk|Summary|Document|Fact|Staged)?Embedding|StagedDocument"
)


def is_old(database: Database) -> bool:
    """Return whether a database has a knowledge base of version 1, brought up to date or not.

    Only the one without a name can be so old.
    """
    return not database.address.base and bool(database.read("old_base"))


def take(database: Database) -> None:
    """Begin: an older kgrag finds no knowledge base from now on."""
    database.write(lambda tx: tx.run("take_old_base"))


def migrate(database: Database, version: int) -> None:
    """Give our nodes their labels, and make constraints and indexes on these.

    Nodes of other programs stay as they are. Where it is cut off, it is done again from the
    beginning, which leaves the same.

    Args:
        database: Holds a knowledge base of version 1.
        version: That it has afterwards.
    """
    _drop(database, constraints=False)  # or every label is put into them one by one
    if not database.read("is_labelled")[0]["labelled"]:
        for name in statements_of("migrate"):
            if name.startswith("label_"):
                _label(database, name)
        database.write(partial(_change, values={"labelled": True}))
    _drop(database, constraints=True)
    for name in statements_of("schema"):
        database.define(name)
    for size in database.read("base")[0]["sizes"]:
        database.define("index_terms", size=size)
    database.await_indexes()
    values: dict[str, object] = {"version": version, "labelled": None, "indexed": 0}
    database.write(partial(_change, values=values))


def describe_documents(database: Database, version: int) -> None:
    """Bring documents that an earlier kgrag described up to date, in one transaction.

    Args:
        database: Holds a knowledge base of version 2 or later.
        version: That it has afterwards.
    """
    if database.read("description")[0]["version"] != DESCRIPTION:
        database.write(partial(_describe, version=version))


def _describe(tx: Transaction, *, version: int) -> None:
    lock(tx)
    last = ""
    while rows := tx.run("documents_to_describe", after=last, limit=_DESCRIBED):
        last = rows[-1]["id"]
        told = [(json.loads(r["properties"]), metadata_of(r["metadata"] or NOTHING)) for r in rows]
        tx.run_rows(
            "describe_documents",
            [
                {
                    "id": row["id"],
                    "properties": stored(row["title"], properties, metadata),
                }
                for row, (properties, metadata) in zip(rows, told, strict=True)
            ],
        )
    # What references lead to may be called otherwise now, so that typed nodes are made anew, too.
    values = {"description": DESCRIPTION, "version": version, "typed": None}
    tx.run("change_base", values=values)


def derive_typed(database: Database, version: int) -> None:
    """Make the typed nodes and relationships of documents that an earlier kgrag stored.

    Some documents at a time; where it is cut off, it is done again from the beginning.

    Args:
        database: Holds a knowledge base of version 3 or later, with its constraints.
        version: That it has afterwards.
    """
    state = database.read("typed_version")[0]
    if (state["typed"], state["version"]) == (TYPED, version):
        return
    after: str | None = ""
    while after is not None:
        after = database.write(partial(_derive_some, after=after))
    database.write(partial(_change, values={"typed": TYPED, "version": version}))


def _derive_some(tx: Transaction, *, after: str) -> str | None:
    """Make those of some documents; return the last of them, None where there were none."""
    base = lock(tx)
    rows = tx.run("documents_after", after=after, limit=_DERIVED)
    for row in rows:
        write_typed(tx, base, row["id"], read_knowledge(tx.run, row["id"]))
    return rows[-1]["id"] if rows else None


def _label(database: Database, name: str) -> None:
    after = ""
    while True:
        rows = database.write(partial(_page, name=name, after=after))
        if rows[0]["last"] is None:
            return
        after = rows[0]["last"]


def _page(tx: Transaction, *, name: str, after: str) -> list[Row]:
    return tx.run(name, after=after, limit=_PAGE)


def _change(tx: Transaction, *, values: Mapping[str, object]) -> None:
    tx.run("change_base", values=values)


def _drop(database: Database, *, constraints: bool) -> None:
    """Drop what version 1 had, one at a time; what others have on other labels stays."""
    for row in database.read("index_states"):
        name, labels = row["name"], row["labels"] or ()
        if not labels or not all(_LABELS.fullmatch(label) for label in labels):
            continue
        if constraints and name in _CONSTRAINTS:
            database.write(partial(drop_constraint, name=name))
        elif not constraints and _INDEXES.fullmatch(name):
            database.write(partial(drop_index, name=name))


def drop_constraint(tx: Transaction, *, name: str) -> None:
    """Drop a constraint; without one of that name, nothing happens."""
    tx.run("drop_constraint", name=name)


def drop_index(tx: Transaction, *, name: str) -> None:
    """Drop an index; without one of that name, nothing happens."""
    tx.run("drop_index", name=name)
