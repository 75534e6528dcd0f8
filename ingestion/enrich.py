"""Have a chat model read the passages of many documents at once, and keep what it gives."""

import heapq
import random
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace

from kgrag.errors import (
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.ids import digest
from kgrag.ingestion.change_detection import PreparedDocument
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.facts import BY_RULE, agreed
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.imports import EXTRACTOR as IMPORTED
from kgrag.ingestion.passages import Passage, passages
from kgrag.ingestion.prepare import resolver_of
from kgrag.ingestion.reading import (
    ExtractSettings,
    PassageKnowledge,
    planned_requests,
    read_passage,
)
from kgrag.ingestion.report import ModelReport, Outcome
from kgrag.ingestion.resolve import NameResolver
from kgrag.llm.chat import ChatModel, Request, Stage
from kgrag.llm.middleware import Meter, Metered
from kgrag.store.contents import DocumentBundle
from kgrag.types import Evidence, Fact

_MOST = 20  # passages in a row: so many hard ones follow each other in hardly any document
_DOCUMENTS = 3  # that they come from, once the model has shown that it can answer
# A model that answers so answers everything so; what it declines is the document's fault.
_NONSENSE = frozenset(["malformed", "empty", "repeating", "invalid"])

# Passages under way or waiting for each worker: enough that one that is tried again and again
# does not stop the others, and no more than some ten MB of documents at 32 workers.
_WINDOW = 16
_TICK_S = 0.5  # how often the caller hears that it is waiting

Numbered = tuple[int, PreparedDocument | Outcome]
Waiting = Callable[[Numbered], None]

_STAGES: dict[str, tuple[Stage, ...]] = {
    "combined": ("extract",),
    "separate": ("extract", "summarize"),
    "facts": ("extract",),
    "summaries": ("summarize",),
}
_KINDS: tuple[tuple[type[ModelError], str], ...] = (
    (ModelUnavailableError, "unavailable"),
    (RateLimitError, "rate limit"),
    (TransientModelError, "connection"),
    (ModelError, "call refused"),
)


def stages_of(settings: ExtractSettings) -> tuple[Stage, ...]:
    """Return the stages whose models read a passage."""
    return _STAGES[settings.calls]


@dataclass(frozen=True, slots=True)
class _Queued:
    """What stands in the queue of documents, with the passages that are being read for it."""

    numbered: Numbered
    passages: Sequence[Passage] = ()
    futures: "Sequence[Future[PassageKnowledge | ModelError]]" = ()


class Enricher:
    """Reads passages of documents with chat models, many at a time; of use for one run.

    Attributes:
        settings: What is asked.
        stages: Whose models are asked.
        identity: Hash of what decides the outcome: the settings, prompts and models' names.
    """

    def __init__(
        self,
        *,
        settings: ExtractSettings,
        sizes: ChunkSizes,
        models: Mapping[Stage, str],
        model_of: Callable[[Stage], ChatModel],
        workers: int,
        curation: Curation | None = None,
        stop: Callable[[], object] = lambda: None,
    ) -> None:
        """Take what is needed; nothing is asked yet.

        Args:
            settings: What is asked.
            sizes: Chunk sizes of the knowledge base.
            models: Names of the models, by stage of `stages_of(settings)`.
            model_of: The model of a stage; called when a passage is read, from several threads.
            workers: Passages read at the same time, at least 1: the models' concurrency.
            curation: What people decided; None for nothing.
            stop: Called when no more answers are wanted: ends the waits of calls that would be
                tried again, so that an interrupted run ends soon.
        """
        self.settings = settings
        self.stages = stages_of(settings)
        self.identity = digest(settings.identity, *(models[stage] for stage in self.stages))
        self._sizes = sizes
        self._model_of = model_of
        self._meter = Meter()
        self._workers = workers
        self._curation = curation or Curation()
        self._stop = stop
        self._streak = FailureStreak()
        self._given: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._unavailable = ""

    @property
    def calls(self) -> int:
        """Return the calls that were paid so far."""
        return sum(spent.calls for spent in self._meter.spent.values())

    def report(self) -> ModelReport:
        """Return what the models gave so far."""
        return ModelReport(
            passages=self._given["passages"],
            facts=self._given["facts"],
            summaries=self._given["summaries"],
            dropped=dict(sorted(self._dropped.items())),
            failed=dict(sorted(self._failed.items())),
            spent=self._meter.spent,
            unavailable=self._unavailable,
        )

    def passages_of(self, bundle: DocumentBundle) -> list[Passage]:
        """Return the passages of a document that are to be read: all, or those marked as failed."""
        found = passages(bundle.chunks, sizes=self._sizes, most_chars=self.settings.passage_chars)
        failed = Fingerprint.parse(bundle.fingerprint).failed
        return [p for p in found if p.position in failed] if failed else found

    def requests(self, bundle: DocumentBundle) -> Iterator[Request]:
        """Yield what will be asked about a document if all goes well."""
        for passage in self.passages_of(bundle):
            yield from planned_requests(passage, bundle.document, settings=self.settings)

    def enrich(
        self, items: Iterable[Numbered], *, waiting: Waiting = lambda _: None
    ) -> Generator[Numbered, None, None]:
        """Yield the items in their order, documents with what the models read in them.

        Items are taken ahead of those that are yielded, and their passages read meanwhile; how
        far ahead is bounded. Passages that cannot be read are marked in the document's
        fingerprint and told in its outcome. Close the iterator if you stop early: calls that
        were begun are finished, for their answers are kept, and no other is.

        Args:
            items: Documents and what else became of files, with a number that comes back.
            waiting: Called now and then with the item that is waited for.
        """
        queue: deque[_Queued] = deque()
        with self._pool() as pool:
            for item in items:
                queue.append(self._queued(item, pool))
                while queue and (_is_read(queue[0]) or self._is_full(queue)):
                    yield self._finished(queue.popleft(), waiting)
            while queue:
                yield self._finished(queue.popleft(), waiting)

    def sample(self, bundles: Iterable[DocumentBundle], n_calls: int) -> None:
        """Have some passages read so that the ledger knows the models' rates.

        Which ones depends on a hash: they are spread over all documents, and the same each
        time. Their answers are kept and not paid again.

        Args:
            bundles: Documents to be read.
            n_calls: Calls at most; at least one passage is read.
        """
        n_passages = max(1, n_calls // len(self.stages))
        chosen = heapq.nsmallest(
            n_passages,
            (
                (p, bundle, resolver_of(bundle.document, self._curation))
                for bundle in bundles
                for p in self.passages_of(bundle)
            ),
            key=lambda chosen: digest("sample", chosen[0].doc_id, str(chosen[0].position)),
        )
        with self._pool() as pool:
            for outcome in pool.map(lambda one: self._read(*one), chosen):
                if isinstance(outcome, ModelUnavailableError):
                    raise outcome

    @contextmanager
    def _pool(self) -> Iterator[ThreadPoolExecutor]:
        """Give threads; at the end those calls are waited for that are under way, and no other."""
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="read")
        try:
            yield pool
        except BaseException:  # also where the caller stops early
            self._stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _queued(self, item: Numbered, pool: ThreadPoolExecutor) -> _Queued:
        ready = item[1]
        if isinstance(ready, Outcome) or ready.bundle is None:
            return _Queued(item)
        todo = self.passages_of(ready.bundle)
        # why a retry is asked in any order: see `kgrag.ingestion.retry`
        order = random.sample(todo, len(todo)) if ready.outcome.status == "retried" else todo
        names = resolver_of(ready.bundle.document, self._curation) if todo else None
        futures = {
            p.position: pool.submit(self._read, p, ready.bundle, names) for p in order if names
        }
        return _Queued(item, todo, [futures[p.position] for p in todo])

    def _read(
        self, passage: Passage, bundle: DocumentBundle, names: NameResolver
    ) -> PassageKnowledge | ModelError:
        hopeless = self._streak.error()
        if hopeless:
            return hopeless
        leaves = [c for c in bundle.chunks if c.size == self._sizes.leaf]
        try:
            known = read_passage(
                passage,
                leaves,
                names=names,
                settings=self.settings,
                model_of=self._model,
                # what failed for good may have been the endpoint's fault: ask for it whole
                anew=bool(Fingerprint.parse(bundle.fingerprint).failed),
            )
        except ModelError as exc:
            self._streak.failed(passage.doc_id, exc)
            return exc
        self._streak.succeeded()
        return known

    def _model(self, stage: Stage) -> ChatModel:
        """Return the model of a stage; where one reads all, that one, also for parts by itself."""
        stage = stage if stage in self.stages else self.stages[0]
        return Metered(self._model_of(stage), self._meter, stage=stage)

    def _is_full(self, queue: Iterable[_Queued]) -> bool:
        return sum(len(queued.futures) for queued in queue) >= _WINDOW * self._workers

    def _finished(self, queued: _Queued, waiting: Waiting) -> Numbered:
        """Return an item with what was read in it; wait for that."""
        number, item = queued.numbered
        while not _is_read(queued):
            wait(queued.futures, timeout=_TICK_S)
            waiting(queued.numbered)
        if not queued.passages or isinstance(item, Outcome) or item.bundle is None:
            return queued.numbered
        results = [(p, f.result()) for p, f in zip(queued.passages, queued.futures, strict=True)]
        good = [(p, r) for p, r in results if not isinstance(r, ModelError)]
        bad = [(p, r) for p, r in results if isinstance(r, ModelError)]
        self._count([r for _, r in good], [error for _, error in bad])
        outcome = replace(item.outcome, detail=_detail(bad), failed_passages=len(bad))
        if item.outcome.status == "retried" and not good:
            return number, outcome
        bundle = _with_knowledge(item.bundle, good, failed=[p.position for p, _ in bad])
        return number, replace(item, outcome=outcome, bundle=bundle)

    def _count(self, good: Sequence[PassageKnowledge], bad: Sequence[ModelError]) -> None:
        for knowledge in good:
            self._given["facts"] += len(knowledge.facts)
            self._given["summaries"] += len(knowledge.summaries)
            self._dropped.update(knowledge.dropped)
        self._given["passages"] += len(good)
        self._failed.update(map(_kind, bad))
        for error in bad:
            if isinstance(error, ModelUnavailableError) and not self._unavailable:
                self._unavailable = str(error)


def _is_read(queued: _Queued) -> bool:
    return all(future.done() for future in queued.futures)


def _kind(error: ModelError) -> str:
    if isinstance(error, ModelOutputError):
        return error.kind
    return next(name for type_, name in _KINDS if isinstance(error, type_))


def _detail(bad: Sequence[tuple[Passage, ModelError]]) -> str:
    """Return why passages failed; nothing where no model could be reached: that is told once."""
    told = [(p, e) for p, e in bad if not isinstance(e, ModelUnavailableError)]
    if not told:
        return ""
    kinds = ", ".join(
        f"{n} {kind}" for kind, n in sorted(Counter(_kind(e) for _, e in told).items())
    )
    passage, error = told[0]
    return f"passages not read: {kinds}; characters {passage.start} to {passage.end}: {error}"


def _with_knowledge(
    bundle: DocumentBundle,
    read: Sequence[tuple[Passage, PassageKnowledge]],
    *,
    failed: Sequence[int],
) -> DocumentBundle:
    """Return a document with what was read now, in place of what models read there before."""

    def is_read(start: int) -> bool:
        return any(p.start <= start < p.end for p, _ in read)

    def stays(e: Evidence) -> bool:
        return e.extractor in (BY_RULE, IMPORTED) or not is_read(e.start)

    facts = [_only(fact, stays) for fact in bundle.facts]
    summaries = [s for s in bundle.summaries if s.source == IMPORTED or not is_read(s.start)]
    fingerprint = replace(Fingerprint.parse(bundle.fingerprint), failed=tuple(failed))
    return replace(
        bundle,
        fingerprint=str(fingerprint),
        facts=[
            *(f for f in facts if f.evidence),
            *agreed((f for _, k in read for f in k.facts), bundle.facts),
        ],
        mentions=[m for m in bundle.mentions if stays(m.evidence)],
        summaries=summaries + [s for _, k in read for s in k.summaries],
    )


def _only(fact: Fact, keep: Callable[[Evidence], bool]) -> Fact:
    return replace(fact, evidence=tuple(e for e in fact.evidence if keep(e)))


class FailureStreak:
    """Passages in a row whose answers were of no use; safe for threads.

    A model that answers nonsense costs as much as a good one. It counts as hopeless after 20
    passages in a row, if nothing could be used in this run, or if they come from three documents
    or more: one with bad tables alone does not stop the others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passages = 0
        self._documents: set[str] = set()
        self._has_succeeded = False

    def failed(self, doc_id: str, error: ModelError) -> None:
        """Take note of a passage that could not be read."""
        if isinstance(error, ModelOutputError) and error.kind in _NONSENSE:
            with self._lock:
                self._passages += 1
                self._documents.add(doc_id)

    def succeeded(self) -> None:
        """Take note of a passage that was read."""
        with self._lock:
            self._passages = 0
            self._documents.clear()
            self._has_succeeded = True

    def error(self) -> ModelUnavailableError | None:
        """Return why no more are to be asked; None as long as they are."""
        with self._lock:
            n, n_documents, has_succeeded = (
                self._passages,
                len(self._documents),
                self._has_succeeded,
            )
        if n < _MOST or (has_succeeded and n_documents < _DOCUMENTS):
            return None
        return ModelUnavailableError(
            f"the answers to {_MOST} passages in a row could not be used, so that no more are "
            "asked; another llm.model or llm.json may do better"
        )
