"""What a knowledge base lends to asking."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kgrag.embedding.embedder import Embedder
from kgrag.results import ScoredChunk
from kgrag.retrieval.filter import Filter, documents_within
from kgrag.retrieval.query import analyse
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings, for_language, settings_of
from kgrag.store.store import Store
from kgrag.types import Document, Fact, Heading, Query


class CurrentSettings:
    """How a knowledge base is searched for a question; read again when it has changed."""

    def __init__(self, store: Store, sizes: Callable[[], tuple[int, int]]) -> None:
        """Keep where settings come from.

        Args:
            store: The knowledge base.
            sizes: Gives the two sizes whose words are indexed, the smallest last.
        """
        self._store = store
        self._sizes = sizes
        self._read_at: tuple[int, Settings] | None = None

    def __call__(self) -> Settings:
        """Return the settings for a question in a language that the encoder reads."""
        counter = self._store.change_counter()
        if self._read_at is None or self._read_at[0] != counter:
            coarse, leaf = self._sizes()
            self._read_at = (counter, settings_of(self._store, leaf=leaf, coarse=coarse))
        return self._read_at[1]


@dataclass(frozen=True, slots=True)
class SearchContext:
    """A knowledge base as asking needs it.

    Attributes:
        store: Its storage.
        embedder: Gives its encoder; not called by systems that need none.
        settings: Gives how it is searched for a question in a language that the encoder reads.
        graph: What queries that a model wrote are run on: the server, where `store` is a copy.
        doc_ids: The documents that are searched; all for None.
    """

    store: Store
    embedder: Callable[[], Embedder]
    settings: Callable[[], Settings]
    graph: Store
    doc_ids: frozenset[str] | None = None

    def query(self, question: str) -> Query:
        """Return a question as the rules read it."""
        return analyse(question, known_places=self.settings().known_places)

    def search(
        self, query: Query, *, hypothetical: str = "", queried: Sequence[str] = ()
    ) -> Search:
        """Return a search for a question that was read; see `Search`."""
        return Search(
            query,
            store=self.store,
            embed=self.embedder,
            settings=for_language(self.settings(), query),
            hypothetical=hypothetical,
            queried=queried,
            doc_ids=self.doc_ids,
        )

    def within(self, wanted: Filter | None) -> "SearchContext":
        """Return the documents that a filter leaves, as a knowledge base; all for None.

        Raises:
            NotFoundError: If it leaves none.
        """
        if not wanted:
            return self
        return replace(self, doc_ids=documents_within(wanted, self.settings().cards))


@dataclass(frozen=True, slots=True)
class ResultsWithDocuments:
    """Results with what an answer needs of their documents.

    Attributes:
        results: Those whose document is still held, best first.
        documents: With text, by id.
        headings: By document.
    """

    results: list[ScoredChunk]
    documents: dict[str, Document]
    headings: dict[str, list[Heading]]

    @classmethod
    def of(cls, results: Sequence[ScoredChunk], store: Store) -> "ResultsWithDocuments":
        """Return results with their documents; some may be gone since they were found."""
        doc_ids = list(dict.fromkeys(r.chunk.doc_id for r in results))
        documents = {d.doc_id: d for d in store.documents(doc_ids)}
        headings = store.headings(list(documents)) if documents else {}
        return cls(
            [r for r in results if r.chunk.doc_id in documents],
            documents,
            {doc_id: headings.get(doc_id, []) for doc_id in documents},
        )


def facts_in(results: Sequence[ScoredChunk], store: Store, *, leaf: int) -> list[Fact]:
    """Return the facts stated in results: their evidence hangs on the leaves inside them.

    Args:
        results: Chunks of any size.
        store: The knowledge base.
        leaf: Size of the chunks that facts are tied to.
    """
    spans: dict[str, list[tuple[int, int]]] = {}
    for result in results:
        spans.setdefault(result.chunk.doc_id, []).append((result.chunk.start, result.chunk.end))
    parents = list(dict.fromkeys(r.chunk.parent_id or r.chunk.chunk_id for r in results))
    inside = [
        chunk.chunk_id
        for chunk in store.families(parents)
        if chunk.size == leaf
        and any(start < chunk.end and chunk.start < end for start, end in spans[chunk.doc_id])
    ]
    return store.facts_of_chunks(inside)
