"""Dependencies of question answering: store, encoder, settings, validity."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from kgrag.answering.copies import each_once
from kgrag.answering.dated import AsOf, as_of_asked, in_force_first, is_version
from kgrag.embedding.embedder import Embedder
from kgrag.errors import NotFoundError
from kgrag.results import Context, ScoredChunk
from kgrag.retrieval.bilingual import read
from kgrag.retrieval.filter import Filter, documents_within
from kgrag.retrieval.grim import Pipeline, Reranker
from kgrag.retrieval.named import with_documents
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings, for_language
from kgrag.statements.in_force import InForce
from kgrag.status import mark
from kgrag.store.store import Store
from kgrag.types import Document, Fact, Heading, Language, Query

_ALL_LATER = "all documents were issued after {}; give a later date"


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Dependencies of question answering.

    Attributes:
        store: The storage.
        embedder: Returns the encoder; not called by systems that need none.
        settings: Returns the search settings for questions in a language that the encoder reads.
        in_force: Returns the validity of documents.
        archive: Returns the documents of an archive by its name.
        as_of: The day that is asked for.
        doc_ids: Documents to search; all for None.
        rerank: Reranker of the best results for every preset; None for none.
    """

    store: Store
    embedder: Callable[[], Embedder]
    settings: Callable[[], Settings]
    in_force: Callable[[], InForce]
    archive: Callable[[str], frozenset[str]]
    as_of: AsOf
    doc_ids: frozenset[str] | None = None
    rerank: Reranker | None = None

    def query(self, question: str) -> Query:
        """Parse a question by rules, with the documents that it names."""
        settings = self.settings()
        query = read(question, known_places=settings.known_places, chinese=settings.chinese)
        return with_documents(query, titles=settings.titles, store=self.store)

    def search(self, query: Query) -> Search:
        """Return a search for a parsed question; see `Search`."""
        return Search(
            query,
            store=self.store,
            embed=self.embedder,
            settings=for_language(self.settings(), query),
            doc_ids=self.doc_ids,
        )

    def cards(self) -> dict[str, Document]:
        """Return the documents to search, without texts, by id."""
        held = self.doc_ids
        return {c.doc_id: c for c in self.settings().cards if held is None or c.doc_id in held}

    def within(self, wanted: Filter | None) -> "SearchContext":
        """Return this context restricted to a filter, as of its day.

        Raises:
            NotFoundError: If no document matches.
        """
        if not wanted:
            return self
        left = documents_within(
            wanted,
            self.settings().cards,
            in_force=lambda: self.in_force().in_force(self.as_of.day),
            archive=self.archive,
        )
        if self.doc_ids is not None:
            left &= self.doc_ids
        if not left:
            raise NotFoundError(_ALL_LATER.format(self.as_of.day))
        return replace(self, doc_ids=left)

    def at(self, question: str, as_of: str | date | None) -> "SearchContext":
        """Return this context as of a day; today for None.

        Args:
            question: A day in it ranks what was in force first, and excludes nothing.
            as_of: 2022, 2022-03, 2022-03-05, 2022年3月, or a date; excludes what was issued later.

        Raises:
            NotFoundError: If nothing is left.
            ValueError: If it is not a date.
        """
        asked = as_of_asked(question, as_of)
        later = self.in_force().issued_after(asked.day) if asked.held else frozenset[str]()
        if not later:
            return replace(self, as_of=asked)
        held = self.doc_ids
        if held is None:
            held = frozenset(card.doc_id for card in self.settings().cards)
        if held <= later:
            raise NotFoundError(_ALL_LATER.format(asked.day))
        return replace(self, as_of=asked, doc_ids=held - later)

    def best(self, pipeline: Pipeline, search: Search, *, top_k: int) -> list[ScoredChunk]:
        """Return results with their documents' status, those in force first if a day is asked for.

        A passage of several documents is there once; see `kgrag.answering.copies.each_once`.

        Args:
            pipeline: The retrieval preset.
            search: Of the question; documents that it names by title keep their rank.
            top_k: Maximum number of results.
        """
        if self.rerank is not None:
            pipeline = replace(pipeline, rerankers=(*pipeline.rerankers, self.rerank))
        titled = search.titled if self.as_of.preferred else ()
        in_force = self.in_force()

        def retrieve(n: int) -> list[ScoredChunk]:
            return pipeline.retrieve(search, top_k=n)

        once = partial(each_once, retrieve, self.store, self.cards(), self.settings().twins)
        found = in_force_first(once, search.query, self.as_of, in_force, titled=titled, top_k=top_k)
        return [
            replace(hit, status=in_force.status(hit.chunk.doc_id, self.as_of.day)) for hit in found
        ]

    def with_marks(self, context: Context, language: Language) -> Context:
        """Return a context whose passages are marked if their documents are not in force.

        Args:
            context: As packed; the marks are not counted in its tokens.
            language: Of the marks.
        """
        marked = (replace(p, mark=self.mark(p.doc_id, language)) for p in context.passages)
        return replace(context, passages=tuple(marked))

    def mark(self, doc_id: str, language: Language) -> str:
        """Return the mark of a document that is not in force; empty for others."""
        return mark(self.in_force().status(doc_id, self.as_of.day), language)


@dataclass(frozen=True, slots=True)
class ResultsWithDocuments:
    """Results with their documents.

    Attributes:
        results: Those whose document still exists, best first.
        documents: With text, by id.
        headings: By document.
    """

    results: list[ScoredChunk]
    documents: dict[str, Document]
    headings: dict[str, list[Heading]]

    @classmethod
    def of(cls, results: Sequence[ScoredChunk], store: Store) -> "ResultsWithDocuments":
        """Read the documents of results; some may have been deleted meanwhile.

        Versions of which another answers are left out.
        """
        results = [hit for hit in results if not any(map(is_version, hit.via))]
        held = cls([], {}, {})
        held.read((r.chunk.doc_id for r in results), store)
        return replace(held, results=[r for r in results if r.chunk.doc_id in held.documents])

    def read(self, doc_ids: Iterable[str], store: Store) -> None:
        """Add documents that are not held yet."""
        if new := [i for i in dict.fromkeys(doc_ids) if i not in self.documents]:
            self.documents.update((document.doc_id, document) for document in store.documents(new))
            self.headings.update({doc_id: [] for doc_id in new} | store.headings(new))


def facts_in(results: Sequence[ScoredChunk], store: Store, *, leaf: int) -> list[Fact]:
    """Return the facts stated in results: evidence belongs to the leaves inside them.

    Args:
        results: Chunks of any size.
        store: The knowledge base.
        leaf: Size of the chunks with evidence.
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
