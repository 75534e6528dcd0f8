"""Check each document's text, places and chunks."""

import sqlite3
from collections.abc import Iterator

from kgrag.store.contents import Problem
from kgrag.store.invariants import check_chunks, check_places
from kgrag.store.sqlite.documents import Documents
from kgrag.store.sqlite.statements import run


def check_documents(connection: sqlite3.Connection, documents: Documents) -> Iterator[Problem]:
    """Check documents one after the other: no more than one text is in memory."""
    for doc_id, characters in run(connection, "document_lengths").fetchall():
        document = documents.documents([doc_id])[0]
        if characters != len(document.text):
            detail = (
                f"says {characters} characters, its text has {len(document.text)}:"
                " run `kgrag repair`, or ingest the document again"
            )
            yield Problem("document-characters", doc_id, detail)
        yield from check_places(document, documents.headings([doc_id]).get(doc_id, []))
        yield from check_chunks(document, documents.all_chunks_of(doc_id))
