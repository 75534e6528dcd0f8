"""What a document is told apart and filtered by, as plain properties of its node."""

import json
from collections.abc import Mapping

from kgrag.facets import NATIONAL, document_facets
from kgrag.store.neo4j.base import lock
from kgrag.store.neo4j.caption import document_caption
from kgrag.store.neo4j.connection import Database, Transaction
from kgrag.text import normalize_name
from kgrag.titles import document_name

DESCRIPTION = 1  # raise it when `described` comes out differently for the same document
# What pages and records tell of a document, by the names under which filters know it.
TOLD = ("issuer", "number", "date", "source", "author", "url", "province", "city", "industry")
_PAGE = 1000  # documents in a statement


def described(title: str, metadata: Mapping[str, str]) -> dict[str, object]:
    """Return the properties that follow from a document's title and metadata.

    All are named, so that one that a document has no more goes: None takes a property away.
    """
    name, facets = document_name(title), document_facets(title, metadata)
    return {
        "title": title,
        "name": name,
        "caption": document_caption(title, facets.places),
        "title_key": normalize_name(title),
        "name_key": normalize_name(name),
        "region": facets.places[0] if facets.places else NATIONAL,
        "regions": list(facets.regions),
        "year": facets.year,
        "kind": facets.kinds[-1] if facets.kinds else None,
        "kinds": list(facets.kinds),
        **{key: metadata.get(key) or None for key in TOLD},
    }


def describe_documents(database: Database) -> None:
    """Bring documents that an earlier kgrag described up to date, in one transaction."""
    if database.read("description")[0]["version"] != DESCRIPTION:
        database.write(_describe)


def _describe(tx: Transaction) -> None:
    lock(tx)
    last = ""
    while rows := tx.run("documents_to_describe", after=last, limit=_PAGE):
        last = rows[-1]["id"]
        tx.run_rows(
            "describe_documents",
            [
                {
                    "id": row["id"],
                    "properties": described(row["title"], json.loads(row["metadata"])),
                }
                for row in rows
            ],
        )
    tx.run("change_base", values={"description": DESCRIPTION})
