"""A view of a store that is limited to some of its documents."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from kgrag.ids import document_of
from kgrag.store.graph import StatedTriple, Stating
from kgrag.store.search import T
from kgrag.store.store import SearchedStore
from kgrag.types import Fact, Heading
from kgrag.vectors.vector import Vector

_ALL = 1_000_000  # documents that bear a title: looked at before those that are searched are taken


class _OfDocument(Protocol):
    """A value that belongs to one document."""

    @property
    def doc_id(self) -> str:
        """Id of the document."""
        ...


P = ParamSpec("P")
R = TypeVar("R")
D = TypeVar("D", bound=_OfDocument)
Read = Callable[Concatenate[SearchedStore, P], R]
FilteredRead = Callable[Concatenate["FilteredStore", P], R]


def _own(read: Read[P, list[D]]) -> FilteredRead[P, list[D]]:
    """Wrap a read: results of other documents are dropped."""

    @wraps(read)
    def filtered(self: "FilteredStore", /, *args: P.args, **options: P.kwargs) -> list[D]:
        found = _of_the_whole(self, read)(*args, **options)
        return [item for item in found if item.doc_id in self.doc_ids]

    return filtered


def _narrowed(read: Read[P, R]) -> FilteredRead[P, R]:
    """Wrap a read with a `doc_ids` argument, which is intersected with the documents."""

    @wraps(read)
    def filtered(self: "FilteredStore", /, *args: P.args, **options: P.kwargs) -> R:
        asked = cast("Collection[str] | None", options.get("doc_ids"))
        options["doc_ids"] = self.doc_ids if asked is None else self.doc_ids.intersection(asked)
        return _of_the_whole(self, read)(*args, **options)

    return filtered


def _stated(read: FilteredRead[P, list[Fact]]) -> FilteredRead[P, list[Fact]]:
    """Wrap a read of facts: those that the documents state, with their evidence there."""

    @wraps(read)
    def filtered(self: "FilteredStore", /, *args: P.args, **options: P.kwargs) -> list[Fact]:
        here = [
            replace(f, evidence=tuple(e for e in f.evidence if e.doc_id in self.doc_ids))
            for f in read(self, *args, **options)
        ]
        return [fact for fact in here if fact.evidence]

    return filtered


def _whole(read: Read[P, R]) -> FilteredRead[P, R]:
    """Pass a read of the whole store through."""

    @wraps(read)
    def unfiltered(self: "FilteredStore", /, *args: P.args, **options: P.kwargs) -> R:
        return _of_the_whole(self, read)(*args, **options)

    return unfiltered


def _of_the_whole(filtered: "FilteredStore", read: Read[P, R]) -> Callable[P, R]:
    found: Callable[P, R] = getattr(filtered.whole, read.__name__)
    return found


class FilteredStore:
    """The reads that retrieval uses, limited to some documents of a store.

    Every retriever is limited before it ranks, so that better hits elsewhere do not shorten its
    results. Scores are unchanged: inverse document frequencies are of the whole store. Reads that
    are not declared here are unavailable.

    Attributes:
        whole: The store.
        doc_ids: The documents.
    """

    def __init__(self, whole: SearchedStore, doc_ids: Collection[str]) -> None:
        self.whole = whole
        self.doc_ids = frozenset(doc_ids)

    document_cards = _own(SearchedStore.document_cards)
    chunks = _own(SearchedStore.chunks)
    chunks_of = _own(SearchedStore.chunks_of)
    children = _own(SearchedStore.children)
    families = _own(SearchedStore.families)
    summaries = _own(SearchedStore.summaries)

    search_words = _narrowed(SearchedStore.search_words)
    search_phrase = _narrowed(SearchedStore.search_phrase)
    search_vectors = _narrowed(SearchedStore.search_vectors)
    begin_search_vectors = _narrowed(SearchedStore.begin_search_vectors)
    triples_around = _narrowed(SearchedStore.triples_around)
    facts_around = _stated(_narrowed(SearchedStore.facts_around))
    facts = _stated(_whole(SearchedStore.facts))

    # Entities belong to no document.
    find_entities = _whole(SearchedStore.find_entities)
    entity_degrees = _whole(SearchedStore.entity_degrees)

    def headings(self, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
        """Return the headings of those documents that are in the view."""
        return self.whole.headings([doc_id for doc_id in doc_ids if doc_id in self.doc_ids])

    def side_by_side(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Run functions concurrently; return their results in order."""
        return self.whole.side_by_side(works)

    def find_documents(self, name: str, *, top_k: int) -> list[str]:
        """Return the documents whose title contains a name."""
        found = self.whole.find_documents(name, top_k=_ALL)
        return [doc_id for doc_id in found if doc_id in self.doc_ids][:top_k]

    def similarities(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of the documents' nodes that have a vector.

        A fact that one of them states has its best vector, from the wording of any document.
        """
        own = {node for node in node_ids if document_of(node) in self.doc_ids}
        others = [node for node in node_ids if node not in own]
        if others:  # the ids of facts and summaries name no document
            own.update(fact for fact, _ in self.stating_chunks(others))
            own.update(summary.summary_id for summary in self.summaries(others))
        return self.whole.similarities(vector, [node for node in node_ids if node in own])

    def stating_chunks(self, fact_ids: Sequence[str]) -> list[Stating]:
        """Return the evidence of facts in the documents."""
        stating = self.whole.stating_chunks(fact_ids)
        return [(fact, chunk) for fact, chunk in stating if document_of(chunk) in self.doc_ids]

    def stated_triples(self, fact_ids: Sequence[str]) -> list[StatedTriple]:
        """Return facts that the documents state, with the chunks there that state them."""
        stated = (
            (triple, tuple(c for c in chunks if document_of(c) in self.doc_ids))
            for triple, chunks in self.whole.stated_triples(fact_ids)
        )
        return [(triple, chunks) for triple, chunks in stated if chunks]
