"""Some documents of a knowledge base, searched as if there were no others."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from kgrag.ids import document_of
from kgrag.store.graph import StatedTriple, Stating, Triple
from kgrag.store.search import T
from kgrag.store.store import SearchedStore
from kgrag.types import Chunk, Document, Entity, Fact, NodeKind, Summary, TextField
from kgrag.vectors.vector import Hit, Vector

_ALL = 1_000_000  # documents that bear a title: looked at before those that are searched are taken


class Within:
    """What searches may ask of a store, held to some of its documents.

    Every route is held before it ranks, so that nothing better elsewhere shortens its results.
    Scores are those of the whole: how rare a word is does not depend on what is searched.

    Attributes:
        doc_ids: The documents.
    """

    def __init__(self, store: SearchedStore, doc_ids: Collection[str]) -> None:
        self.doc_ids = frozenset(doc_ids)
        self._store = store

    # documents and chunks

    def document_cards(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return the cards of the documents."""
        return [c for c in self._store.document_cards(doc_ids) if c.doc_id in self.doc_ids]

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return chunks of the documents."""
        return self._own(self._store.chunks(chunk_ids))

    def children(self, parent_ids: Sequence[str], *, size: int) -> list[Chunk]:
        """Return one group of children."""
        return self._own(self._store.children(parent_ids, size=size))

    def families(self, parent_ids: Sequence[str]) -> list[Chunk]:
        """Return parents with all their children."""
        return self._own(self._store.families(parent_ids))

    def summaries(self, summary_ids: Sequence[str] | None = None) -> list[Summary]:
        """Return summaries of the documents."""
        return [s for s in self._store.summaries(summary_ids) if s.doc_id in self.doc_ids]

    # searching

    def find_documents(self, name: str, *, top_k: int) -> list[str]:
        """Return those of the documents whose title contains a name."""
        found = self._store.find_documents(name, top_k=_ALL)
        return [doc_id for doc_id in found if doc_id in self.doc_ids][:top_k]

    def search_words(
        self,
        terms: Mapping[str, float],
        *,
        field: TextField,
        size: int,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks by BM25 of weighted words."""
        return self._store.search_words(
            terms, field=field, size=size, top_k=top_k, doc_ids=self._both(doc_ids)
        )

    def search_phrase(
        self,
        phrase: str,
        *,
        field: TextField,
        size: int,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks that hold a phrase as one."""
        return self._store.search_phrase(
            phrase, field=field, size=size, top_k=top_k, doc_ids=self._both(doc_ids)
        )

    def search_vectors(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return the nearest nodes by cosine."""
        return self._store.search_vectors(
            vector, kind=kind, top_k=top_k, doc_ids=self._both(doc_ids)
        )

    def begin_search_vectors(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> Callable[[], list[Hit]]:
        """Begin `search_vectors` while the caller does other things."""
        return self._store.begin_search_vectors(
            vector, kind=kind, top_k=top_k, doc_ids=self._both(doc_ids)
        )

    def side_by_side(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Return what each of some works returns."""
        return self._store.side_by_side(works)

    def similarities(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of the documents' nodes that have a vector.

        Of a fact that one of them states, the best of its vectors, in the words of any document.
        """
        own = {node for node in node_ids if document_of(node) in self.doc_ids}
        others = [node for node in node_ids if node not in own]
        if others:  # the ids of facts and summaries name no document
            own.update(fact for fact, _ in self.stating_chunks(others))
            own.update(summary.summary_id for summary in self.summaries(others))
        return self._store.similarities(vector, [node for node in node_ids if node in own])

    # the graph

    def find_entities(self, names: Sequence[str]) -> list[Entity]:
        """Return entities by name; they belong to no document."""
        return self._store.find_entities(names)

    def entity_degrees(self, entity_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of facts around each entity in the whole knowledge base."""
        return self._store.entity_degrees(entity_ids)

    def facts_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Fact]:
        """Return facts around entities that the documents state, with their evidence there."""
        within = self._both(doc_ids)
        return self._stated(self._store.facts_around(entity_ids, limit=limit, doc_ids=within))

    def triples_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Triple]:
        """Return facts around entities that the documents state."""
        within = self._both(doc_ids)
        return self._store.triples_around(entity_ids, limit=limit, doc_ids=within)

    def stating_chunks(self, fact_ids: Sequence[str]) -> list[Stating]:
        """Return the evidence of facts in the documents."""
        stating = self._store.stating_chunks(fact_ids)
        return [(fact, chunk) for fact, chunk in stating if document_of(chunk) in self.doc_ids]

    def stated_triples(self, fact_ids: Sequence[str]) -> list[StatedTriple]:
        """Return facts that the documents state, with the chunks there that do."""
        stated = (
            (triple, tuple(c for c in chunks if document_of(c) in self.doc_ids))
            for triple, chunks in self._store.stated_triples(fact_ids)
        )
        return [(triple, chunks) for triple, chunks in stated if chunks]

    def facts(self, fact_ids: Sequence[str]) -> list[Fact]:
        """Return facts that the documents state, with their evidence there."""
        return self._stated(self._store.facts(fact_ids))

    def _both(self, doc_ids: Collection[str] | None) -> frozenset[str]:
        return self.doc_ids if doc_ids is None else self.doc_ids.intersection(doc_ids)

    def _own(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        return [c for c in chunks if c.doc_id in self.doc_ids]

    def _stated(self, facts: Sequence[Fact]) -> list[Fact]:
        here = [
            replace(f, evidence=tuple(e for e in f.evidence if e.doc_id in self.doc_ids))
            for f in facts
        ]
        return [fact for fact in here if fact.evidence]
