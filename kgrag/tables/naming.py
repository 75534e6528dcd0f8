"""Documents by a part of their name, and the day of issue by which they are told apart."""

from collections.abc import Sequence

from kgrag.errors import NotFoundError
from kgrag.language.text import normalize_name
from kgrag.retrieval.filter import document_called
from kgrag.types import Document

_SHOWN = 5  # of the documents that a part may mean, in an error


def document_meant(name: str, cards: Sequence[Document]) -> Document:
    """Return the one document with this id, file, title or, where none has, part of its title.

    Raises:
        NotFoundError: If no document, or more than one, is meant; names those.
    """
    bare = name.strip().removeprefix("《").removesuffix("》")
    try:
        return document_called(bare, cards)
    except NotFoundError:
        part = normalize_name(bare)
        found = [card for card in cards if part and part in normalize_name(card.title)]
        if not found or any(card.title == bare for card in found):
            raise
    if len(found) == 1:
        return found[0]
    told = "、".join(f"《{card.title}》({card.doc_id})" for card in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise NotFoundError(f"{name!r} may be any of {told}{more}; say more of the title, or the id")


def day_of_issue(card: Document) -> str | None:
    """Return when a document was issued, marked where its text only suggests it; None if unknown.

    >>> from kgrag.metadata import Metadata
    >>> told = Metadata(written="2021", inferred=("written",))
    >>> day_of_issue(Document("d", "t", "", "f", "txt", "h", metadata=told))
    '2021（推断）'
    """
    told = card.metadata
    if told.issued or "written" not in told.inferred:
        return told.issued or told.written or None
    return f"{told.written}（推断）"
