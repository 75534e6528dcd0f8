"""State of one search, shared by the retrievers."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np

from kgrag.embedding.embedder import Embedder
from kgrag.ids import document_of
from kgrag.results import Reason
from kgrag.retrieval.entities import Anchor, question_entities
from kgrag.retrieval.filtered_store import FilteredStore
from kgrag.retrieval.named import with_documents
from kgrag.retrieval.settings import Settings
from kgrag.store.graph import StatedTriple
from kgrag.store.store import SearchedStore
from kgrag.text.indicators import is_indicator
from kgrag.text.leading_region import leading_region
from kgrag.text.official_terms import OfficialTerms, official_terms, wordings
from kgrag.text.places import with_places_inside
from kgrag.text.regions import regions_named
from kgrag.text.words import words
from kgrag.types import DocIds, Entity, NodeKind, Query
from kgrag.vectors.vector import Hit, Vector

_MOST_TITLED = 20  # a quoted title that more documents bear names none of them
_LEAST_REST = 6  # characters that a title needs besides its place
# Weight of a keyword's word that the question does not have; its own words weigh 1
# (benchmarks/decisions.md).
_EXPANDED = 0.5


Detail = TypeVar("Detail")


class Reasons(Mapping[str, str], Generic[Detail]):
    """Reasons by chunk id, formatted on access: most are never shown."""

    def __init__(self, details: Mapping[str, Detail], word: Callable[[Detail], str]) -> None:
        self._details = details
        self._word = word

    def __getitem__(self, chunk_id: str) -> str:
        return self._word(self._details[chunk_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._details)

    def __len__(self) -> int:
        return len(self._details)


def by_vector(cosine: float) -> Reason:
    """Return the reason of a chunk that is similar to the question."""
    return Reason("vector", score=f"{cosine:.2f}")


@dataclass(frozen=True, slots=True)
class Ranking:
    """Result of one retriever.

    Attributes:
        hits: (chunk id, score), best first, no id twice.
        reasons: By chunk id, as text for the user.
        unseen_score_bound: Upper bound of the score of chunks outside the hits; infinite if
            unknown. An approximate index may violate it.
    """

    hits: tuple[Hit, ...]
    reasons: Mapping[str, str]
    unseen_score_bound: float = math.inf


class Search:
    """A query with store and encoder; caches what retrievers share.

    The encoder is opened when a retriever first needs the question's vector: lexical systems work
    without one. Keywords and critical information are optional.

    Attributes:
        query: The parsed question.
        store: The knowledge base, or a view of some of its documents.
        settings: How to search.
        official: Whether colloquial terms are expanded (`kgrag.text.official_terms`).

    With `doc_ids`, every retriever is limited to these documents before it ranks.
    """

    def __init__(
        self,
        query: Query,
        *,
        store: SearchedStore,
        embed: Callable[[], Embedder],
        settings: Settings,
        doc_ids: DocIds = None,
        official: bool = False,
    ) -> None:
        if doc_ids is not None:
            store = FilteredStore(store, doc_ids)
            nodes = {node: d for node, d in settings.nodes.items() if d in store.doc_ids}
            settings = replace(settings, nodes=nodes)
            query = replace(
                query,
                named=tuple(
                    (name, tuple(d for d in ids if d in store.doc_ids)) for name, ids in query.named
                ),
            )
        self.query = query
        self.store = store
        self._embed = embed
        self.settings = settings
        self.official = official
        self._begun: dict[tuple[NodeKind, int], Callable[[], list[Hit]]] = {}
        self._nearest: dict[tuple[NodeKind, int], dict[str, float]] = {}
        self._nearest_facts: dict[frozenset[str] | None, list[tuple[StatedTriple, float]]] = {}

    def asked(self, query: Query) -> "Search":
        """Return a search for another question in the same documents."""
        query = with_documents(query, titles=self.settings.titles, store=self.store)
        return self._with(query=query)

    def within(self, doc_ids: frozenset[str]) -> "Search":
        """Return this search in some of its documents only."""
        search = self._with(doc_ids=doc_ids)
        if "vector" in self.__dict__:
            search.__dict__["vector"] = self.vector
        return search

    def with_official_terms(self) -> "Search":
        """Return a search that is expanded by official terms."""
        if self.official or not official_terms(self.query.text):
            return self
        return self._with(official=True)

    def _with(self, **changes: Any) -> "Search":
        own: dict[str, Any] = {
            "query": self.query,
            "store": self.store,
            "embed": self._embed,
            "settings": self.settings,
            "official": self.official,
        }
        return Search(**own | changes)

    @cached_property
    def _official_terms(self) -> Sequence[OfficialTerms]:
        return official_terms(self.query.text) if self.official else ()

    def read_as(self, text: str) -> tuple[Reason, ...]:
        """Return the expansions of colloquial terms whose official term is in a text."""
        return tuple(
            Reason("official", word=self.query.text[start:end], what=term)
            for start, end, terms in self._official_terms
            for term in [next((term for term in terms if term in text), None)]
            if term
        )

    @cached_property
    def vector(self) -> Vector:
        """Return the question's vector, `float32[dim]`.

        Critical information is appended to the question: QCG-Rerank, section 3.2, eq. 2, with
        n = 1. The paper repeats both, 3 times for its Chinese data (Table 6); over policies once
        was best (benchmarks/decisions.md), and fewer questions exceed the encoder's limit.

        The vector of the question in official terms is averaged in, so that a wrong expansion has
        at most half the weight. An English question of which few words were translated stays as it
        is for an encoder that reads English.
        """
        own = self.query.text
        if self.query.unread and any(c.casefold()[:2] == "en" for c in self.settings.languages):
            own = self.query.question
        asked = wordings(own) if self.official else [own]
        texts = [" ".join(filter(None, (text, self.query.critical))) for text in asked]
        vectors = list(self._embed().embed(texts, "query"))
        return vectors[0] if len(vectors) == 1 else _mean(vectors)

    def cosines(self, texts: Sequence[str]) -> list[float]:
        """Return the cosine of each text with the question."""
        if not texts:
            return []
        return [float(c) for c in self._embed().embed(texts, "passage") @ self.vector]

    def deepen(self, depth: int) -> None:
        """Raise the number of hits per retriever to at least `depth`."""
        if depth > self.settings.depth:
            self.settings = replace(self.settings, depth=depth)

    def begin(self, kind: NodeKind, *, top_k: int) -> None:
        """Start the search for the nearest nodes, once; `nearest` waits for it."""
        if (kind, top_k) in self._begun:
            return
        end = self.store.begin_search_vectors(self.vector, kind=kind, top_k=top_k)
        self._begun[kind, top_k] = end

    def nearest(self, kind: NodeKind, *, top_k: int, doc_ids: DocIds = None) -> dict[str, float]:
        """Return the nearest nodes with their cosines, best first; of `doc_ids` only, if given."""
        if doc_ids is not None:
            found = self.store.search_vectors(self.vector, kind=kind, top_k=top_k, doc_ids=doc_ids)
            return dict(found)
        if (kind, top_k) not in self._nearest:
            end = self._begun.pop((kind, top_k), None)
            hits = end() if end else self.store.search_vectors(self.vector, kind=kind, top_k=top_k)
            self._nearest[kind, top_k] = dict(hits)
        return self._nearest[kind, top_k]

    def nearest_facts(
        self, *, top_k: int, doc_ids: frozenset[str] | None = None
    ) -> list[tuple[StatedTriple, float]]:
        """Return the nearest facts with the chunks that state them, and their cosines.

        Of `doc_ids` only, if given.
        """
        if doc_ids not in self._nearest_facts:
            cosines = self.nearest("fact", top_k=top_k, doc_ids=doc_ids)
            self._nearest_facts[doc_ids] = [
                ((fact, _within(stating, doc_ids)), cosines[fact.fact_id])
                for fact, stating in self.store.stated_triples(list(cosines))
            ]
        return self._nearest_facts[doc_ids]

    @cached_property
    def anchors(self) -> list[Anchor]:
        """Return the entities that question or keywords name, by falling weight.

        Documents quoted by another title than that of their node come last.
        """
        named = question_entities(self.query, self.store)
        if not self.titled:
            return named
        known = {anchor.entity.entity_id for anchor in named}
        quoted = [
            Anchor(Entity(node, title, "document"), 1.0, self.query.text.find(title))
            for node, doc_id in self.settings.nodes.items()
            if node not in known and (title := self.titled.get(doc_id))
        ]
        return [*named, *quoted]

    @cached_property
    def indicators(self) -> tuple[str, ...]:
        """Return the indicators that the question names and some document has a figure of."""
        named = (a.entity for a in self.anchors if a.at >= 0 and a.entity.type == "target")
        return tuple(entity.name for entity in named if is_indicator(entity.name))

    @cached_property
    def cities(self) -> frozenset[str]:
        """Return the cities of the provinces that the question names."""
        return with_places_inside(self.query.places) - self.query.places

    @cached_property
    def titled(self) -> dict[str, str]:
        """Return documents whose title the question quotes or names: {doc_id: that title}.

        A document about the place with which the quoted title begins may omit it from its own:
        《天津市关于…的措施》 is 关于…的措施 of 天津.
        """
        found: dict[str, str] = {}
        named = dict(self.query.named)
        for title in self.query.titles:
            if named.get(title):
                found.update(dict.fromkeys(named[title], title))
                continue
            doc_ids = self.store.find_documents(title, top_k=_MOST_TITLED + 1)
            if not doc_ids:
                doc_ids = self._titled_without_place(title)
            if len(doc_ids) <= _MOST_TITLED:
                found.update({doc_id: title for doc_id in doc_ids if doc_id not in found})
        return found

    def _titled_without_place(self, title: str) -> list[str]:
        """Return documents about the place that a title begins with, entitled by the rest of it."""
        names, end = leading_region(title)
        rest = title[end:].strip()
        if not names or len(rest) < _LEAST_REST:
            return []
        asked = {region.short for region in regions_named(names[-1])}
        found = self.store.find_documents(rest, top_k=_MOST_TITLED + 1)
        return [d for d in found if asked & self.settings.places.get(d, frozenset())]

    @cached_property
    def terms(self) -> dict[str, float]:
        """Return the words to search with their weights.

        Words of the question weigh by their frequency in it, those of keywords alone less:
        expansion at full weight changes the question.
        """
        terms: dict[str, float] = {}
        for word in self.query.words:
            terms[word] = terms.get(word, 0.0) + 1.0
        for keyword in self.query.keywords:
            for word in words(keyword):
                terms.setdefault(word, _EXPANDED)
        for _, _, official in self._official_terms:
            for word in chain.from_iterable(map(words, official)):
                terms.setdefault(word, _EXPANDED)
        return terms


def _within(chunk_ids: Sequence[str], doc_ids: DocIds) -> tuple[str, ...]:
    return tuple(c for c in chunk_ids if doc_ids is None or document_of(c) in doc_ids)


def _mean(vectors: Sequence[Vector]) -> Vector:
    """Return the mean of vectors, scaled to their length; the first one if the mean is 0."""
    mean: Vector = np.sum(vectors, axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    return mean / np.float32(length) if length else vectors[0]
