"""Ingestion on a Ray cluster of two nodes: the same result, its seconds, and what kills do to it.

The nodes are of this machine, a processor each. FOLDER is taken in by this process alone, by
processes and on the cluster; then 23 small documents, again and again, while an actor that encodes
or a process that reads is killed, and by drivers that are killed (-9), each run again to its end.
Every number but those of runs, kills and seconds must be 0. Needs Linux and `kgrag[ray]`.

usage: python benchmarks/executors.py FOLDER [KILLS [DRIVERS]]
"""

import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig, IngestConfig
from tests.faults.corpus import write_corpus
from tests.fixtures.executors import ACTOR, READER, contents, reached, started
from tests.fixtures.processes import descendants, named

_RAY = IngestConfig(executor="ray", workers=2)


def main() -> None:
    """Print the table."""
    folder, *numbers = sys.argv[1:]
    kills, drivers = map(int, [*numbers, *("20", "10")[len(numbers) :]])
    cluster = Cluster()
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    try:
        with tempfile.TemporaryDirectory() as aside:
            ray.init(cluster.address, log_to_driver=False)
            compare(Path(aside, "same"), Path(folder))
            paths = write_corpus(Path(aside, "made"), n=20)
            disturb(Path(aside, "kills"), paths, kills)
            kill_drivers(Path(aside, "drivers"), paths, drivers, cluster.address)
    finally:
        ray.shutdown()
        cluster.shutdown()


def taken_in(kb: Path, paths: list[Path], ingest: IngestConfig, model: str = "hash") -> float:
    """Ingest in this process; return the seconds."""
    began = time.monotonic()
    config = Config(ingest=ingest, embedding=EmbeddingConfig(model=model))
    with KnowledgeBase.open(kb, config=config) as base:
        base.ingest(paths, model="none")
    return time.monotonic() - began


def compare(kb: Path, folder: Path) -> None:
    """Take a folder in thrice, with the default encoder."""
    kb.mkdir()
    local = taken_in(kb / "local", [folder], IngestConfig(executor="local"), "")
    for name, ingest in (("processes", IngestConfig(executor="processes")), ("ray", _RAY)):
        seconds = taken_in(kb / name, [folder], ingest, "")
        other = contents(kb / name) != contents(kb / "local")
        files = sum(path.is_file() for path in folder.rglob("*"))
        print(f"{name}: {files} files, other than local {other:d}, time {seconds / local:.2f}")


def disturb(kb: Path, paths: list[Path], kills: int) -> None:
    """Kill an encoder and a reader at random moments, run by run."""
    kb.mkdir()
    taken_in(kb / "0", paths, IngestConfig(executor="local"))
    usual, died, other = taken_in(kb / "warm", paths, _RAY), {ACTOR: 0, READER: 0}, 0
    for number in range(1, kills + 1):
        name = (ACTOR, READER)[number % 2]

        def kill(name: str, is_over: threading.Event, delay_s: float) -> None:
            time.sleep(delay_s)
            while not is_over.wait(0.01):
                for pid in named(descendants(os.getpid()), name)[:1]:
                    os.kill(pid, 9)
                    died[name] += 1
                    return

        is_over = threading.Event()
        thread = threading.Thread(target=kill, args=(name, is_over, random.uniform(0, usual)))
        thread.start()
        usual = taken_in(kb / str(number), paths, _RAY)
        is_over.set()
        thread.join()
        other += contents(kb / str(number)) != contents(kb / "0")
    print(f"killed in {kills} runs: {died}; other than undisturbed {other}")


def kill_drivers(kb: Path, paths: list[Path], drivers: int, address: str) -> None:
    """Kill what ingests, and run it again."""
    kb.mkdir()
    taken_in(kb / "0", paths, IngestConfig(executor="local"))
    n_died = n_begun = other = 0
    for number in range(1, drivers + 1):
        at = kb / str(number)
        run = started(at, paths, "--executor", "ray", "--address", address, "--workers", "2")
        reached(run, READER, os.getpid())
        time.sleep(random.uniform(0, 5))
        run.kill()
        n_died += run.wait() < 0
        n_begun += at.is_dir()
        taken_in(at, paths, _RAY)
        other += contents(at) != contents(kb / "0")
    print(f"drivers killed {n_died} of {drivers}, {n_begun} had begun; other in the end {other}")


if __name__ == "__main__":
    main()
