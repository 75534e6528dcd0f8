"""One question on its way through the retrievers: what they share and compute once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from kgrag.embedding.embedder import Embedder
from kgrag.retrieval.entities import Anchor, question_entities
from kgrag.retrieval.settings import Settings
from kgrag.store.store import Hit, Store, Vector
from kgrag.types import Query

_MOST_TITLED = 20  # a quoted title that more documents bear names none of them


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one route found.

    Attributes:
        hits: (chunk id, score), best first, no id twice.
        reasons: How a chunk came, by id, in words for the user.
    """

    hits: tuple[Hit, ...]
    reasons: Mapping[str, str]


class Search:
    """A query with the store and encoder to answer it; computes shared values once.

    The encoder is opened when a route first asks for the question's vector: lexical systems
    work without one.

    Attributes:
        query: The question as read.
        store: The knowledge base.
        settings: How to search.
    """

    def __init__(
        self, query: Query, *, store: Store, embed: Callable[[], Embedder], settings: Settings
    ) -> None:
        self.query = query
        self.store = store
        self._embed = embed
        self.settings = settings

    @cached_property
    def vector(self) -> Vector:
        """Return the question's vector, `float32[dim]`."""
        vector: Vector = self._embed().embed([self.query.text], "query")[0]
        return vector

    @cached_property
    def anchors(self) -> list[Anchor]:
        """Return the entities that the question names, the weightiest first."""
        return question_entities(self.query, self.store)

    @cached_property
    def titled(self) -> dict[str, str]:
        """Return documents whose title the question quotes: {doc_id: the quoted title}."""
        found: dict[str, str] = {}
        for title in self.query.titles:
            doc_ids = self.store.find_documents(title, top_k=_MOST_TITLED + 1)
            if len(doc_ids) <= _MOST_TITLED:
                found.update({doc_id: title for doc_id in doc_ids if doc_id not in found})
        return found

    @cached_property
    def terms(self) -> dict[str, float]:
        """Return the question's words with how often each stands in it."""
        terms: dict[str, float] = {}
        for word in self.query.words:
            terms[word] = terms.get(word, 0.0) + 1.0
        return terms
