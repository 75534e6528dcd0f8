"""Ingesting documents into a knowledge base, with the configured models or without."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.request import url2pathname

from kgrag.config import STAGES, Config
from kgrag.embedding.choose import encoder_meta
from kgrag.embedding.embedder import Embedder
from kgrag.errors import ConfigError, IngestionError
from kgrag.ingestion.change_detection import Seen
from kgrag.ingestion.chunk import ChunkSizes, configured_sizes
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.imports import ImportReport, import_facts, import_summaries
from kgrag.ingestion.load import Discovery, Failure, Sidecars
from kgrag.ingestion.pipeline import PlanBuilder, Progress, detector_of, ingest
from kgrag.ingestion.report import IngestReport, Plan
from kgrag.ingestion.target import IngestTarget, other_sizes
from kgrag.kb_meta import KbMeta
from kgrag.llm.models import ChatModels, Models
from kgrag.maintenance.problems import UNREAD, Unread, renewed_unread, unread_from, unread_text
from kgrag.store.checks import check_encoder
from kgrag.store.folders import FOLDERS, absolute, is_remote, with_folders
from kgrag.store.store import Store
from kgrag.text.messages import message

if TYPE_CHECKING:
    from kgrag.ingestion.enrich import Enricher
    from kgrag.ingestion.reading import ExtractSettings
    from kgrag.ingestion.vision import Vision, VisionUse
    from kgrag.llm.chat import Request, Stage, Usage
    from kgrag.llm.ledger import Prediction

Use = Literal["auto", "none"]
Paths = str | Path | Sequence[str | Path]


def paths_of(paths: Paths) -> list[Path]:
    """Return paths as a list; a string is one path.

    >>> [path.name for path in paths_of("policies/2022")]
    ['2022']
    >>> [path.name for path in paths_of(["a.md", Path("b.md")])]
    ['a.md', 'b.md']
    >>> paths_of("file:///a/%E4%BD%A0.md")[0].as_posix()
    '/a/你.md'
    """
    given = (Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths))
    return [
        Path(url2pathname(path.as_posix()[5:])) if path.parts[:1] == ("file:",) else path
        for path in given
    ]


@dataclass(frozen=True, slots=True)
class Intake:
    """Ingestion into one knowledge base.

    Attributes:
        store: The knowledge base.
        embedder: Its encoder.
        sizes: Its chunk sizes.
        config: Settings.
        chat: Its chat models, and the cache of their answers.
    """

    store: Store
    embedder: Embedder
    sizes: ChunkSizes
    config: Config
    chat: ChatModels

    @property
    def target(self) -> IngestTarget:
        """The knowledge base to write to.

        Raises:
            ConfigError: If the settings differ from what the knowledge base has.
        """
        if other := other_sizes(self.config.chunks, self.sizes):
            raise ConfigError(other)
        return IngestTarget(self.store, self.embedder, self.sizes)

    def ingest(
        self,
        paths: Sequence[Path],
        *,
        model: Use,
        progress: Progress | None,
        follow_links: bool = False,
        only: Collection[str] | None = None,
    ) -> IngestReport:
        """Ingest files and folders; see `kgrag.ingestion.pipeline.ingest`.

        Args:
            paths: Files and folders.
            model: `auto` extracts with the configured models, too; `none` by rules only.
            progress: Called with (file, files done, files in all).
            follow_links: Follow links that lead out of a folder.
            only: Absolute paths of the files to read; all for None.
        """
        from kgrag.statements.digest import versions
        from kgrag.statements.journal import Recorder

        began = time.monotonic()
        known = KbMeta(self.store.all_meta())
        check_encoder(self.embedder.name, known.embedder)
        target = self.target
        sizes = KbMeta.of(chunk_sizes=self.sizes.every)
        wanted = encoder_meta(self.embedder) | sizes
        # Never the recorded encoder again: another process may be changing it (`kgrag reembed`).
        self.store.set_meta(wanted.changes(known) | self._new_folders(paths))
        with self._enricher(model) as enricher, self._vision(model) as vision:
            report = ingest(
                paths,
                replace(target, vision=vision, writer=Recorder(self.store)),
                enricher=enricher,
                progress=progress,
                follow_links=follow_links,
                only=only,
                limits=self.config.ingest,
            )
        self._note_unread(report, paths)
        new = {outcome.doc_id for outcome in report.outcomes if outcome.status == "added"}
        report = self._finished(report, progress, began)
        found = versions(self.store, new, size=self.sizes.searched[0]) if new else []
        return replace(report, versions=tuple(found))

    def look(self, found: Discovery, *, model: Use) -> list[Seen | Failure]:
        """Return what is seen of files without reading them; see `ChangeDetector.look`."""
        with self._enricher(model) as enricher, self._vision(model, "plan") as vision:
            detector = detector_of(
                replace(self.target, vision=vision),
                model=enricher.identity if enricher else "",
                sidecars=Sidecars(found.sidecars),
            )
            return [*detector.look(found.sources, self.config.ingest.max_bytes)]

    def retry_failed(self, paths: Sequence[Path], *, progress: Progress | None) -> IngestReport:
        """Ask the model again for failed passages; see `kgrag.ingestion.pipeline.retry_failed`.

        Raises:
            ConfigError: If no model is configured.
        """
        from kgrag.ingestion.pipeline import retry_failed

        began = time.monotonic()
        with self._enricher("auto") as enricher:
            if enricher is None:
                raise ConfigError(
                    message("no model is configured: name one in [llm] of kgrag.toml")
                )
            report = retry_failed(paths, self.target, enricher=enricher, progress=progress)
        return self._finished(report, progress, began)

    def import_facts(self, path: Path) -> ImportReport:
        """Add facts from a file; see `kgrag.ingestion.imports.import_facts`."""
        return self._imported(import_facts, path)

    def import_summaries(self, path: Path) -> ImportReport:
        """Add summaries from a file; see `kgrag.ingestion.imports.import_summaries`."""
        return self._imported(import_summaries, path)

    def _imported(self, take_in: Callable[..., ImportReport], path: Path) -> ImportReport:
        """Import a file and update the search indexes; the report has the seconds."""
        began = time.monotonic()
        report = take_in(path, self.target)
        index_seconds = self._refreshed()
        return replace(report, seconds=time.monotonic() - began, index_seconds=index_seconds)

    def plan(
        self, paths: Sequence[Path], *, model: Use, sample: int, follow_links: bool = False
    ) -> Plan:
        """Return what `ingest` would do, and the predicted calls of models.

        Args:
            paths: Files and folders.
            model: As for `ingest`.
            sample: Number of real calls, for a better prediction; their answers are cached.
            follow_links: As for `ingest`.
        """
        with self._enricher(model) as enricher, self._vision(model, "plan") as vision:
            planned = PlanBuilder(
                paths,
                replace(self.target, vision=vision),
                enricher=enricher,
                follow_links=follow_links,
                limits=self.config.ingest,
            )
            predictions: dict[str, Prediction] = {}
            if enricher is None:
                for _ in planned.bundles():
                    pass
            else:
                if sample:
                    enricher.sample(planned.bundles, sample)
                for stage in enricher.stages:
                    predictions[stage] = self._predicted(stage, enricher, planned)
            sampled = enricher.report().spent if enricher else {}
            if vision and vision.planned:
                predictions["vision"] = reduce(add, vision.planned)
        return replace(
            planned.plan(),
            predictions=predictions,
            cost=self._cost({stage: p.usage for stage, p in predictions.items()}),
            sampled=sampled,
            sample_cost=self._cost({stage: spent.usage for stage, spent in sampled.items()}),
        )

    def _predicted(
        self, stage: "Stage", enricher: "Enricher", planned: PlanBuilder
    ) -> "Prediction":
        """Return the predicted calls of a stage; reads the documents."""
        from kgrag.llm.ledger import predict

        requests = (r for bundle in planned.bundles() for r in enricher.requests(bundle))
        models = self.chat.fresh()
        return predict(
            (request for request in requests if request.stage == stage),
            model=models.model_name(stage),
            parameters=models.parameters(stage),
            calls=self.chat.calls,
        )

    def _finished(
        self, report: IngestReport, progress: Progress | None, began: float
    ) -> IngestReport:
        """Update the search indexes, and add seconds and cost to the report."""
        if progress:  # the index of words takes a while after many documents
            progress(message("search index"), len(report.outcomes), len(report.outcomes))
        index_seconds = self._refreshed()
        report = replace(report, seconds=time.monotonic() - began, index_seconds=index_seconds)
        if report.model is None:
            return report
        cost = self._cost({stage: spent.usage for stage, spent in report.model.spent.items()})
        return replace(report, model=replace(report.model, cost=cost))

    def _new_folders(self, paths: Sequence[Path]) -> dict[str, str]:
        """Return the note of the folders that paths are shown from, if it changes."""
        given = {
            # a URL without an ending is a prefix, most likely
            absolute(path): path.is_dir() or (is_remote(path) and not path.suffix)
            for path in paths
        }
        known = self.store.get_meta(FOLDERS)
        files = (path for path, is_folder in given.items() if not is_folder)
        sources = (*(state.source for state in self.store.sources()), *files)
        note = with_folders(
            known, (path for path, is_folder in given.items() if is_folder), sources
        )
        return {FOLDERS: note} if note != known else {}

    def _note_unread(self, report: IngestReport, paths: Sequence[Path]) -> None:
        """Record the files that could not be read, and drop those that now can."""
        known = unread_from(self.store.get_meta(UNREAD))
        found = [
            Unread(absolute(o.source), o.detail, o.status == "skipped")
            for o in report.outcomes
            if o.status in ("failed", "skipped")
        ]
        renewed = renewed_unread(known, found, looked_at=paths)
        if renewed != known:
            self.store.set_meta({UNREAD: unread_text(renewed)})

    def _refreshed(self) -> float:
        """Update the search indexes; return the seconds."""
        began = time.monotonic()
        self.store.refresh(sizes=self.sizes.searched)
        return time.monotonic() - began

    @contextmanager
    def _enricher(self, model: Use) -> "Iterator[Enricher | None]":
        """Yield the extraction by models; None if there is none."""
        if model == "none" or not self._has_models():
            yield None
            return
        from kgrag.ingestion.enrich import Enricher, stages_of

        settings, models = extract_settings(self.config), self.chat.fresh()
        stages = stages_of(settings)
        try:
            yield Enricher(
                settings=settings,
                sizes=self.sizes,
                models={stage: models.model_name(stage) for stage in stages},
                model_of=models.of,
                workers=max(self.config.model_of(stage).concurrency for stage in stages),
                curation=Curation.of(self.store),
                stop=models.stop,
            )
        finally:
            models.close()

    def _vision(
        self, model: Use, use: "VisionUse" = "model"
    ) -> "AbstractContextManager[Vision | None]":
        """Return what reads pictures of pages; None if there is none."""
        is_used = model != "none" and self.config.vision.is_configured
        return vision_of(self.config, self.chat, use) if is_used else nullcontext()

    def _has_models(self) -> bool:
        """Return whether every stage of extraction has a model."""
        if not any(map(self.chat.has, STAGES)):
            return False  # and nothing of it is imported
        from kgrag.ingestion.enrich import stages_of

        stages = stages_of(extract_settings(self.config))
        return all(map(self.chat.has, stages))

    def _cost(self, usages: "Mapping[str, Usage]") -> dict[str, float]:
        """Return the cost of stages by currency; empty if a price is unknown."""
        if self.chat.given is not None:
            return {}
        from kgrag.llm.providers import settings_for

        costs: defaultdict[str, float] = defaultdict(float)
        for stage, usage in usages.items():
            price = settings_for(self.config.model_of(stage)).price
            if price is None:
                return {}
            costs[price.currency] += price.of(usage)
        return dict(costs)


@contextmanager
def vision_of(config: Config, chat: ChatModels, use: "VisionUse" = "model") -> "Iterator[Vision]":
    """Yield what reads pictures of pages by the model of `[vision]`; for `use` see `Vision`.

    Raises:
        ConfigError: If none is configured.
    """
    from kgrag.ingestion.vision import Vision

    models = Models(config.model_of, calls=chat.calls)
    models.endpoint("vision")
    try:
        yield Vision(models, config.vision.concurrency, chat.calls, use)
    finally:
        models.close()


def extract_settings(config: Config) -> "ExtractSettings":
    """Return the settings of extraction by models.

    Raises:
        ConfigError: If the meta-model cannot be read.
    """
    from kgrag.ingestion.meta_model import read_meta_model
    from kgrag.ingestion.reading import ExtractSettings

    chosen = config.extract
    return ExtractSettings(
        calls=chosen.calls,
        facts=chosen.facts,
        meta_model=None if chosen.facts == "free" else read_meta_model(chosen.meta_model),
        passage_chars=chosen.passage_chars,
    )


def requests_of(file: Path, config: Config) -> "Iterator[Request]":
    """Yield what would be sent to a model for a file, whether one is configured or not.

    Args:
        file: Of any supported format.
        config: Settings.

    Raises:
        ConfigError: If the meta-model cannot be read.
        IngestionError: If the file cannot be read.
    """
    from kgrag.ingestion.load import Failure, Sidecars, discover
    from kgrag.ingestion.passages import passages
    from kgrag.ingestion.prepare import derive, resolver_of
    from kgrag.ingestion.reading import planned_requests
    from kgrag.ingestion.workers.pool import read_within

    settings = extract_settings(config)
    sizes = configured_sizes(config.chunks)
    found = discover([file])
    sidecars = Sidecars()
    sources = ((source, sidecars.stated(source.path)) for source in found.sources)
    documents = read_within(sources, config.ingest)
    for document in (*found.failures, *documents):
        if isinstance(document, Failure):
            raise IngestionError(f"{document.file}: {document.reason}")
        made = derive(document, sizes=sizes, curation=Curation())
        names = resolver_of(made.document, Curation())
        for passage in passages(made.chunks, sizes=sizes, most_chars=settings.passage_chars):
            yield from planned_requests(passage, made.facts, names, settings=settings)
