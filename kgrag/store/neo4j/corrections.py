"""Corrections as rows, and what becomes of them when a document takes another's place."""

from collections.abc import Iterable, Mapping

from kgrag.store.neo4j.connection import Transaction
from kgrag.store.texts import to_json


def carry_corrections(tx: Transaction, previous: str, doc_id: str, *, stays: bool) -> None:
    """Let a document have the corrections of another that it replaces, unless it has its own.

    Args:
        tx: The transaction.
        previous: The other document.
        doc_id: The document.
        stays: Whether the other keeps them, because another source holds it.
    """
    theirs = {row["field"]: row["value"] for row in tx.run("corrections_of", id=previous)}
    if not theirs or tx.run("corrections_of", id=doc_id):
        return
    tx.run_rows("put_corrections", correction_rows(doc_id, theirs))
    if not stays:
        tx.run("delete_corrections", ids=correction_ids(previous, theirs))


def correction_rows(doc_id: str, fields: Mapping[str, str]) -> list[dict[str, object]]:
    """Return the rows by which corrections of a document are stored."""
    return [
        {"id": to_json([doc_id, field]), "doc_id": doc_id, "field": field, "value": value}
        for field, value in sorted(fields.items())
    ]


def correction_ids(doc_id: str, fields: Iterable[str]) -> list[str]:
    """Return the ids of the nodes of corrections of a document."""
    return [to_json([doc_id, field]) for field in sorted(fields)]
