"""Dependencies of question answering: store, encoder, settings, validity."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kgrag.answering.copies import each_once
from kgrag.answering.dated import AsOf, as_of_asked, in_force_first
from kgrag.answering.listed import definitions, topics_of
from kgrag.embedding.embedder import Embedder
from kgrag.errors import NotFoundError
from kgrag.question.question import pieces, question_of
from kgrag.results import Context, ScoredChunk
from kgrag.retrieval.bilingual import read
from kgrag.retrieval.filter import Filter, documents_within
from kgrag.retrieval.grim import Pipeline, Reranker
from kgrag.retrieval.named import with_documents
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings, for_language, settings_of
from kgrag.statements.in_force import InForce
from kgrag.status import mark
from kgrag.store.store import Store
from kgrag.text.official_terms import official_terms
from kgrag.text.regions import regions_named
from kgrag.text.words import normalize_name, sentence_spans, words
from kgrag.types import Document, Fact, Heading, Language, Query


class CurrentSettings:
    """Search settings of a knowledge base; read again when it has changed."""

    def __init__(self, store: Store, sizes: Callable[[], tuple[int, int]]) -> None:
        """Initialise.

        Args:
            store: The knowledge base.
            sizes: Returns the two sizes with a word index, the smallest last.
        """
        self._store = store
        self._sizes = sizes
        self._read_at: tuple[int, Settings] | None = None

    def __call__(self) -> Settings:
        """Return the settings for questions in a language that the encoder reads."""
        counter = self._store.change_counter()
        if self._read_at is None or self._read_at[0] != counter:
            coarse, leaf = self._sizes()
            self._read_at = (counter, settings_of(self._store, leaf=leaf, coarse=coarse))
        return self._read_at[1]


class CurrentInForce:
    """Validity of documents; read again when the knowledge base has changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read_of: tuple[Settings, InForce] | None = None

    def __call__(self, settings: Callable[[], Settings]) -> InForce:
        """Return the validity of documents.

        Args:
            settings: Returns the same object as long as nothing has changed.
        """
        current = settings()
        if self._read_of is None or self._read_of[0] is not current:
            self._read_of = (current, InForce.read(self._store, current.cards))
        return self._read_of[1]


_COMMON = 3_000  # passages from which a word is as common as any
_DEFINING = 300  # passages that name what a question asks about
_RARE = 1_000  # passages that have a word which still tells a topic
# Numbers, and what a question asks with: 怎么办, 什么样.
_NO_CONTENT = re.compile(r"\d|怎|什么|多少|如何|哪|几")
_CLAUSES = re.compile(r"[，,；;、]")
_ALL_LATER = "all documents were issued after {}; give a later date"


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Dependencies of question answering.

    Attributes:
        store: The storage.
        embedder: Returns the encoder; not called by systems that need none.
        settings: Returns the search settings for questions in a language that the encoder reads.
        graph: Target of queries that a model wrote: the server, if `store` is a copy.
        in_force: Returns the validity of documents.
        as_of: The day that is asked for.
        doc_ids: Documents to search; all for None.
        rerank: Reranker of the best results for every preset; None for none.
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
        """Parse a question by rules, with the documents that it names."""
        settings = self.settings()
        query = read(question, known_places=settings.known_places, chinese=settings.chinese)
        return with_documents(query, titles=settings.titles, store=self.store)

    def search(
        self, query: Query, *, hypothetical: str = "", queried: Sequence[str] = ()
    ) -> Search:
        """Return a search for a parsed question; see `Search`."""
        return Search(
            query,
            store=self.store,
            embed=self.embedder,
            settings=for_language(self.settings(), query),
            hypothetical=hypothetical,
            queried=queried,
            doc_ids=self.doc_ids,
        )

    def absent(self, query: Query) -> tuple[str, ...]:
        """Return the words of a question that no searched document has, in order.

        Left out are names of documents and places, numbers, and everyday wordings of terms.
        """
        told = query.remainder if query.titles else query.text
        known = [told[found.start : found.end] for found in official_terms(told)]
        asked = dict.fromkeys(words(told))
        content = [
            word
            for word in asked
            if len(word) > 1
            and not _NO_CONTENT.search(word)
            and pieces(word)
            and not any(word != other and word in other for other in (*asked, *known))
            and not any(word in place or place in word for place in query.places)
        ]
        size, doc_ids = self.settings().leaf, self.doc_ids
        return tuple(
            word
            for word in content
            if not self.store.search_phrase(
                word, field="text", size=size, top_k=1, doc_ids=doc_ids and sorted(doc_ids)
            )
        )

    def apart(self, query: Query) -> tuple[str, ...]:
        """Return the two rarest words of a question if no sentence has both; empty else.

        A sentence counts with its title and headings. Empty, too, for a question of several
        clauses, one that names a document or places, or has a word that fewer than two passages
        have; and if one of the two is a place or has an official term.
        """
        asked = question_of(query)
        if query.titles or query.places or asked.level or _CLAUSES.search(query.text):
            return ()
        counted = {
            word: n
            for word, n in self._counted(" ".join(asked.pieces)).items()
            if n < _COMMON and not _NO_CONTENT.search(word)
        }
        if len(counted) < 2 or min(counted.values()) < 2:
            return ()
        pair = sorted(counted, key=lambda word: counted[word])[:2]
        said = [query.text[t.start : t.end] for t in official_terms(query.text)]
        named = "|".join(wording for wording in said if not _NO_CONTENT.search(wording))
        places = (f"{word}{level}" for word in pair for level in ("", "区", "县"))
        if any(map(regions_named, places)) or any(word in named for word in pair):
            return ()
        if any(
            _in_one_sentence(hit, word, other)
            for word, other in (pair, pair[::-1])
            for hit in self.with_phrase(word, list(self.cards()), _COMMON)
        ):
            return ()
        return tuple(sorted(pair, key=query.text.find))

    def defining(self, query: Query, after: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the passages that say what a question's things are, beside those found.

        Args:
            query: The question.
            after: Those found, best first; the others get the last one's score.
        """
        defines, in_force, day = definitions(query), self.in_force(), self.as_of.day
        held = {hit.chunk.chunk_id for hit in after}
        national = query.national
        within = [c for c, d in self.cards().items() if not (national and d.metadata.regions)]
        hits = (
            replace(hit, score=after[-1].score, status=in_force.status(hit.chunk.doc_id, day))
            for topic in topics_of(query)
            for hit in self.with_phrase(topic, within, _DEFINING)
            if after and defines(hit.chunk.text)
        )
        return [h for c, h in {h.chunk.chunk_id: h for h in hits}.items() if c not in held]

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
        day = self.as_of.day
        cards = self.settings().cards
        left = documents_within(wanted, cards, in_force=lambda: self.in_force().in_force(day))
        if self.doc_ids is not None:
            left &= self.doc_ids
        if not left:
            raise NotFoundError(_ALL_LATER.format(day))
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

    def rare_words(self, text: str) -> list[str]:
        """Return the words of a text that few of the searched passages have, the rarest first.

        Words that more than ten times as many have as the rarest, and more than `_RARE`, and words
        within longer ones are left out. Empty where it has no words, or a word that no passage has.
        """
        counted = self._counted(text)
        least = min(counted.values(), default=0)
        most = max(10 * least, _RARE) if least else -1
        rare = [word for word, n in counted.items() if n <= most]
        return sorted(rare, key=lambda word: counted[word])

    def _counted(self, text: str) -> dict[str, int]:
        """Return the words of a text with how many passages have each, `_COMMON` at most."""
        asked = set(words(text))
        own = sorted(w for w in asked if len(w) > 1 and not any(w in o and w != o for o in asked))
        size, doc_ids = self.settings().leaf, self.doc_ids
        within = sorted(doc_ids) if doc_ids is not None else None

        def n_having(word: str) -> int:
            found = self.store.search_phrase(
                word, field="text", size=size, top_k=_COMMON, doc_ids=within
            )
            return len(found)

        return {word: n_having(word) for word in own}

    def with_phrase(self, phrase: str, doc_ids: Sequence[str], top_k: int) -> list[ScoredChunk]:
        """Return the passages of documents that have a phrase, best first."""
        found = self.store.search_phrase(
            phrase, field="text", size=self.settings().leaf, top_k=top_k, doc_ids=sorted(doc_ids)
        )
        chunks = {c.chunk_id: c for c in self.store.chunks([c for c, _ in found])}
        cards = self.cards()
        return [
            ScoredChunk(chunks[c], score, title=cards[chunks[c].doc_id].title)
            for c, score in found
            if c in chunks and chunks[c].doc_id in cards
        ]

    def best(
        self, pipeline: Pipeline, searches: Sequence[Search], *, top_k: int
    ) -> list[ScoredChunk]:
        """Return results with their documents' status, those in force first if a day is asked for.

        Of documents with the same text one is searched; see `kgrag.answering.copies.each_once`.

        Args:
            pipeline: The retrieval preset.
            searches: Of the question, first, and of rewordings; documents that it names by title
                keep their rank.
            top_k: Maximum number of results.
        """
        if self.rerank is not None:
            pipeline = replace(pipeline, rerankers=(*pipeline.rerankers, self.rerank))
        titled = searches[0].titled if self.as_of.preferred else ()
        in_force = self.in_force()
        cards = list(self.cards().values())

        def retrieve(copies: Collection[str], n: int) -> list[ScoredChunk]:
            others = [search.without(copies) for search in searches]
            return pipeline.retrieve(*others, top_k=n)

        def once(n: int) -> list[ScoredChunk]:
            return each_once(retrieve, store=self.store, cards=cards, top_k=n)

        found = in_force_first(
            once, searches[0].query, self.as_of, in_force, titled=titled, top_k=top_k
        )
        return [
            replace(hit, status=in_force.status(hit.chunk.doc_id, self.as_of.day)) for hit in found
        ]

    def with_marks(self, context: Context, language: Language) -> Context:
        """Return a context whose passages are marked if their documents are not in force.

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


def _in_one_sentence(hit: ScoredChunk, word: str, other: str) -> bool:
    """Return whether a sentence with a word has another one, or the title or a heading does."""
    text = hit.chunk.text
    told = [normalize_name(text[start:end]) for start, end in sentence_spans(text)]
    around = normalize_name("".join((hit.title, *hit.chunk.heading_path)))
    return other in around or any(word in one and other in one for one in told)


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
        """Read the documents of results; some may have been deleted meanwhile."""
        doc_ids = list(dict.fromkeys(r.chunk.doc_id for r in results))
        documents = {d.doc_id: d for d in store.documents(doc_ids)}
        headings = store.headings(list(documents)) if documents else {}
        return cls(
            [r for r in results if r.chunk.doc_id in documents],
            documents,
            {doc_id: headings.get(doc_id, []) for doc_id in documents},
        )


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
