"""Measure knowledge bases of given sizes: build, queries, one document more and less, cold open.

Documents, facts and questions are made up (`made_up.py`); vectors, too, because the cost of
encoding is the model's and is measured apart. Every stage runs in a process of its own, so that
its memory is its own. Before the cold open the files are dropped from the page cache
(`posix_fadvise(DONTNEED)` on each, after a sync). Needs Linux.

usage: python benchmarks/scale.py [--chunks 15000,100000] [--folder FOLDER] [--queries 200]
       [--systems bm25,grim] [--stages measure,profile]

With --folder what was built stays, and is measured again by the next run without being built.
"""

import argparse
import gc
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from made_up import MadeUpEmbedder, Reader, Writer

from kgrag.answering.current import CurrentState
from kgrag.api import KnowledgeBase
from kgrag.config import Config
from kgrag.embedding.embedder import Task, Vectors
from kgrag.maintenance.intake import Intake, Use
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.systems import preset
from kgrag.store.store import Store

_WARM_UP, _OTHER = 50, 1_000_000  # questions asked first, and their numbers
_CHANGES = 5
_TOP_K = 20
_T = TypeVar("_T")
_SYSTEMS = ("bm25", "vector", "hybrid", "recursive", "kg-vector", "grim")

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """What to build and measure.

    Attributes:
        n_chunks: Leaf chunks, about.
        folder: Of corpus and knowledge base.
        systems: Presets.
        n_queries: Asked of each.
    """

    n_chunks: int
    folder: Path
    systems: tuple[str, ...]
    n_queries: int

    @property
    def kb(self) -> Path:
        """Where the knowledge base is."""
        return self.folder / "kb"


class ClockedEmbedder(MadeUpEmbedder):
    """Knows how long it took, so that it can be taken off the time of a query."""

    seconds = 0.0

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), 512]`."""
        started = time.perf_counter()
        vectors = super().embed(texts, task)
        self.seconds += time.perf_counter() - started
        return vectors


@dataclass(frozen=True, slots=True)
class IntakeWithFacts(Intake):
    """Takes documents in as for a user with models; made-up facts stand for theirs."""

    reader: Reader

    @contextmanager
    def _enricher(self, model: Use) -> Iterator[Reader]:
        yield self.reader


def opened(job: Job, embedder: MadeUpEmbedder) -> KnowledgeBase:
    """Return the knowledge base of a job."""
    return KnowledgeBase.open(job.kb, config=Config(), embedder=embedder)


def take_in(
    base: KnowledgeBase,
    writer: Writer,
    corpus: Path,
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Take a corpus in, with its facts."""
    reader = Reader(writer, leaf=base.sizes.leaf)
    intake = IntakeWithFacts(base.store, base.embedder, base.sizes, base.config, base.chat, reader)
    report = intake.ingest([corpus], model="auto", progress=progress)
    if any(outcome.status == "failed" for outcome in report.outcomes):
        raise SystemExit(f"not taken in: {report.outcomes[0]}")


def write_corpus(corpus: Path, writer: Writer, numbers: Sequence[int]) -> None:
    """Write documents as a `.jsonl`."""
    with corpus.open("w", encoding="utf-8") as file:
        for number in numbers:
            record = dict(writer.document(number).record)
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def build(job: Job) -> list[Row]:
    """Build the knowledge base; return times and memory."""
    writer = Writer(job.n_chunks)
    job.folder.mkdir(parents=True, exist_ok=True)
    corpus = job.folder / "corpus.jsonl"
    write_corpus(corpus, writer, range(writer.n_documents))
    embedder = ClockedEmbedder()
    indexing = [0.0]

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "search index":
            indexing[0] = time.perf_counter()

    started = time.perf_counter()
    with opened(job, embedder) as base:
        take_in(base, writer, corpus, progress)
    ended = time.perf_counter()
    corpus.unlink()
    storing = indexing[0] - started - embedder.seconds
    return [
        ("build, without encoding", f"{ended - started - embedder.seconds:.0f} s"),
        ("… storing", f"{storing:.0f} s"),
        ("… search indexes", f"{ended - indexing[0]:.0f} s"),
        ("… peak memory", memory()),
    ]


def ask(job: Job) -> list[Row]:
    """Return what is stored, and the time of queries by preset."""
    writer, embedder = Writer(job.n_chunks), ClockedEmbedder()
    gc.freeze()  # millions of made-up words and names, which no knowledge base has to look after
    rows = []
    with opened(job, embedder) as base:
        counts = base.counts()
        leaf = min(counts.chunks)
        rows.append(("leaf chunks", f"{counts.chunks[leaf]:,}"))
        rows.append(("facts", f"{counts.facts:,}"))
        rows.append(("vectors", f"{counts.vectors:,}"))
        for place, system in enumerate(job.systems):
            for number in range(_WARM_UP):
                base.search(writer.question(_OTHER + number), system=system, top_k=_TOP_K)
            seconds = []
            for number in range(job.n_queries):
                # Of its own: what one system read for a question is at hand for the next.
                question = writer.question(place * job.n_queries + number)
                before, started = embedder.seconds, time.perf_counter()
                base.search(question, system=system, top_k=_TOP_K)
                seconds.append(time.perf_counter() - started - (embedder.seconds - before))
            rows.append((f"query {system}, p50 / p99", percentiles(seconds)))
        rows.append(("memory after the queries", memory()))
    return rows


def change(job: Job) -> list[Row]:
    """Return the times to add and to delete a document, each until a search sees it."""
    writer = Writer(job.n_chunks)
    added, deleted = [], []
    extra = job.folder / "extra.jsonl"
    with opened(job, ClockedEmbedder()) as base:
        base.search(writer.question(0), top_k=_TOP_K)
        for number in range(writer.n_documents, writer.n_documents + _CHANGES):
            doc_id, question = f"doc{number:06d}", f"《{writer.title(number)}》的目标是什么？"
            write_corpus(extra, writer, [number])
            started = time.perf_counter()
            take_in(base, writer, extra)
            found = {result.chunk.doc_id for result in base.search(question, top_k=_TOP_K)}
            added.append(time.perf_counter() - started)
            started = time.perf_counter()
            base.delete(doc_id)
            left = {result.chunk.doc_id for result in base.search(question, top_k=_TOP_K)}
            deleted.append(time.perf_counter() - started)
            if doc_id not in found or doc_id in left:
                raise SystemExit(f"{doc_id} was not found after it was added, or after it went")
    extra.unlink()
    return [
        ("one document added until found, p50 / most", median_and_most(added)),
        ("one document deleted until gone, p50 / most", median_and_most(deleted)),
    ]


def first_answer(job: Job) -> list[Row]:
    """Return the time from opening to the first answer."""
    started = time.perf_counter()
    with opened(job, MadeUpEmbedder()) as base:
        base.search("绿色工厂的建设目标是什么？", top_k=_TOP_K)
        return [("cold open to first answer", f"{time.perf_counter() - started:.2f} s")]


def drop_from_page_cache(folder: Path) -> None:
    """Have the system forget what it keeps of the files of a folder."""
    os.sync()
    for file in folder.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


class Clock:
    """Adds up the seconds that each part of a query takes."""

    def __init__(self) -> None:
        self.queries: list[dict[str, float]] = []

    def timed(self, name: str, function: Callable[..., _T]) -> Callable[..., _T]:
        """Return the function, timed under a name."""

        def run(*args: object, **options: object) -> _T:
            started = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                spent = self.queries[-1]
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - started

        return run

    def table(self, title: str) -> list[str]:
        """Return the parts as a table, the dearest first."""
        names = {name for query in self.queries for name in query}
        seconds = {name: [query.get(name, 0.0) for query in self.queries] for name in names}
        ordered = sorted(names, key=lambda name: -sum(seconds[name]))
        lines = ["", f"| {title} | mean | p50 / p99 |", "| --- | --- | --- |"]
        for name in ordered:
            mean = 1000 * statistics.fmean(seconds[name])
            lines.append(f"| {name} | {mean:.1f} ms | {percentiles(seconds[name])} |")
        return lines


class ClockedStore:
    """A store whose methods are timed."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __getattr__(self, name: str) -> object:
        """Return a method of the store, timed; of what it begins, what is left for its end."""
        value = getattr(self._store, name)
        if not callable(value):
            return value
        timed = self._clock.timed(name, value)
        if not name.startswith("begin_"):
            return timed

        def begin(*args: object, **options: object) -> object:
            return self._clock.timed(f"end of {name}", timed(*args, **options))

        return begin


def profile(job: Job) -> list[str]:
    """Return where the time of a `grim` query goes, by stage and by method of the store."""
    writer, embedder = Writer(job.n_chunks), MadeUpEmbedder()
    gc.freeze()  # as above
    stages, methods = Clock(), Clock()
    pipeline = preset("grim")
    pipeline = Pipeline(
        tuple(
            replace(
                r,
                retrieve=stages.timed(f"route {r.retrieve.__name__}", r.retrieve),
                begin=stages.timed(r.begin.__name__, r.begin) if r.begin else None,
            )
            for r in pipeline.routes
        ),
        stages.timed("fuse", pipeline.fuse),
        tuple(stages.timed(f"postprocess {p.__name__}", p) for p in pipeline.postprocessors),
    )
    with opened(job, embedder) as base:
        store = ClockedStore(base.store, methods)
        current = CurrentState(store, lambda: base.sizes.searched)
        real = base._current.knowledge()
        knowledge = replace(
            real, store=store, embedder=lambda: embedder, settings=lambda: current.read()[0]
        )

        def answer(question: str) -> None:
            query = stages.timed("read the question", knowledge.query)(question)
            search = knowledge.search(query)
            for name in ("vector", "anchors", "titled"):
                stages.timed(f"search.{name}", partial(getattr, search, name))()
            pipeline.retrieve(search, top_k=_TOP_K)

        for number in range(-_WARM_UP, job.n_queries):
            stages.queries.append({})
            methods.queries.append({})
            stages.timed("whole query, encoding included", answer)(
                writer.question(number if number >= 0 else _OTHER - number)
            )
    for clock in (stages, methods):
        del clock.queries[:_WARM_UP]
    return stages.table("stage") + methods.table("store method")


def percentiles(seconds: Sequence[float]) -> str:
    """Return p50 and p99 in milliseconds."""
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"{1000 * statistics.median(ordered):.1f} / {1000 * p99:.1f} ms"


def median_and_most(seconds: Sequence[float]) -> str:
    """Return median and maximum."""
    return f"{statistics.median(seconds):.2f} / {max(seconds):.2f} s"


def memory() -> str:
    """Return what the process has and had at most in memory: its own, and pages of files."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    most, own, files = (int(fields[f].split()[0]) / 1000 for f in ("VmHWM", "RssAnon", "RssFile"))
    return f"{most:,.0f} MB at most; now {own:,.0f} own, {files:,.0f} of files"


def on_disk(folder: Path) -> str:
    """Return the size of a knowledge base and of its parts."""
    sizes: dict[str, float] = {}
    for file in folder.rglob("*"):
        if file.is_file():
            part = file.relative_to(folder).parts[:2][-1].split(".")[0]
            sizes[part] = sizes.get(part, 0.0) + file.stat().st_size / 1e9
    parts = ", ".join(f"{part} {size:.2f}" for part, size in sorted(sizes.items()) if size > 0.005)
    return f"{sum(sizes.values()):.2f} GB ({parts})"


def apart(stage: Callable[[Job], _T], job: Job) -> _T:
    """Run a stage in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(stage, job).result()


def measured(job: Job) -> Iterator[Row]:
    """Yield all that is measured of a knowledge base, the cold open last."""
    yield from apart(ask, job)
    yield from apart(change, job)
    drop_from_page_cache(job.kb)
    started = time.perf_counter()
    yield from apart(first_answer, job)
    yield "… with the start of Python", f"{time.perf_counter() - started:.2f} s"
    yield "on disk", on_disk(job.kb)


def run(job: Job, stages: Sequence[str]) -> None:
    """Build a knowledge base that is not there yet, and print the tables of the stages."""
    print(f"\n| about {job.n_chunks:,} leaf chunks | |\n| --- | --- |", flush=True)
    built = [] if job.kb.exists() else apart(build, job)
    for label, value in built:
        print(f"| {label} | {value} |", flush=True)
    profiled = apart(profile, job) if "profile" in stages else []
    for label, value in measured(job) if "measure" in stages else ():
        print(f"| {label} | {value} |", flush=True)
    print("\n".join(profiled), flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", default="15000", help="sizes, comma-separated")
    parser.add_argument("--folder", type=Path, help="keeps what is built, in a folder for each")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--systems", default=",".join(_SYSTEMS))
    parser.add_argument("--stages", default="measure", help="of measure, profile; none: builds")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for n_chunks in map(int, args.chunks.split(",")):
            folder = (args.folder or Path(scratch)) / str(n_chunks)
            systems = tuple(args.systems.split(","))
            job = Job(n_chunks, folder, systems, args.queries)
            run(job, args.stages.split(","))


if __name__ == "__main__":
    main()
