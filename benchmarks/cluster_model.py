"""Predict how long an ingest takes with many machines, from service times that are measured here.

usage: python benchmarks/cluster_model.py FOLDER [--files 120] [--readers 1,2,4,16,64,256]
       [--documents 100000,1000000] [--neo4j-store 0.22] [--neo4j-writers 1]
       [--machine-hour 0.20] [--cores 4]

Measured: files of FOLDER are ingested twice, by one process that reads and by two; of the first run
the time to read each file, to encode, to store and to index are kept. The model, a discrete
simulation, is given these alone and predicts both runs: the first says whether it is complete, the
second whether it can predict. Then it is drawn to more readers. Modelled, not measured: all beyond
two readers; no network is slow, no machine fails, and a core reads as fast among many as alone.
Stores: one writer for a folder; `--neo4j-writers` at once for a server, each document taking
`--neo4j-store` seconds (57 s for 255, docs/neo4j.md), which is an assumption: their locks are not
modelled. A machine-hour costs what you say.
"""

import argparse
import heapq
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path

from kgrag.api import KnowledgeBase
from kgrag.config import Config
from kgrag.embedding.local import LocalEmbedder
from kgrag.ingestion.workers.worker import Worker
from kgrag.store.sqlite.store import SQLiteStore

_AHEAD = 3  # files a reader may be ahead of the caller, as in `kgrag.ingestion.workers.pool`


@dataclass(frozen=True, slots=True)
class Times:
    """Service times in seconds.

    Attributes:
        read: Of each file.
        encode: Of a document, by the cores of this machine.
        store: Of a document.
        other: Of a document, what the caller does besides.
        start: Until the first reader is there.
        index: Of a document, at the end.
    """

    read: tuple[float, ...]
    encode: float
    store: float
    other: float
    start: float
    index: float


def simulated(
    read: Sequence[float], encode: float, write: float, *, readers: int, encoders: int, writers: int
) -> tuple[float, str]:
    """Return the seconds from the first file to the last stored one, and the busiest stage.

    Files are begun in order, at most `_AHEAD` for each reader before what is written; encoders take
    them as they are read, writers as they are encoded. 0 encoders: encoding is the writer's.
    """
    ahead = _AHEAD * readers + writers
    free = {"read": [0.0] * readers, "encode": [0.0] * max(1, encoders), "write": [0.0] * writers}
    written: list[float] = []
    for n, seconds in enumerate(read):
        allowed = written[n - ahead] if n >= ahead else 0.0
        done = _served(free["read"], allowed, seconds)
        if encoders:
            done = _served(free["encode"], done, encode)
        done = _served(free["write"], done, write if encoders else encode + write)
        written.append(done)
    ended = max(written)
    work = {
        "reading": sum(read) / readers,
        "encoding": len(read) * encode / encoders if encoders else 0.0,
        "storing": len(read) * (write if encoders else encode + write) / writers,
    }
    return ended, max(work, key=work.__getitem__)


def _served(servers: list[float], ready: float, seconds: float) -> float:
    """Return when what is ready at a time has been served by the first server that is free."""
    done = max(ready, heapq.heappop(servers)) + seconds
    heapq.heappush(servers, done)
    return done


def measured(files: Sequence[Path], workers: int) -> tuple[float, Times]:
    """Ingest files into a new knowledge base; return its seconds and the service times."""
    keys = ("read", "store", "encode", "index", "begun", "cpu")
    clock: dict[str, list[float]] = {key: [] for key in keys}

    def timed(owner: type, name: str, key: str) -> None:
        real = getattr(owner, name)

        def run(*args: object, **named: object) -> object:
            begun, cpu = time.perf_counter(), time.thread_time()
            clock["begun"].append(begun)
            try:
                return real(*args, **named)
            finally:
                clock[key].append(time.perf_counter() - begun)
                if key != "read":  # which threads of their own wait for
                    clock["cpu"].append(time.thread_time() - cpu)

        setattr(owner, name, run)
        undo.append((owner, name, real))

    undo: list[tuple[type, str, object]] = []
    timed(Worker, "read", "read")
    timed(LocalEmbedder, "embed", "encode")
    timed(SQLiteStore, "upsert_document", "store")
    timed(SQLiteStore, "refresh", "index")
    config = Config()
    config = replace(config, ingest=replace(config.ingest, workers=workers))
    with (
        tempfile.TemporaryDirectory() as folder,
        KnowledgeBase.open(Path(folder) / "kb", config=config) as base,
    ):
        cpu, begun = time.thread_time(), time.perf_counter()
        base.ingest(files)
        seconds, own = time.perf_counter() - begun, time.thread_time() - cpu
    for owner, name, real in undo:
        setattr(owner, name, real)
    n = len(files)
    store, index = sum(clock["store"]), sum(clock["index"])
    times = Times(
        read=tuple(clock["read"]),
        encode=sum(clock["encode"]) / n,
        store=store / n,
        other=max(0.0, own - sum(clock["cpu"])) / n,
        start=min(clock["begun"], default=begun) - begun,
        index=index / n,
    )
    return seconds, times


def main() -> None:
    """Measure, compare, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=120)
    parser.add_argument("--readers", default="1,2,4,16,64,256")
    parser.add_argument("--documents", default="100000,1000000")
    parser.add_argument("--neo4j-store", type=float, default=57 / 255)
    parser.add_argument("--neo4j-writers", type=int, default=1)
    parser.add_argument("--machine-hour", type=float, default=0.20)
    parser.add_argument("--cores", type=int, default=4)
    given = parser.parse_args()
    files = sorted(given.folder.glob("*.txt"))[: given.files]
    walls = {}
    walls[1], times = measured(files, 1)
    walls[2], _ = measured(files, 2)
    print(f"measured, {len(files)} files, one reader: read {statistics.mean(times.read):.3f} s a "
          f"document, encode {times.encode:.3f}, store {times.store:.4f}, other {times.other:.4f}, "
          f"index {times.index:.4f}; start {times.start:.2f}")  # fmt: skip
    for n, wall in walls.items():
        ended, stage = simulated(
            times.read, times.encode, times.store + times.other, readers=n, encoders=0, writers=1
        )
        told = ended + times.start + times.index * len(files)
        print(f"readers {n}: measured {wall:.1f} s, modelled {told:.1f} s "
              f"({told / wall - 1:+.0%}), most work: {stage}")  # fmt: skip
    print("modelled | documents | store | readers and encoders | hours | machines | cost | limit")
    for n_documents in map(int, given.documents.split(",")):
        sample = list(islice(cycle(times.read), min(n_documents, 20_000)))
        share = n_documents / len(sample)
        for store, write, writers in (
            ("folder", times.store + times.other, 1),
            ("Neo4j", given.neo4j_store + times.other, given.neo4j_writers),
        ):
            for n in map(int, given.readers.split(",")):
                ended, stage = simulated(
                    sample, 2 * times.encode, write, readers=n, encoders=n, writers=writers
                )
                hours = ended * share / 3600
                machines = -(-2 * n // given.cores)
                cost = hours * (machines + 1) * given.machine_hour
                print(f"modelled | {n_documents:,} | {store} | {n} | {hours:,.1f} | {machines} + 1 "
                      f"| {cost:,.0f} | {stage}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
