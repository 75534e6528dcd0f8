"""What a knowledge base lends to asking."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kgrag.answering.copies import each_once
from kgrag.answering.dated import AsOf, as_of_asked, in_force_first
from kgrag.embedding.embedder import Embedder
from kgrag.errors import NotFoundError
from kgrag.results import Context, ScoredChunk
from kgrag.retrieval.bilingual import read
from kgrag.retrieval.filter import Filter, documents_within
from kgrag.retrieval.grim import Pipeline, Reranker
from kgrag.retrieval.named import with_documents
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings, for_language, settings_of
from kgrag.retrieval.several import retrieve_several
from kgrag.status import mark
from kgrag.store.store import Store
from kgrag.tables.in_force import InForce
from kgrag.types import Document, Fact, Heading, Language, Query


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


class CurrentInForce:
    """What is in force in a knowledge base; read again when it has changed."""

    def __init__(self, store: Store) -> None:
        """Keep the knowledge base."""
        self._store = store
        self._read_of: tuple[Settings, InForce] | None = None

    def __call__(self, settings: Callable[[], Settings]) -> InForce:
        """Return what is in force at any date.

        Args:
            settings: Gives the same ones as long as nothing has changed.
        """
        current = settings()
        if self._read_of is None or self._read_of[0] is not current:
            self._read_of = (current, InForce.read(self._store, current.cards))
        return self._read_of[1]


@dataclass(frozen=True, slots=True)
class SearchContext:
    """A knowledge base as asking needs it.

    Attributes:
        store: Its storage.
        embedder: Gives its encoder; not called by systems that need none.
        settings: Gives how it is searched for a question in a language that the encoder reads.
        graph: What queries that a model wrote are run on: the server, where `store` is a copy.
        in_force: Gives what is in force at any date.
        as_of: The day as of which is asked.
        doc_ids: The documents that are searched; all for None.
        rerank: What orders the best results last, whatever the preset; None for nothing.
    """

    store: Store
    embedder: Callable[[], Embedder]
    settings: Callable[[], Settings]
    graph: Store
    in_force: Callable[[], InForce]
    as_of: AsOf
    doc_ids: frozenset[str] | None = None
    rerank: Reranker | None = None

    def query(self, question: str) -> Query:
        """Return a question as the rules read it, with the documents that it names."""
        settings = self.settings()
        query = read(question, known_places=settings.known_places, chinese=settings.chinese)
        return with_documents(query, titles=settings.titles, store=self.store)

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

    def at(self, question: str, as_of: str | date | None) -> "SearchContext":
        """Return what was there at the day as of which is asked; today for None.

        Args:
            question: It may say a day, too: then what was in force comes first, and all is there.
            as_of: 2022, 2022-03, 2022-03-05, 2022年3月, or a date; what was issued later is out.

        Raises:
            NotFoundError: If nothing is left.
            ValueError: If it is no date.
        """
        asked = as_of_asked(question, as_of)
        later = self.in_force().issued_after(asked.day) if asked.held else frozenset[str]()
        if not later:
            return replace(self, as_of=asked)
        held = self.doc_ids
        if held is None:
            held = frozenset(card.doc_id for card in self.settings().cards)
        if held <= later:
            raise NotFoundError(f"all documents were issued after {asked.day}; give a later date")
        return replace(self, as_of=asked, doc_ids=held - later)

    def best(
        self, pipeline: Pipeline, searches: Sequence[Search], *, top_k: int
    ) -> list[ScoredChunk]:
        """Return results with their documents' status, what is in force first if that is asked for.

        Of documents with the same text one is searched; see `kgrag.answering.copies.each_once`.

        Args:
            pipeline: The retrieval preset.
            searches: Of the question, its own first, and of further wordings; a document that it
                quotes the title of keeps its place.
            top_k: Results at most.
        """
        if self.rerank is not None:
            pipeline = replace(pipeline, rerankers=(*pipeline.rerankers, self.rerank))
        titled = searches[0].titled if self.as_of.preferred else ()
        in_force = self.in_force()
        held = self.doc_ids
        cards = [c for c in self.settings().cards if held is None or c.doc_id in held]

        def retrieve(copies: Collection[str], n: int) -> list[ScoredChunk]:
            others = [search.without(copies) for search in searches]
            return retrieve_several(pipeline, others, top_k=n)

        def once(n: int) -> list[ScoredChunk]:
            return each_once(retrieve, store=self.store, cards=cards, top_k=n)

        found = in_force_first(once, self.as_of, in_force, titled=titled, top_k=top_k)
        return [
            replace(hit, status=in_force.status(hit.chunk.doc_id, self.as_of.day)) for hit in found
        ]

    def with_marks(self, context: Context, language: Language) -> Context:
        """Return a context whose passages say where their documents are not in force.

        Args:
            context: As packed; the marks are not counted in its tokens.
            language: Of the marks.
        """
        in_force, day = self.in_force(), self.as_of.day
        marked = (
            replace(p, mark=mark(in_force.status(p.doc_id, day), language))
            for p in context.passages
        )
        return replace(context, passages=tuple(marked))


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
