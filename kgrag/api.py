"""The knowledge base: where stages are put together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kgrag.answer.answer import Answer
from kgrag.answering.ask import ask
from kgrag.answering.current import Current
from kgrag.answering.dated import as_of_asked, with_status
from kgrag.answering.follow_up import Turn
from kgrag.answering.levels import national_beside_local
from kgrag.answering.models import reading_model
from kgrag.answering.notes import answer_notes
from kgrag.answering.options import AskOptions
from kgrag.answering.search_context import SearchContext
from kgrag.answering.searching import Analysis, Searching, Unread
from kgrag.config import Config, Writer
from kgrag.embedding.choose import configured_embedder
from kgrag.embedding.embedder import Embedder, PlainEmbedder
from kgrag.embedding.wrapped import checked
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.runs import Run
from kgrag.evaluation.scores import Report, evaluate
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.imports import ImportReport
from kgrag.ingestion.pipeline import Progress
from kgrag.ingestion.reembed import Reembedding, ReembedPlan, ReembedReport
from kgrag.ingestion.report import IngestReport, Plan
from kgrag.limits import MOST_RESULTS, check_query, check_whole, checked_count, checked_results
from kgrag.llm.models import ChatModels
from kgrag.maintenance.intake import Intake, Paths, Use, paths_of, reembedding
from kgrag.maintenance.problems import ReadingProblem, reading_problems
from kgrag.maintenance.repairing import repair
from kgrag.results import ScoredChunk
from kgrag.retrieval.filter import Filter, document_called
from kgrag.retrieval.graph_query import GraphAnswer, ask_graph
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.systems import NO_SYSTEMS, Systems, checked_systems, preset
from kgrag.status import Status
from kgrag.store.contents import Counts, Problem
from kgrag.store.networks import facts_around, to_networkx
from kgrag.store.open import open_store
from kgrag.store.store import Store
from kgrag.tables.in_force import InForce
from kgrag.types import Document, Entity, Fact

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    from kgrag.ingestion.duplicates import Proposal
    from kgrag.llm.chat import ChatModel
    from kgrag.llm.ledger import Calls
    from kgrag.llm.models import Models
    from kgrag.maintenance.curating import Curator, Named
    from kgrag.tables.tables import Tables


class KnowledgeBase:
    """Documents, their graph and their search, in one folder or on one server.

    Use `KnowledgeBase.open`; close it, or use it as a context manager.

    Attributes:
        store: The storage.
        config: Settings.
        chat: Its chat models.
    """

    def __init__(
        self,
        store: Store,
        *,
        config: Config,
        choose_embedder: Callable[[str | None], Embedder],
        location: str | Path = "kb",
        model: "ChatModel | None" = None,
        systems: Systems = NO_SYSTEMS,
    ) -> None:
        self.store = store
        self.config = config
        self.chat = ChatModels(config, location, model)
        self._systems = systems
        self._choose_embedder = choose_embedder
        self._current = Current(store, config, choose_embedder, location)

    @classmethod
    def open(
        cls,
        location: str | Path = "kb",
        *,
        create: bool = True,
        config: Config | None = None,
        embedder: Embedder | PlainEmbedder | None = None,
        model: "ChatModel | None" = None,
        systems: Mapping[str, Pipeline] | None = None,
    ) -> Self:
        """Return the knowledge base at a place; see docs/plugins.md for what it may be given.

        Args:
            location: A folder.
            create: Make a new one where there is none.
            config: Settings; the defaults for None.
            embedder: Encoder, of arrays or lists; for None that of the base, else the configured.
            model: Chat model of every stage; for None those of the settings.
            systems: Retrieval pipelines by name, besides the presets.

        Raises:
            ConfigError: If `model` is none, or a system has no form or name that it may have.
            ModelError: If `embedder` is none.
            StoreUnavailableError: If it cannot be opened, or is not there and `create` is off.
        """
        config = config or Config()
        encoder = None if embedder is None else checked(embedder)
        pipelines = checked_systems(systems or {})
        store = open_store(location, create=create)

        def choose(recorded: str | None) -> Embedder:
            return encoder or configured_embedder(config.embedding, recorded)

        return cls(
            store,
            config=config,
            choose_embedder=choose,
            location=location,
            model=model,
            systems=pipelines,
        )

    repair = staticmethod(repair)  # before it can be opened

    def close(self) -> None:
        """Release files and connections."""
        self.chat.close()
        self._current.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def embedder(self) -> Embedder:
        """The encoder, which is the one that the knowledge base has its vectors of.

        Raises:
            ModelNotFoundError: If that one is not installed.
            ModelMismatchError: If another one is configured.
        """
        return self._current.embedder(self.store)

    @property
    def calls(self) -> "Calls":
        """The file that keeps what models answered, and the ledger of their calls."""
        return self.chat.calls

    @property
    def models(self) -> "Models":
        """The chat model of every stage that has one."""
        return self.chat.models

    def system(self, name: str) -> Pipeline:
        """Return a retrieval pipeline by name; see `kgrag.retrieval.systems.preset`."""
        return preset(name, self._systems)

    @property
    def sizes(self) -> ChunkSizes:
        """Chunk sizes: those recorded, or for a new knowledge base the configured ones.

        Raises:
            ConfigError: If the configured sizes are not in order.
        """
        return self._current.sizes(self.store)

    def notes(self, within: Filter | None = None) -> list[str]:
        """Return what the user should know about how questions are answered."""
        return self._notes(self._knowledge, within)

    def _notes(self, knowledge: SearchContext, within: Filter | None) -> list[str]:
        sizes = self._current.sizes(knowledge.store)
        return answer_notes(knowledge.store, self.config, sizes, knowledge.embedder(), within)

    def ingest(
        self,
        paths: Paths,
        *,
        model: Use = "auto",
        progress: Progress | None = None,
        follow_links: bool = False,
    ) -> IngestReport:
        """Take in files and folders; running again does only what is missing or changed.

        Args:
            paths: Files, folders, `.jsonl` of {id, title, text}; one, or a sequence of them.
            model: `auto` has the configured models read facts and summaries, `none` does not.
            progress: Called with (file, files done, files in all).
            follow_links: Follow links that lead out of a folder, too.
        """
        return self._intake().ingest(
            paths_of(paths), model=model, progress=progress, follow_links=follow_links
        )

    def retry_failed(self, paths: Paths = (), *, progress: Progress | None = None) -> IngestReport:
        """Ask again for passages that a model could not read, of some files or all documents.

        Raises:
            ConfigError: If no model is configured.
        """
        return self._intake().retry_failed(paths_of(paths), progress=progress)

    def plan(
        self, paths: Paths, *, model: Use = "auto", sample: int = 0, follow_links: bool = False
    ) -> Plan:
        """Return what `ingest` would make of each file, and what models would take for it.

        Args:
            paths: As for `ingest`.
            model: As for `ingest`.
            sample: Calls that are really made to predict better; their answers are kept.
            follow_links: As for `ingest`.
        """
        return self._intake().plan(
            paths_of(paths), model=model, sample=sample, follow_links=follow_links
        )

    def _intake(self) -> Intake:
        return Intake(self.store, self.embedder, self.sizes, self.config, self.chat)

    def curator(self) -> "Curator":
        """Return what records people's decisions: corrected metadata, names that are one."""
        from kgrag.maintenance.curating import Curator

        return Curator(self.store, self.embedder, self.sizes, self._intake().vectors)

    def import_facts(self, path: str | Path) -> ImportReport:
        """Add facts that were made elsewhere; see `kgrag.ingestion.imports.import_facts`."""
        return self._intake().import_facts(Path(path))

    def import_summaries(self, path: str | Path) -> ImportReport:
        """Add summaries made elsewhere; see `kgrag.ingestion.imports.import_summaries`."""
        return self._intake().import_summaries(Path(path))

    def reembed(self, *, progress: Progress | None = None) -> ReembedReport:
        """Encode everything anew with the chosen encoder; see `kgrag.ingestion.reembed`."""
        return self._reembedding().run(progress=progress)

    def reembed_plan(self) -> ReembedPlan:
        """Return what `reembed` would do, and about how long it would take."""
        return self._reembedding().plan()

    def _reembedding(self) -> Reembedding:
        # What an endpoint gave before is what may have changed.
        known = None if self.config.embedding.is_endpoint else self.store.get_meta("embedder")
        return reembedding(self.store, self._choose_embedder(known), self.sizes, self.config)

    def documents(self) -> list[Document]:
        """Return the cards of all documents (empty text), ordered by file."""
        return sorted(self.store.document_cards(), key=lambda card: (card.file, card.doc_id))

    def find_document(self, name: str) -> Document:
        """Return the card of the one document with this id, file, file name or title.

        Raises:
            NotFoundError: If no document, or more than one, is called so.
        """
        return document_called(name, self.store.document_cards())

    def graph(self, name: str, *, hops: int = 1, limit: int = 50) -> tuple[Entity, list[Fact]]:
        """Return an entity and the facts around it; see `kgrag.store.networks.facts_around`."""
        return facts_around(self.store, name, hops=hops, limit=limit)

    def to_networkx(self) -> "MultiDiGraph[str]":
        """Return the graph as one of networkx; see `kgrag.store.networks.to_networkx`."""
        return to_networkx(self.store)

    def counts(self) -> Counts:
        """Return how many of each are stored."""
        return self.store.counts()

    def query(
        self, text: str, *, max_rows: int = 200, timeout_s: float = 5.0
    ) -> list[dict[str, object]]:
        """Return the rows of a query that only reads: Cypher on Neo4j, SQL in a folder."""
        check_whole("query", text)
        check_query(max_rows, timeout_s)
        return self.store.run_query(text, max_rows=max_rows, timeout_s=timeout_s)

    def verify(self) -> list[Problem]:
        """Check every invariant; an empty list means that all hold."""
        return self.store.verify()

    def problems(self) -> list[ReadingProblem]:
        """Return what was read badly or not at all; see `kgrag.maintenance.problems`."""
        return list(reading_problems(self.store))

    def statuses(self, as_of: str | date | None = None) -> dict[str, Status]:
        """Return whether each document is in force at a day, by id; see `kgrag.status.Status`.

        Args:
            as_of: 2022, 2022-03, 2022-03-05, 2022年3月, or a date; of a year or month its last
                day. Today for None.

        Raises:
            ValueError: If it is no date.
        """
        day = as_of_asked("", as_of).day
        cards = self.store.document_cards()
        in_force = InForce.read(self.store, cards)
        return {card.doc_id: in_force.status(card.doc_id, day) for card in cards}

    def tables(self) -> "Tables":
        """Return the complete tables of what documents state: figures, duties, citations."""
        from kgrag.tables.tables import Tables

        return Tables(self.store)

    def export(self) -> Iterator[dict[str, object]]:
        """Yield every record as JSON-ready mappings, in a fixed order."""
        return self.store.export()

    def delete(self, name: str) -> Document:
        """Delete a document, found as `find_document` does, and return its card."""
        card = self.find_document(name)
        from kgrag.ingestion.connect import connect

        self.store.delete_document(card.doc_id)
        connect(self.store)
        return card

    def entities(
        self, *, limit: int = 40, type_: str | None = None, merged: bool = False
    ) -> "list[Named]":
        """Return entities, those with most facts first; see `kgrag.maintenance.curating`."""
        from kgrag.maintenance.curating import named_entities

        limit = checked_count("limit", limit, most=MOST_RESULTS)
        return named_entities(self.store, limit=limit, type_=type_, merged=merged)

    def duplicates(self, *, limit: int = 40, type_: str | None = None) -> "list[Proposal]":
        """Return pairs of entities that may be one; see `kgrag.maintenance.curating`."""
        from kgrag.maintenance.curating import likely_duplicates

        limit = checked_count("limit", limit, most=MOST_RESULTS)
        return likely_duplicates(self.store, limit=limit, type_=type_)

    def search(
        self,
        question: str,
        *,
        system: str | None = None,
        top_k: int | None = None,
        analysis: Analysis = "rules",
        within: Filter | None = None,
        as_of: str | date | None = None,
    ) -> list[ScoredChunk]:
        """Return the chunks that a question is best answered from, best first.

        Args:
            question: In any words; titles in 《》 are taken exactly.
            system: Name of a preset; the configured one (`grim`) for None.
            top_k: Results at most; the configured number for None.
            analysis: Who reads it first: `rules`, or a `model`, as for `ask`.
            within: Which documents are searched; all for None.
            as_of: 2022, 2022-03: without what came later; None takes it from the question.

        Raises:
            ConfigError: If there is no such preset, or no model is configured for `model`.
            ModelError: If the model fails.
            NotFoundError: If no document fits `within`, or was there at `as_of`.
        """
        searching = self._searching(system, top_k, within, as_of)
        return (searching.by_model if analysis == "model" else searching.by_rules)(question)

    def _searching(
        self, system: str | None, top_k: int | None, within: Filter | None, as_of: str | date | None
    ) -> Searching:
        return Searching(
            lambda question: self._knowledge.within(within).at(question, as_of),
            self.system(system or self.config.search.system),
            checked_results(top_k) or self.config.search.top_k,
            self.config,
            lambda: self.models,
        )

    def ask(
        self,
        question: str,
        *,
        system: str | None = None,
        top_k: int | None = None,
        writer: Writer | None = None,
        template: str | None = None,
        verify: str | None = None,
        history: Sequence[Turn] = (),
        within: Filter | None = None,
        as_of: str | date | None = None,
        max_sentences: int | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Answer:
        """Return an answer with a citation for every sentence, or that there is none.

        Args:
            question: In any words; a follow-up question leans on `history`.
            system: Name of a preset; the configured one for None.
            top_k: Chunks that the answer may draw from.
            writer: `model`, or `quotes` by rule; for None the model where one is configured.
            template: Form of a model's answer: `normal`, `focused`, `markdown`, `steps`.
            verify: How it is checked: `cov`, `cov-paper`, `cov-two-stage`, `chats-grid`, `none`.
            history: Earlier turns, oldest first.
            within: Which documents are searched; all for None.
            as_of: As for `search`.
            max_sentences: Quotes at most, of lists and tables, too; the configured number for None.
            on_text: Called with each piece of a model's first answer as it comes.

        Raises:
            ConfigError: If a name is not known, or `writer` is `model` and none is configured.
            NotFoundError: If no document fits `within`, or was there at `as_of`.
            ValueError: If `as_of` is no date.
        """
        options = AskOptions.from_config(
            self.config,
            writer=writer,
            system=system,
            top_k=top_k,
            template=template,
            verify=verify,
            has_model=self.chat.has("answer"),
            max_sentences=max_sentences,
        )
        knowledge = self._knowledge.within(within).at(question, as_of)
        found = ask(
            question,
            knowledge=knowledge,
            options=options,
            stages=self.models if options.writer == "model" else None,
            history=history,
            on_text=on_text,
            systems=self._systems,
        )
        found = with_status(found, knowledge.as_of, knowledge.in_force())
        levels = national_beside_local(found, knowledge.store)
        return replace(found, notes=(*found.notes, *levels, *self._notes(knowledge, within)))

    def query_from(
        self, question: str, *, max_rows: int = 50, timeout_s: float = 5.0
    ) -> GraphAnswer:
        """Return the rows of a query that a model wrote for a question, and the query itself.

        Raises:
            ConfigError: If no model is configured.
            ModelError: If the model gives no query.
        """
        model = reading_model(self.models, self.config.verify)
        return ask_graph(
            question, model=model, store=self.store, max_rows=max_rows, timeout_s=timeout_s
        )

    @property
    def _knowledge(self) -> SearchContext:
        return self._current.knowledge()

    def run(
        self,
        questions: Mapping[str, str],
        *,
        system: str,
        top_k: int,
        analysis: Analysis = "rules",
        as_of: str | date | None = None,
        unread: Unread | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Return the results of a system for each question: {id: results}; see `search`.

        With `unread`, one that a model cannot read is told, and searched by its own words.
        """
        done = partial(progress, system) if progress else None
        find = self._searching(system, top_k, None, as_of).run
        return find(questions, analysis, unread=unread, progress=done)

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
        checked_results(top_k)
        questions = {query.query_id: query.question for query in queries}
        run = partial(self.run, questions, top_k=top_k, progress=progress)
        return {system: evaluate(run(system=system), queries, ks=ks) for system in systems}
