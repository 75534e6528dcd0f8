"""What tools are made of: a knowledge base whose models answer without them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kgrag.answer.answer import Answer
from kgrag.answer.excerpt import Excerpt
from kgrag.answering.ask import ask
from kgrag.answering.current import Current
from kgrag.answering.dated import as_of_asked
from kgrag.answering.follow_up import Turn
from kgrag.answering.look_up import Toolbox
from kgrag.answering.notes import search_notes
from kgrag.answering.options import AskOptions
from kgrag.answering.search_context import SearchContext
from kgrag.answering.searching import find
from kgrag.config import Config, Writer
from kgrag.embedding.choose import configured_embedder, encoder_note
from kgrag.embedding.embedder import Embedder, PlainEmbedder
from kgrag.embedding.wrapped import checked
from kgrag.errors import NotFoundError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.imports import ImportReport
from kgrag.ingestion.pipeline import Progress
from kgrag.ingestion.reembed import Reembedding, ReembedPlan, ReembedReport
from kgrag.ingestion.report import IngestReport, Plan
from kgrag.limits import MOST_RESULTS, check_query, check_whole, checked_count, checked_results
from kgrag.llm.models import ChatModels
from kgrag.maintenance.intake import Intake, Paths, Use, paths_of
from kgrag.maintenance.problems import (
    ReadingProblem,
    card_problems,
    problem_table,
    reading_problems,
)
from kgrag.maintenance.repairing import repair
from kgrag.results import ScoredChunk
from kgrag.retrieval.filter import Filter, document_called, document_meant
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.systems import NO_SYSTEMS, Systems, checked_systems, preset
from kgrag.statements.in_force import InForce
from kgrag.status import Status
from kgrag.store.contents import Counts, Problem
from kgrag.store.networks import facts_around, to_networkx
from kgrag.store.store import Store, open_store
from kgrag.text.messages import message
from kgrag.types import Document, Entity, Fact, Language

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    from kgrag.ingestion.duplicates import Proposal
    from kgrag.llm.chat import ChatModel
    from kgrag.llm.ledger import Calls
    from kgrag.llm.models import Models
    from kgrag.maintenance.corrections import Curator, Named
    from kgrag.maintenance.sync import Sync
    from kgrag.statements.overview import Facet, FacetValue
    from kgrag.statements.selection import Selection
    from kgrag.statements.table import Table


class PlainKnowledgeBase:
    """What `kgrag.api.KnowledgeBase` is without tools for the model that answers.

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
        """Open a knowledge base; docs/plugins.md explains the parts that a program can pass.

        Args:
            location: A folder, or the address of a server.
            create: Create it if it does not exist.
            config: Settings.
            embedder: Encoder that returns arrays or lists; for None the one recorded in the
                knowledge base, else the configured one.
            model: Chat model of every stage; for None those of the settings.
            systems: Retrieval pipelines by name, besides the presets.

        Raises:
            ConfigError: If `model` is not a chat model, or a system has an invalid form or name.
            ModelError: If `embedder` is not an encoder.
            StoreUnavailableError: If it cannot be opened, or does not exist and `create` is off.
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
        """The encoder that made the knowledge base's vectors.

        Raises:
            ModelNotFoundError: If it is not installed.
            ModelMismatchError: If another one is configured.
        """
        return self._current.embedder(self.store)

    @property
    def calls(self) -> "Calls":
        """The cache of models' answers, with the ledger of calls."""
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
        """Chunk sizes: recorded, or for a new knowledge base configured.

        Raises:
            ConfigError: If the configured sizes are not in order.
        """
        return self._current.sizes(self.store)

    def _notes(self, knowledge: SearchContext, within: Filter | None) -> list[str]:
        sizes = self._current.sizes(knowledge.store)
        told = encoder_note(knowledge.embedder())
        searched = search_notes(knowledge.store, self.config, sizes, within)
        return [told, *searched] if told else searched

    def ingest(
        self,
        paths: Paths,
        *,
        model: Use = "auto",
        progress: Progress | None = None,
        follow_links: bool = False,
    ) -> IngestReport:
        """Ingest files and folders; running it again processes what is missing or changed.

        Args:
            paths: One or several files, folders, `.jsonl` of {id, title, text}.
            model: `auto` extracts facts and summaries with the configured models, too; `none` does
                not.
            progress: Called with (file, files done, files in all).
            follow_links: Follow links that lead out of a folder.
        """
        return self._intake().ingest(
            paths_of(paths), model=model, progress=progress, follow_links=follow_links
        )

    def retry_failed(self, paths: Paths = (), *, progress: Progress | None = None) -> IngestReport:
        """Ask the model again for failed passages of some files, or of all documents.

        Raises:
            ConfigError: If no model is configured.
        """
        return self._intake().retry_failed(paths_of(paths), progress=progress)

    def plan(
        self, paths: Paths, *, model: Use = "auto", sample: int = 0, follow_links: bool = False
    ) -> Plan:
        """Return what `ingest` would do with each file, and the predicted calls of models.

        Args:
            paths: As for `ingest`.
            model: As for `ingest`.
            sample: Number of real calls, for a better prediction; their answers are cached.
            follow_links: As for `ingest`.
        """
        return self._intake().plan(
            paths_of(paths), model=model, sample=sample, follow_links=follow_links
        )

    def sync(
        self,
        folder: str | Path,
        *,
        exclude: Sequence[str] = (),
        archive: str = "",
        model: Use = "auto",
        follow_links: bool = False,
    ) -> "Sync":
        """Return what keeps the knowledge base in step with a folder, by `plan` and `run`.

        Args:
            folder: Its documents are those of an archive: what is not there is withdrawn.
            exclude: Patterns of files that are not looked at.
            archive: Name of the archive; for an empty one that which it has.
            model: As for `ingest`.
            follow_links: As for `ingest`.
        """
        from kgrag.maintenance.sync import Sync

        (path,) = paths_of(folder)
        return Sync(self._intake(), path, exclude, archive, model, follow_links)

    def _intake(self) -> Intake:
        return Intake(self.store, self.embedder, self.sizes, self.config, self.chat)

    def curator(self) -> "Curator":
        """Return the recorder of corrections and of decisions on entities."""
        from kgrag.maintenance.corrections import Curator

        return Curator(self._intake().target)

    def import_facts(self, path: str | Path) -> ImportReport:
        """Add facts from a file; see `kgrag.ingestion.imports.import_facts`."""
        return self._intake().import_facts(Path(path))

    def import_summaries(self, path: str | Path) -> ImportReport:
        """Add summaries from a file; see `kgrag.ingestion.imports.import_summaries`."""
        return self._intake().import_summaries(Path(path))

    def reembed(self, *, progress: Progress | None = None) -> ReembedReport:
        """Encode everything with the chosen encoder; see `kgrag.ingestion.reembed`."""
        return self._reembedding().run(progress=progress)

    def reembed_plan(self) -> ReembedPlan:
        """Return what `reembed` would do, and the estimated time."""
        return self._reembedding().plan()

    def _reembedding(self) -> Reembedding:
        # What an endpoint gave before is what may have changed.
        known = None if self.config.embedding.is_endpoint else self.store.get_meta("embedder")
        return Reembedding(self.store, self._choose_embedder(known), self.sizes)

    def documents(self) -> list[Document]:
        """Return the cards of all documents (empty text), ordered by file."""
        return sorted(self._cards(), key=lambda card: (card.file, card.doc_id))

    def _cards(self) -> Sequence[Document]:
        return self.store.document_cards()

    def doc_ids(self, within: Filter | None = None) -> frozenset[str] | None:
        """Return the ids of the documents that a filter leaves; None for all.

        Raises:
            NotFoundError: If no document matches.
        """
        return self._knowledge.within(within).doc_ids

    def find_document(self, name: str) -> Document:
        """Return the card of a document by id, file, number (文号), title or words of its title.

        Raises:
            NotFoundError: If no document, or more than one, matches; with `nearest` names.
        """
        return document_meant(name, self._cards())

    def document(self, name: str) -> Document:
        """Return a document with its text, named as for `find_document`.

        Raises:
            NotFoundError: If no document, or more than one, matches.
        """
        found = self.store.documents([self.find_document(name).doc_id])
        if not found:  # deleted meanwhile
            raise NotFoundError(message("no document is called {name!r}", name=name))
        return found[0]

    def excerpt(self, name: str, start: int, end: int, *, paragraphs: int = 1) -> Excerpt:
        """Return characters of a document with the paragraphs around them, as of today.

        Args:
            name: The document, as for `find_document`.
            start: First character in its text, as in a citation.
            end: Offset after the last.
            paragraphs: Before and behind, blank ones not counted; at most 100.

        Raises:
            NotFoundError: If no document, or more than one, matches.
            OutOfRangeError: If the document has no such characters, or `paragraphs` is over 100.
        """
        checked_count("paragraphs", paragraphs, least=0, most=100)
        document = self.document(name)
        headings = self.store.headings([document.doc_id]).get(document.doc_id, [])
        status = self.statuses().get(document.doc_id)
        span = start, end
        return Excerpt.of(document, headings, span, paragraphs=paragraphs, status=status)

    def graph(self, name: str, *, hops: int = 1, limit: int = 50) -> tuple[Entity, list[Fact]]:
        """Return an entity and the facts around it; see `kgrag.store.networks.facts_around`."""
        return facts_around(self.store, name, hops=hops, limit=limit)

    def to_networkx(self) -> "MultiDiGraph[str]":
        """Return the graph for networkx; see `kgrag.store.networks.to_networkx`."""
        return to_networkx(self.store)

    def counts(self) -> Counts:
        """Return the number of records by kind."""
        return self.store.counts()

    def query(
        self, text: str, *, max_rows: int = 200, timeout_s: float = 5.0
    ) -> list[dict[str, object]]:
        """Return the rows of a read-only query of the owner: Cypher on Neo4j, SQL in a folder."""
        check_whole("query", text)
        check_query(max_rows, timeout_s)
        return self.store.run_query(text, max_rows=max_rows, timeout_s=timeout_s)

    def verify(self) -> list[Problem]:
        """Check every invariant; an empty list means that all hold."""
        return self.store.verify()

    def problems(self) -> list[ReadingProblem]:
        """Return what was read badly or not at all; see `kgrag.maintenance.problems`."""
        return list(reading_problems(self.store))

    def overview(self, *, language: Language = "zh") -> "list[Table]":
        """Return what is held and what is missing today; see `kgrag.statements.overview.overview`.

        Between the counts and the rest is `missing`: what was not read, or is not known.

        Args:
            language: Of words in cells.
        """
        from kgrag.statements.overview import FACETS, overview

        made = overview(self.store, day=as_of_asked("", None).day, language=language)
        made.insert(len(FACETS), problem_table(card_problems(self.store), language))
        return made

    def facets(self) -> "dict[Facet, list[FacetValue]]":
        """Return the values by which documents are filtered, in `overview.facets`."""
        from kgrag.statements.overview import facets

        return facets(self.documents(), self.statuses())

    def statuses(self, as_of: str | date | None = None) -> dict[str, Status]:
        """Return whether each document is in force at a day, by id; see `kgrag.status.Status`.

        Args:
            as_of: 2022, 2022-03, 2022-03-05, 2022年3月, or a date; of a year its last day.
                Today for None.

        Raises:
            ValueError: If it is not a date.
        """
        day = as_of_asked("", as_of).day
        cards = self.store.document_cards()
        in_force = InForce.read(self.store, cards)
        return {card.doc_id: in_force.status(card.doc_id, day) for card in cards}

    def rows(self, selection: "Selection") -> "Table":
        """Return the complete table of a selection; see `kgrag.statements.engine.rows`."""
        from kgrag.statements.engine import rows

        return rows(self.store, selection)

    def table(self, name: str, **fields: Any) -> list[dict[str, object]]:
        """Return the rows of a complete table as mappings, which `pandas.DataFrame` takes.

        Args:
            name: Kind of a selection: `targets`, `compare`, `duties`, `cites`, `timeline`.
            **fields: Of the selection: `indicator="森林覆盖率"`.

        Raises:
            ValueError: If there is no such table, a selection has no such field, or it is out of
                range.
        """
        from kgrag.statements.selection import Selection

        return self.rows(Selection.model_validate({"kind": name, **fields})).records()

    def export(self) -> Iterator[dict[str, object]]:
        """Yield every record as a JSON-ready mapping, in a fixed order."""
        return self.store.export()

    def delete(self, name: str) -> Document:
        """Delete a document and return its card; part of its title does not name it.

        Raises:
            NotFoundError: If no document, or more than one, matches.
        """
        card = document_called(name, self.store.document_cards())
        from kgrag.ingestion.connect import connect
        from kgrag.statements.journal import Recorder

        recorder = Recorder(self.store)
        for state in self.store.sources():
            if state.doc_id == card.doc_id:
                recorder.detach_source(state.source)
        connect(self.store)
        return card

    def entities(
        self, *, limit: int = 40, type_: str | None = None, merged: bool = False
    ) -> "list[Named]":
        """Return entities, those with most facts first; see `kgrag.maintenance.corrections`."""
        from kgrag.maintenance.corrections import named_entities

        limit = checked_count("limit", limit, most=MOST_RESULTS)
        return named_entities(self.store, limit=limit, type_=type_, merged=merged)

    def duplicates(self, *, limit: int = 40, type_: str | None = None) -> "list[Proposal]":
        """Return pairs of entities that may be one; see `kgrag.maintenance.corrections`."""
        from kgrag.maintenance.corrections import likely_duplicates

        limit = checked_count("limit", limit, most=MOST_RESULTS)
        return likely_duplicates(self.store, limit=limit, type_=type_)

    def search(
        self,
        question: str,
        *,
        system: str | None = None,
        top_k: int | None = None,
        within: Filter | None = None,
        as_of: str | date | None = None,
    ) -> list[ScoredChunk]:
        """Return the most relevant chunks for a question, best first.

        Args:
            question: Titles in 《》 are matched exactly.
            system: Name of a preset; the configured one (`grim`) for None.
            top_k: Maximum number; the configured one for None.
            within: Which documents are searched; all for None.
            as_of: 2022, 2022-03: only documents of that time; for None as the question says.

        Raises:
            ConfigError: If there is no such preset.
            ModelError: If the encoder fails.
            NotFoundError: If no document matches `within` or `as_of`.
        """
        return find(
            question,
            knowledge=self._knowledge.at(question, as_of).within(within),
            pipeline=self.system(system or self.config.search.system),
            top_k=checked_results(top_k) or self.config.search.top_k,
            model_of=partial(self.models.of, "analyse") if self.chat.has("analyse") else None,
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
        max_chars: int | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Answer:
        """Return an answer with a citation for every sentence, or one that nothing was found.

        Args:
            question: May refer to earlier turns of `history`.
            system: Name of a preset; the configured one for None.
            top_k: Number of chunks for the answer.
            writer: `model`, or `quotes` by rule; for None the model if one is configured.
            template: Form of a model's answer: `normal`, `focused`, `markdown`, `steps`.
            verify: Verification: `cov`, `cov-paper`, `chats-grid`, `none`.
            history: Earlier turns, oldest first.
            within: Which documents are searched; all for None.
            as_of: As for `search`.
            max_chars: Maximum characters of clauses, without a model; None for the configured one.
            on_text: Called with each piece of a model's first answer as it is streamed.

        Raises:
            ConfigError: If a name is unknown, or `writer` is `model` and none is configured.
            NotFoundError: If no document matches `within` or `as_of`.
            ValueError: If `as_of` is not a date.
        """
        options = AskOptions.from_config(
            self.config,
            writer=writer,
            system=system,
            top_k=top_k,
            template=template,
            verify=verify,
            has_model=self.chat.has("answer"),
            max_chars=max_chars,
        )
        knowledge = self._knowledge.at(question, as_of).within(within)
        return ask(
            question,
            knowledge=knowledge,
            options=options,
            stages=self.models if options.writer == "model" else None,
            history=history,
            within=within,
            notes=self._notes(knowledge, within),
            on_text=on_text,
            systems=self._systems,
            toolbox=self._toolbox(knowledge),
        )

    def _toolbox(self, knowledge: SearchContext) -> Callable[[Language], Toolbox] | None:
        """Return what makes the tools of a model for a question; see `answering.ask.ask`."""
        return None

    @property
    def _knowledge(self) -> SearchContext:
        return self._current.knowledge()
