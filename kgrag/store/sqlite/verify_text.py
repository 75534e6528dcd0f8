"""Check each document's text, places and chunks."""

import sqlite3
from collections.abc import Iterator

from kgrag.store.contents import Problem
from kgrag.store.invariants import check_chunks, check_places
from kgrag.store.sqlite.read import all_chunks, documents, headings


def check_documents(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check documents one after the other: no more than one text is in memory."""
    rows = connection.execute("SELECT doc_id, characters FROM documents ORDER BY doc_id")
    for doc_id, characters in rows.fetchall():
        document = documents(connection, [doc_id])[0]
        if characters != len(document.text):
            detail = (
                f"says {characters} characters, its text has {len(document.text)}:"
                " run `kgrag repair`, or ingest the document again"
            )
            yield Problem("document-characters", doc_id, detail)
        yield from check_places(document, headings(connection, doc_id))
        yield from check_chunks(document, all_chunks(connection, doc_id))
