"""Find documents by name, and show their dates of issue."""

from collections.abc import Sequence
from contextlib import suppress

from kgrag.errors import NotFoundError
from kgrag.ids import entity_id
from kgrag.ingestion.self_names import DOCUMENT_TYPE
from kgrag.metadata import SILENT, Metadata
from kgrag.retrieval.filter import document_called, document_meant
from kgrag.store.likeness import not_called
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id
from kgrag.text.leading_region import leading_region
from kgrag.text.messages import message
from kgrag.text.title_keys import (
    cited_name,
    issuer_before,
    same_organ,
    same_work,
    without_edition,
)
from kgrag.text.words import normalize_name
from kgrag.types import Document

_LIKE = 50  # names that are looked at


def cited_as(store: Store, name: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stored documents that a name denotes, and all entities of that title.

    中华人民共和国 is optional in names of laws, and a catalogue includes all its editions unless
    the name has one; a title without place may be a province's only if it names the issuer. Where
    nothing is called so, titles that are cited and contain the name, else the one stored document
    whose title has its words.

    Args:
        store: The knowledge base.
        name: Id, file, file name or title of a stored or cited document, with or without 《》.

    Raises:
        NotFoundError: If nothing is called so; lists similar names.
    """
    title, cards = name.strip().removeprefix("《").removesuffix("》"), store.document_cards()
    called = _called_so(store, title, cards)
    if called[1]:
        return called
    like = [e for e, _ in store.search_entities(title, top_k=_LIKE)]
    named = [e for e in store.entities(like) if e.type == DOCUMENT_TYPE]
    within = [e.entity_id for e in named if normalize_name(title) in normalize_name(e.name)]
    if within:
        return frozenset(), frozenset(within)
    with suppress(NotFoundError):
        return _called_so(store, document_meant(title, cards).doc_id, cards)
    held = [text for c in cards for text in (c.title, c.metadata.number)]
    what = message("document that is held or cited")
    raise not_called(what, title, [*held, *(e.name for e in named)])


def _called_so(
    store: Store, name: str, cards: Sequence[Document]
) -> tuple[frozenset[str], frozenset[str]]:
    meant, title = None, name
    with suppress(NotFoundError):
        meant = document_called(name, cards)
        title = meant.title
    held = {c.doc_id: node_id(c.title, c.metadata) for c in cards if _is_one(c, title, meant)}
    forms = dict.fromkeys((without_edition(cited_name(title)), cited_name(title)))
    like = [e for form in forms for e, _ in store.search_entities(form, top_k=_LIKE)]
    whose = meant.metadata if meant else SILENT
    cited = {
        e.entity_id
        for e in store.entities(like)
        if e.type == DOCUMENT_TYPE
        and e.entity_id == entity_id(e.name)
        and same_work(title, e.name)
        and _fits(e.name, whose)
    }
    return frozenset(held), frozenset({*held.values()} | cited)


def _is_one(card: Document, title: str, meant: Document | None) -> bool:
    """Return whether a stored document is the given one, or another edition of it."""
    if meant is not None and card.metadata.owner != meant.metadata.owner:
        return False
    titles = (t for t in (card.title, card.metadata.notice) if t)
    return card is meant or any(same_work(title, t) and _fits(title, card.metadata) for t in titles)


def _fits(title: str, told: Metadata) -> bool:
    """Return whether a title fits a document with these metadata, by its place or issuer."""
    issuer = issuer_before(title)
    if not told.regions or leading_region(title)[1]:
        return True
    return any(same_organ(issuer, organ) for organ in told.issuers) if issuer else False


def day_of_issue(card: Document) -> str | None:
    """Return the date of issue, marked if inferred; None if unknown.

    >>> from kgrag.metadata import Metadata
    >>> told = Metadata(written="2021", inferred=("written",))
    >>> day_of_issue(Document("d", "t", "", "f", "txt", "h", metadata=told))
    '2021（推断）'
    """
    day = card.metadata.issue_date
    return f"{day}（推断）" if day and not card.metadata.sure_year else day or None
