"""The knowledge base: where stages are put together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from ingestion.chunk import ChunkSizes
from ingestion.imports import ImportReport, import_facts, import_summaries
from ingestion.pipeline import Progress, ingest, plan
from ingestion.report import IngestReport, Outcome
from kgrag.config import Config
from kgrag.embedding.choose import open_embedder, stand_in_notice
from kgrag.embedding.embedder import Embedder
from kgrag.errors import ConfigError, ModelMismatchError, ModelNotFoundError, NotFoundError
from kgrag.evaluation.experiment import Report, evaluate
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.run import Run, from_ranking
from kgrag.generation.extract import answer
from kgrag.retrieval.grim import PRESETS, Grim
from kgrag.retrieval.query import analyse
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings, for_language, settings_of
from kgrag.store.open import open_store
from kgrag.store.store import Counts, Problem, Store
from kgrag.types import Answer, Document, Entity, Fact, ScoredChunk

_CONTEXT_CHUNKS = 10  # results that an answer is drawn from


class KnowledgeBase:
    """Documents, their graph and their search, in one folder or on one server.

    Use `KnowledgeBase.open`; close it, or use it as a context manager.

    Attributes:
        store: The storage.
        config: Settings.
    """

    def __init__(
        self, store: Store, *, config: Config, choose_embedder: Callable[[], Embedder]
    ) -> None:
        self.store = store
        self.config = config
        self._choose_embedder = choose_embedder
        self._settings_at: tuple[int, Settings] | None = None

    @classmethod
    def open(
        cls,
        location: str | Path = "kb",
        *,
        create: bool = True,
        config: Config | None = None,
        embedder: Embedder | None = None,
    ) -> Self:
        """Return the knowledge base at a place.

        Args:
            location: A folder.
            create: Make a new one where there is none.
            config: Settings; the defaults for None.
            embedder: Encoder; for None the one that the knowledge base was built with, or for
                a new one the configured one.

        Raises:
            StoreUnavailableError: If it cannot be opened, or is not there and `create` is off.
        """
        config = config or Config()
        store = open_store(location, create=create)

        def choose() -> Embedder:
            if embedder is not None:
                return embedder
            name = config.embedding.model or store.get_meta("embedder")
            return open_embedder(name, threads=config.embedding.threads or None)

        return cls(store, config=config, choose_embedder=choose)

    def close(self) -> None:
        """Release files and connections."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @cached_property
    def embedder(self) -> Embedder:
        """The encoder, which is the one that the knowledge base was built with.

        Raises:
            ModelNotFoundError: If that one is not installed.
            ModelMismatchError: If another one is configured.
        """
        built_with = self.store.get_meta("embedder")
        try:
            embedder = self._choose_embedder()
        except ModelNotFoundError as exc:
            raise ModelNotFoundError(
                f"{exc} Searches that need no encoder: --system bm25."
            ) from exc
        if built_with is not None and built_with != embedder.name:
            raise ModelMismatchError(
                f"this knowledge base was built with the encoder {built_with}, but {embedder.name} "
                "is chosen; take the [embedding] model out of kgrag.toml to use the first, ingest "
                "into a new --kb to use the second, or search with --system bm25"
            )
        return embedder

    @property
    def sizes(self) -> ChunkSizes:
        """Chunk sizes: those recorded, or for a new knowledge base the configured ones.

        Raises:
            ConfigError: If the configured sizes are not in order.
        """
        recorded = self.store.get_meta("chunk_sizes")
        if recorded is not None:
            parent, *children = (int(size) for size in recorded.split(","))
            return ChunkSizes(parent, tuple(children))
        try:
            return ChunkSizes(self.config.chunks.parent, self.config.chunks.children)
        except ValueError as exc:
            raise ConfigError(str(exc)) from exc

    def notices(self) -> list[str]:
        """Return what the user should know about how questions are answered."""
        notice = stand_in_notice(self.embedder)
        return [notice] if notice else []

    # taking in

    def ingest(
        self, paths: Sequence[str | Path], *, progress: Progress | None = None
    ) -> IngestReport:
        """Take in files and folders; running again does only what is missing or changed.

        Args:
            paths: Files, folders, `.jsonl` of {id, title, text}.
            progress: Called with (file, files done, files in all).
        """
        sizes, embedder = self.sizes, self.embedder
        self.store.set_meta(
            {
                "embedder": embedder.name,
                "languages": embedder.languages,
                "stand_in": "yes" if embedder.is_stand_in else "no",
                "chunk_sizes": ",".join(map(str, (sizes.parent, *sizes.children))),
            }
        )
        report = ingest(
            [Path(p) for p in paths],
            store=self.store,
            embedder=embedder,
            sizes=sizes,
            progress=progress,
        )
        if progress:  # the index of words takes a while after many documents
            progress("search index", len(report.outcomes), len(report.outcomes))
        self.store.refresh(sizes=sizes.searched)
        return report

    def plan(self, paths: Sequence[str | Path]) -> tuple[list[Outcome], int]:
        """Return what `ingest` would make of each file, and how many chunks it would encode."""
        return plan(
            [Path(p) for p in paths],
            store=self.store,
            embedder_name=self.embedder.name,
            sizes=self.sizes,
        )

    def import_facts(self, path: str | Path) -> ImportReport:
        """Add facts that were made elsewhere; see `ingestion.imports.import_facts`."""
        return import_facts(Path(path), store=self.store, sizes=self.sizes)

    def import_summaries(self, path: str | Path) -> ImportReport:
        """Add summaries made elsewhere; see `ingestion.imports.import_summaries`."""
        return import_summaries(
            Path(path), store=self.store, sizes=self.sizes, embedder=self.embedder
        )

    def delete(self, name: str) -> Document:
        """Delete a document and exactly what nothing else supports; return its card.

        Args:
            name: Id, file, file name with or without ending, or title.

        Raises:
            NotFoundError: If no document, or more than one, is called so.
        """
        card = self.find_document(name)
        self.store.delete_document(card.doc_id)
        return card

    # asking

    def search(
        self, question: str, *, system: str | None = None, top_k: int | None = None
    ) -> list[ScoredChunk]:
        """Return the chunks that a question is best answered from, best first.

        Args:
            question: In any words; titles in 《》 are taken exactly.
            system: Name of a preset; the configured one (`grim`) for None.
            top_k: Results at most; the configured number for None.

        Raises:
            ConfigError: If there is no such preset.
        """
        search = self._search(question)
        pipeline = preset(system or self.config.search.system)
        return pipeline.retrieve(search, top_k=top_k or self.config.search.top_k)

    def ask(self, question: str, *, system: str | None = None, top_k: int | None = None) -> Answer:
        """Return an answer with a citation for every sentence, or that there is none.

        Args:
            question: In any words.
            system: Name of a preset.
            top_k: Chunks that the answer may draw from.
        """
        search = self._search(question)
        pipeline = preset(system or self.config.search.system)
        results = pipeline.retrieve(search, top_k=top_k or _CONTEXT_CHUNKS)
        doc_ids = list(dict.fromkeys(r.chunk.doc_id for r in results))
        held = {d.doc_id: d for d in self.store.documents(doc_ids)}  # some may be gone since
        found = answer(
            search.query,
            [r for r in results if r.chunk.doc_id in held],
            documents=held,
            headings={doc_id: self.store.headings(doc_id) for doc_id in held},
            embedder=self.embedder,
            max_sentences=self.config.answer.max_sentences,
        )
        return replace(found, notes=(*found.notes, *self.notices()))

    def _search(self, question: str) -> Search:
        settings = self._settings(question)
        query = analyse(question, known_places=settings.known_places())
        return Search(query, store=self.store, embed=lambda: self.embedder, settings=settings)

    def _settings(self, question: str) -> Settings:
        """Return search settings; read again when the knowledge base has changed."""
        counter = self.store.change_counter()
        if self._settings_at is None or self._settings_at[0] != counter:
            coarse, leaf = self.sizes.searched
            self._settings_at = (counter, settings_of(self.store, leaf=leaf, coarse=coarse))
        return for_language(self._settings_at[1], question)

    # looking

    def documents(self) -> list[Document]:
        """Return the cards of all documents (empty text), ordered by file."""
        return sorted(self.store.document_cards(), key=lambda card: (card.file, card.doc_id))

    def find_document(self, name: str) -> Document:
        """Return the card of the one document with this id, file, file name or title.

        Raises:
            NotFoundError: If no document, or more than one, is called so.
        """
        cards = self.store.document_cards()
        for names in _ways_to_name(name):
            found = [card for card in cards if names(card)]
            if len(found) == 1:
                return found[0]
            if found:
                ids = ", ".join(f"{card.doc_id} ({card.file})" for card in found[:5])
                raise NotFoundError(f"{name!r} may be any of {ids}; use the id")
        raise NotFoundError(f"no document is called {name!r}; `kgrag docs` lists them")

    def graph(self, name: str, *, hops: int = 1, limit: int = 50) -> tuple[Entity, list[Fact]]:
        """Return an entity and the facts around it, nearest first.

        Args:
            name: The entity's name, or a part of it.
            hops: Steps away from it, at least 1.
            limit: Facts at most, around each entity on the way.

        Raises:
            NotFoundError: If no entity is called so; names those that are like it.
            ValueError: If hops < 1.
        """
        if hops < 1:
            raise ValueError(f"hops must be at least 1, got {hops}")
        center = self._entity(name)
        facts: dict[str, Fact] = {}
        frontier, met = [center.entity_id], {center.entity_id}
        for _ in range(hops):
            around = self.store.facts_around(frontier, limit=limit)
            facts.update((fact.fact_id, fact) for fact in around if fact.fact_id not in facts)
            ends = dict.fromkeys(e.entity_id for f in around for e in (f.subject, f.object))
            frontier = [entity_id for entity_id in ends if entity_id not in met]
            met.update(frontier)
        return center, list(facts.values())

    def _entity(self, name: str) -> Entity:
        exact = self.store.find_entities([name])
        if exact:
            return exact[0]
        like = self.store.entities([e for e, _ in self.store.search_entities(name, top_k=5)])
        if len(like) == 1:
            return like[0]
        hint = f"; like it: {'、'.join(e.name for e in like)}" if like else ""
        raise NotFoundError(f"no entity is called {name!r}{hint}")

    def counts(self) -> Counts:
        """Return how many of each are stored."""
        return self.store.counts()

    def query(
        self, text: str, *, max_rows: int = 200, timeout_s: float = 5.0
    ) -> list[dict[str, object]]:
        """Return the rows of a query that only reads: Cypher on Neo4j, SQL in a folder."""
        return self.store.run_query(text, max_rows=max_rows, timeout_s=timeout_s)

    def verify(self) -> list[Problem]:
        """Check every invariant; an empty list means that all hold."""
        return self.store.verify()

    def export(self) -> Iterator[dict[str, object]]:
        """Yield every record as JSON-ready mappings, in a fixed order."""
        return self.store.export()

    # measuring

    def run(
        self,
        questions: Mapping[str, str],
        *,
        system: str,
        top_k: int,
        progress: Progress | None = None,
    ) -> Run:
        """Return the results of a system for each question: {id: results}."""
        files = {card.doc_id: card.file for card in self.store.document_cards()}
        results = {}
        for number, (query_id, question) in enumerate(questions.items()):
            if progress:
                progress(system, number, len(questions))
            ranking = self.search(question, system=system, top_k=top_k)
            results[query_id] = from_ranking(ranking, files)
        if progress:
            progress(system, len(questions), len(questions))
        return results

    def evaluate(
        self,
        queries: Sequence[GoldQuery],
        *,
        systems: Sequence[str],
        ks: Sequence[int] = (1, 2, 5, 10),
        top_k: int = 20,
        progress: Progress | None = None,
    ) -> dict[str, Report]:
        """Return the scores of each system on questions with gold."""
        questions = {query.query_id: query.question for query in queries}
        return {
            system: evaluate(
                self.run(questions, system=system, top_k=top_k, progress=progress), queries, ks=ks
            )
            for system in systems
        }


def preset(name: str) -> Grim:
    """Return a retrieval preset by name.

    Raises:
        ConfigError: If there is none of this name; lists them.
    """
    if name not in PRESETS:
        raise ConfigError(f"no system is called {name!r}; there are {', '.join(PRESETS)}")
    return PRESETS[name]


def _ways_to_name(name: str) -> tuple[Callable[[Document], bool], ...]:
    """Return tests of whether a document is called so, the most exact first."""
    path = str(Path(name).absolute())
    return (
        lambda card: card.doc_id == name,
        lambda card: card.file in (name, path),
        lambda card: Path(card.file).name == name,
        lambda card: Path(card.file).stem == name,
        lambda card: card.title == name,
    )
