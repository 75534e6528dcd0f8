"""The cards of all documents, kept from one reading to the next."""

import sqlite3
import threading
from dataclasses import replace

from kgrag.store.sqlite.changes import Mark, changed_since, current_mark, is_known
from kgrag.store.sqlite.read import document_cards
from kgrag.types import Document


class Cards:
    """Reads again only what changed: searches look at all cards after every change."""

    def __init__(self) -> None:
        self._read_at: tuple[Mark, dict[str, Document]] | None = None
        self._lock = threading.Lock()

    def all(self, connection: sqlite3.Connection) -> list[Document]:
        """Return the cards of all documents that the connection sees, ordered by id."""
        mark = current_mark(connection)
        with self._lock:
            known = self._read_at
        if known is None or not is_known(connection, known[0]):
            cards = {card.doc_id: card for card in document_cards(connection)}
        else:
            cards = _renewed(known[1], connection, changed_since(connection, known[0], "chunks"))
        with self._lock:
            self._read_at = (mark, cards)
        return [cards[doc_id] for doc_id in sorted(cards)]


def _renewed(
    cards: dict[str, Document], connection: sqlite3.Connection, changed: list[str]
) -> dict[str, Document]:
    """Return cards with those of changed documents read again, and none of deleted ones.

    Sources come and go without a change of content, so that the files are read in any case.
    """
    gone = set(changed)
    renewed = {doc_id: card for doc_id, card in cards.items() if doc_id not in gone}
    renewed.update((card.doc_id, card) for card in document_cards(connection, changed))
    for doc_id, file in connection.execute("SELECT doc_id, min(source) FROM sources GROUP BY 1"):
        if renewed[doc_id].file != file:
            renewed[doc_id] = replace(renewed[doc_id], file=file)
    return renewed
