"""What an earlier kgrag stored is brought up to date.

In version 2 of the graph's shape documents had no typed metadata, in version 3 there were no typed
nodes and relationships. What follows from what a document says of itself, and these, have versions,
too.
"""

import json
from collections.abc import Mapping
from functools import partial

from kgrag.store.neo4j.base import lock
from kgrag.store.neo4j.connection import Database, Transaction
from kgrag.store.neo4j.document_knowledge import read_knowledge
from kgrag.store.neo4j.nodes import DESCRIPTION, stored
from kgrag.store.neo4j.typed import VERSION as TYPED
from kgrag.store.neo4j.typed import write_typed
from kgrag.store.texts import NOTHING, metadata_of

UNTYPED = 2  # the version in which documents had no typed metadata
UNDERIVED = 3  # the version without typed nodes and relationships
_DESCRIBED = 1000  # documents in a statement
_DERIVED = 50  # documents whose typed nodes are made in one transaction


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


def _change(tx: Transaction, *, values: Mapping[str, object]) -> None:
    tx.run("change_base", values=values)
