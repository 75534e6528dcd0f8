"""Where statements stand: document, headings above, the sentence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from kgrag.store.graph import Statement
from kgrag.tables.table import Source
from kgrag.text.headings import HeadingTree
from kgrag.text.words import sentence_around
from kgrag.types import Document, Heading

_BATCH = 64  # documents whose texts are held at once
_LONGEST = 300  # characters of a quote
_MORE = "…"

Spot = tuple[str, int, int]  # document, start, end


class QuotedStore(Protocol):
    """What sources are read from."""

    def documents(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with their texts."""
        ...

    def headings(self, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
        """Return the headings of documents, by document, in text order."""
        ...


def spot_of(statement: Statement) -> Spot:
    """Return where a statement stands."""
    return statement.doc_id, statement.start, statement.end


def quoted(store: QuotedStore, spots: Iterable[Spot]) -> dict[Spot, Source]:
    """Return places with what stands there, by place; those of documents that are gone left out.

    A few documents' texts are held at a time.
    """
    by_document: dict[str, list[Spot]] = {}
    for spot in dict.fromkeys(spots):
        by_document.setdefault(spot[0], []).append(spot)
    doc_ids = sorted(by_document)
    found: dict[Spot, Source] = {}
    for at in range(0, len(doc_ids), _BATCH):
        some = doc_ids[at : at + _BATCH]
        headings = store.headings(some)
        for document in store.documents(some):
            tree = HeadingTree(document.text, headings.get(document.doc_id, []))
            for spot in by_document[document.doc_id]:
                found[spot] = _source(document, tree, spot)
    return found


def sources_of(spots: Iterable[Spot], found: Mapping[Spot, Source]) -> tuple[Source, ...]:
    """Return the sources of places, each once, in their order."""
    return tuple(dict.fromkeys(found[spot] for spot in spots if spot in found))


def _source(document: Document, tree: HeadingTree, spot: Spot) -> Source:
    _, start, end = spot
    return Source(
        doc_id=document.doc_id,
        title=document.title,
        file=document.file,
        start=start,
        end=end,
        heading_path=tree.path(start, end),
        quote=_quote(document.text, start, end),
    )


def _quote(text: str, start: int, end: int) -> str:
    """Return the sentences in which a place lies, on one line; only the place if they are long."""
    first, last = sentence_around(text, start, end, longest=_LONGEST)
    line = " ".join(text[first:last].split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - len(_MORE)] + _MORE
