"""Ingestion on a Ray cluster of two nodes: the same result, what kills do to it, what calls take.

The nodes are of this machine, a processor each. Documents of a plugin that reads slowly, by an
encoder that is slow too, are taken in while processes of Ray are killed (-9) at their work, each
in turn one that reads and one that encodes; then while what ingests is killed. A model is a local
endpoint that counts what it is sent. Files that exhaust memory, or whose process is killed each
time, are among others. FOLDER is taken in by this process alone, by processes and on the cluster.
Each line says which numbers must be 0. Needs Linux and `kgrag[ray]`.

usage: python benchmarks/executors.py [--steps STEP,STEP] [--kills 20] [--drivers 10]
           [--documents 2000] [--encoder hash] [FOLDER]
"""

import argparse
import cProfile
import os
import pstats
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import ray
from ray.cluster_utils import Cluster

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig, IngestConfig, ModelConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import KgragError
from kgrag.ingestion.workers import ray_executor
from kgrag.testing.server import FakeServer
from tests.faults.corpus import write_corpus
from tests.fixtures.executors import ACTOR, READER, asked, contents, reached, started, written
from tests.fixtures.packages import put_package
from tests.fixtures.processes import descendants, named

_RAY = IngestConfig(executor="ray", workers=2)
_AT_WORK = (READER, f"{ACTOR}.embed")
_IN_A_RUN = 4  # kills; a file or batch is given up after as many
_PER_MINUTE = 30
_SLOW = """
import os, signal, time
from kgrag.embedding.hashing import HashEmbedder
from kgrag.extending import Parsed, line_segments

def read(data, *, name, stem):
    text = data.decode()
    time.sleep(0.2)
    if text.startswith("eat"):
        held = [bytearray(1 << 20) for _ in range(4000)]
    if text.startswith("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    if text.startswith("kill"):
        os.kill(os.getppid(), signal.SIGKILL)
    return Parsed(text, stem, line_segments(text))

class Slow(HashEmbedder):
    def __init__(self):
        super().__init__(64)
        self.name = "slow-1"

    def embed(self, texts, task):
        time.sleep(0.5)
        return super().embed(texts, task)
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a step works.

    Attributes:
        folder: Its own.
        address: Of the cluster.
        asked: Options of the command line.
    """

    folder: Path
    address: str
    asked: argparse.Namespace

    def started(
        self, kb: Path, paths: Sequence[Path], workers: int = 2
    ) -> "subprocess.Popen[bytes]":
        """Start an ingestion on the cluster."""
        where = ("--address", self.address, "--workers", str(workers))
        return started(kb, paths, "--executor", "ray", *where)


def main() -> None:
    """Print a line or two for each step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--steps", default=",".join(STEPS), help="default: all")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--drivers", type=int, default=10)
    parser.add_argument("--documents", type=int, default=2000, help="of the step `many`")
    parser.add_argument("--encoder", default="", help="of the step `compare`; default: as kgrag's")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as aside:
        _put_slow(Path(aside, "site"))
        cluster = Cluster()
        for _ in range(2):
            cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        try:
            for name in options.steps.split(","):
                folder = Path(aside, name)
                folder.mkdir()
                STEPS[name](Place(folder, cluster.address, options))
        finally:
            ray.shutdown()
            cluster.shutdown()


def _put_slow(site: Path) -> None:
    """Install the slow plugin for this process and all that it starts."""
    site.mkdir()
    points = {"kgrag.loaders": {"odd": "plug_slow:read"}}
    points["kgrag.embedders"] = {"slow": "plug_slow:Slow"}
    put_package(site, "plug-slow", {"plug_slow.py": _SLOW}, points)
    sys.path.insert(0, str(site))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(site), str(Path(__file__).parents[1])])


def _documents(folder: Path, n: int = 40) -> list[Path]:
    """Write documents that are read slowly, of some passages each."""
    folder.mkdir()
    for i in range(n):
        lines = (f"第{i}号地区第{j}家企业到2030年减排{i * 1000 + j}万吨。\n" for j in range(100))
        text = f"第{i}号地区减排方案\n{''.join(lines)}"
        (folder / f"{i:03}.odd").write_text(text, "utf-8")
    return [folder]


def taken_in(
    kb: Path, paths: Sequence[Path], ingest: IngestConfig, model: str = "hash", url: str = ""
) -> float:
    """Ingest in this process; return the seconds."""
    llm = ModelConfig(base_url=url, model="stand-in", concurrency=4)
    config = Config(ingest=ingest, embedding=EmbeddingConfig(model=model), llm=llm)
    began = time.monotonic()
    with KnowledgeBase.open(kb, config=config) as base:
        base.ingest(paths, model="auto" if url else "none")
    return time.monotonic() - began


def kill_workers(place: Place) -> None:
    """Kill what reads and what encodes, while it does, run by run."""
    paths, usual = _documents(place.folder / "docs"), place.folder / "usual"
    hits, runs, again, other, twice = dict.fromkeys(_AT_WORK, 0), 0, 0, 0, 0
    with FakeServer(latency_s=0.05) as server:
        taken_in(usual, paths, IngestConfig(executor="processes"), "slow", server.base_url)
        prompts = asked(server)
        while sum(hits.values()) < place.asked.kills and runs < place.asked.kills:
            since, kb = len(server.requests), place.folder / str(runs)
            written(kb, server.base_url, encoder="slow")
            run = place.started(kb, paths)
            for number in range(min(_IN_A_RUN, place.asked.kills - sum(hits.values()))):
                name = _AT_WORK[number % 2]
                hits[name] += _killed_at_work(run, name)
            runs += 1
            while run.wait():
                again += 1
                run = place.started(kb, paths)
            other += contents(kb) != contents(usual)
            sent = asked(server, since)
            twice += sent.total() - len(sent) + (sent.keys() != prompts.keys())
    print(
        f"killed at work in {runs} runs: {hits}, run again {again}; must be 0: other in the end "
        f"{other}, prompts sent twice {twice} (of {len(prompts)} a run)",
        flush=True,
    )


def _killed_at_work(run: "subprocess.Popen[bytes]", name: str) -> int:
    """Kill a process of the cluster that has the title of its work; return how many (0 or 1)."""
    time.sleep(random.uniform(0, 2))
    for pid in reached(run, name, os.getpid())[:1]:
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
            return 1
    return 0


def kill_drivers(place: Place) -> None:
    """Kill what ingests, and run it again."""
    paths = _documents(place.folder / "docs")
    taken_in(place.folder / "usual", paths, IngestConfig(executor="processes"), "slow")
    died = begun = other = left = 0
    for number in range(1, place.asked.drivers + 1):
        kb = place.folder / str(number)
        written(kb, encoder="slow")
        run = place.started(kb, paths)
        reached(run, READER, os.getpid())
        time.sleep(random.uniform(0, 5))
        run.kill()
        died += run.wait() < 0
        begun += kb.is_dir()
        left += len(_left())
        other += place.started(kb, paths).wait() != 0
        other += contents(kb) != contents(place.folder / "usual")
    print(
        f"drivers killed {died} of {place.asked.drivers}, {begun} had begun; must be 0: other in "
        f"the end {other}, processes left {left}",
        flush=True,
    )


def _left() -> list[int]:
    """Return the processes that read or encode 20 seconds later."""
    until = time.monotonic() + 20
    while found := [*_named(ACTOR), *_named(READER)]:
        if time.monotonic() > until:
            break
        time.sleep(0.2)
    return found


def greedy_files(place: Place) -> None:
    """Have files exhaust memory, or end their process each time; then put them right."""
    docs, kb = place.folder / "docs", place.folder / "kb"
    _documents(docs, 8)
    bad = {word: docs / f"{word}.odd" for word in ("eat", "die", "kill")}
    for word, file in bad.items():
        file.write_text(word, "utf-8")
    written(kb, encoder="slow", more="[ingest]\nparse_memory_mb = 1000\n")
    first = place.started(kb, [docs]).wait()
    n_first = sum('"record": "document"' in line for line in contents(kb)[0])
    for word, file in bad.items():
        file.write_text(f"{word[0]}省方案\n一、目标\n到2030年减排1万吨。\n", "utf-8")
    second = place.started(kb, [docs]).wait()
    taken_in(place.folder / "usual", [docs], IngestConfig(executor="local"), "slow")
    print(
        f"files that exhaust memory: {n_first} of 8 others stored, exit {first} (1 is right); "
        f"must be 0: exit when they are right {second}, other in the end "
        f"{contents(kb) != contents(place.folder / 'usual'):d}",
        flush=True,
    )


def unequal_nodes(place: Place) -> None:
    """Ingest where nodes have another kgrag, or no such encoder; print what is said."""
    ray.init(place.address, log_to_driver=False)
    paths = _documents(place.folder / "docs", 3)
    absent = HashEmbedder(8)
    absent.name = "absent-1"
    cases: list[tuple[str, Callable[..., object], HashEmbedder | None]] = [
        ("_identity", lambda: "kgrag 0.0.1, rules 1, without kgrag[ocr]", None),
        ("is_here", lambda _: True, absent),
    ]
    for name, other, embedder in cases:
        real = getattr(ray_executor, name)
        setattr(ray_executor, name, other)
        config = Config(ingest=_RAY, embedding=EmbeddingConfig(model="hash"))
        kb = place.folder / name
        try:
            with KnowledgeBase.open(kb, config=config, embedder=embedder) as base:
                base.ingest(paths, model="none")
            print(f"{name}: NOT NOTICED")
        except KgragError as exc:
            print(f"{type(exc).__name__}: {exc}", flush=True)
        finally:
            setattr(ray_executor, name, real)
    ray.shutdown()


def limits(place: Place) -> None:
    """Count the calls of the model in any minute, by a driver whose workers are of two nodes.

    As the ledger has them, less a second for threads that a busy machine lets wait.
    """
    paths, kb = _documents(place.folder / "docs", 50), place.folder / "kb"
    with FakeServer() as server:
        written(kb, server.base_url, more=f"requests_per_minute = {_PER_MINUTE}\n")
        place.started(kb, paths).wait()
        sent = asked(server)
    with closing(sqlite3.connect(kb / "calls.db")) as ledger:
        times = [at for (at,) in ledger.execute("SELECT at - seconds FROM ledger")]
    most = max(sum(at <= other < at + 59 for other in times) for at in times)
    print(
        f"{len(times)} calls at {_PER_MINUTE} a minute in {max(times) - min(times):.0f} s, at most "
        f"{most} in any; must be 0: prompts sent twice {sent.total() - len(sent)}",
        flush=True,
    )


@contextmanager
def _endpoint(latency_s: float) -> Iterator[str]:
    """Give the address of a model in a process of its own."""
    command = [sys.executable, "-m", "kgrag.testing", "--port", "8198", "--latency"]
    process = subprocess.Popen([*command, str(latency_s)], stderr=subprocess.PIPE)
    assert process.stderr is not None
    process.stderr.readline()
    try:
        yield "http://127.0.0.1:8198/v1"
    finally:
        process.terminate()
        process.wait()


def calls(place: Place) -> None:
    """Print the calls a second that the driver makes, 64 at a time of a second each."""
    paths = write_corpus(place.folder / "made", n=600)
    ray.init(place.address, log_to_driver=False)
    for ingest in (IngestConfig(executor="local"), _RAY):
        took: list[tuple[float, float]] = []
        for model in ("none", "auto"):
            with _endpoint(1.0) as url:
                llm = ModelConfig(base_url=url, model="stand-in", concurrency=64)
                config = Config(ingest=ingest, embedding=EmbeddingConfig(model="hash"), llm=llm)
                began, cpu = time.monotonic(), time.process_time()
                kb = place.folder / f"{ingest.executor}-{model}"
                with KnowledgeBase.open(kb, config=config) as base:
                    report = base.ingest(paths, model="auto" if model == "auto" else "none")
            took.append((time.monotonic() - began, time.process_time() - cpu))
        n = report.model.total.calls if report.model else 0
        (without, idle), (seconds, busy) = took
        print(
            f"{ingest.executor}: {n} calls in {seconds:.0f} s, without a model {without:.0f} s; "
            f"the driver's processor {1000 * (busy - idle) / n:.1f} ms a call",
            flush=True,
        )
    ray.shutdown()


def compare(place: Place) -> None:
    """Take a folder in thrice."""
    folder, kb, model = place.asked.folder, place.folder, place.asked.encoder
    if folder is None:
        return
    local = taken_in(kb / "local", [folder], IngestConfig(executor="local"), model)
    ray.init(place.address, log_to_driver=False)
    for name, ingest in (("processes", IngestConfig(executor="processes")), ("ray", _RAY)):
        seconds = taken_in(kb / name, [folder], ingest, model)
        other = contents(kb / name) != contents(kb / "local")
        files = sum(path.is_file() for path in folder.rglob("*"))
        print(
            f"{name}: {files} files, other than local {other:d}, {seconds:.0f} s; local {local:.0f}"
        )
    ray.shutdown()


def many(place: Place) -> None:
    """Take in many short documents; print seconds and memory by quarter, and where time goes."""
    n, rng, docs = place.asked.documents, random.Random(1), place.folder / "docs"
    for i in range(n):
        file = docs / f"{i // 1000:03}" / f"{i:06}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        clauses = (
            f"第{j}条 {rng.choice('云青南石')}桥市{rng.randint(1, 10**6)}号企业到2030年减排"
            f"{rng.randint(1, 10**4)}万吨，由省能源局负责。\n"
            for j in range(1, 4)
        )
        file.write_text(f"第{i}号节能方案\n{''.join(clauses)}", "utf-8")
    ray.init(place.address, log_to_driver=False)
    marks: list[tuple[int, float, int, int]] = []

    def progress(_: str, done: int, total: int) -> None:
        if done >= total * len(marks) // 4:
            others = [
                p for name in (ACTOR, READER, "ray::IDLE", sys.executable) for p in _named(name)
            ]
            marks.append(
                (done, time.monotonic(), _rss_mb(os.getpid()), max(map(_rss_mb, others), default=0))
            )

    profile = cProfile.Profile()
    config = Config(ingest=_RAY, embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(place.folder / "kb", config=config) as base:
        with profile:
            base.ingest([docs], model="none", progress=progress)
        ended, took = time.monotonic(), list[float]()
        for _ in range(51):
            began = time.perf_counter()
            base.search(
                f"{rng.choice('云青南石')}桥市{rng.randint(1, 10**6)}号企业到2030年减排多少？"
            )
            took.append(time.perf_counter() - began)
    for (before, began, *_), (done, at, own, most) in pairwise(marks):
        print(
            f"{done} documents: {1000 * (at - began) / max(1, done - before):.1f} ms each; "
            f"the driver has {own} MB, a worker at most {most}",
            flush=True,
        )
    print(f"the end of the run after the last one read: {ended - marks[-1][1]:.0f} s")
    print(
        f"search: the first {took[0]:.1f} s, then {1000 * median(took[1:]):.0f} ms (median of 50)"
    )
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    ray.shutdown()


def _named(name: str) -> list[int]:
    return named(descendants(os.getpid()), name)


def _rss_mb(pid: int) -> int:
    """Return the memory of a process without pages of files, such as the database's; 0 if gone."""
    with suppress(OSError, ValueError):
        _, resident, of_files, *_ = map(int, Path(f"/proc/{pid}/statm").read_text("ascii").split())
        return (resident - of_files) * os.sysconf("SC_PAGE_SIZE") >> 20
    return 0


STEPS: dict[str, Callable[[Place], None]] = {
    "workers": kill_workers,
    "drivers": kill_drivers,
    "memory": greedy_files,
    "unequal": unequal_nodes,
    "limits": limits,
    "calls": calls,
    "many": many,
    "compare": compare,
}

if __name__ == "__main__":
    main()
