"""How fast 1, 2, 4 processes store documents at a time into one knowledge base of a Neo4j server.

The documents come from a knowledge base that was ingested before, so that nothing is read or
encoded here: what is timed is storing. Each number of writers gets an empty base, and each writer
its share of the documents; then the search indexes are made. What they leave is compared with what
one writer leaves in a folder, line by line of the export, and so is the time.

With `--kills N` one of two writers is killed at a random moment, while the other goes on, and then
begins again; N times, each with an empty base. It must be without a fault then, and at the end
equal the folder's.

usage: python benchmarks/neo4j_writers.py --kb FOLDER [--limit N] [--writers 1,2,4] [--kills N]
           [--uri bolt://HOST:PORT]

Without `--uri` a server is started, which needs Java and Maven (see `tests/neo4j_server`); with it,
all that its database holds is deleted.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from storing import Given, read_given

from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.store.store import Store
from kgrag.text.visible import json_line
from kgrag.text.words import words
from tests.neo4j_server.plugin import clear
from tests.neo4j_server.server import Neo4jServer

_KILLED_WITHIN_S = 4.0


def lines(store: Store) -> list[str]:
    """Return the lines of an export."""
    return [json_line(record, sort_keys=True) for record in store.export()]


def store_some(store: Store, given: Given, writer: int, writers: int) -> None:
    """Store a writer's share of the documents."""
    for source, bundle in given.bundles[writer::writers]:
        store.upsert_document(bundle, source=source)


def folder_store(given: Given) -> tuple[list[str], float, float]:
    """Return the export of a folder, and the seconds of storing and of indexing."""
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore.open(Path(folder))
        store.set_meta(given.meta)
        words("碳达峰")  # loads the dictionary
        began = time.perf_counter()
        store_some(store, given, 0, 1)
        stored = time.perf_counter()
        store.refresh(sizes=given.sizes)
        seconds = stored - began, time.perf_counter() - stored
        found = lines(store)
        store.close()
    return found, *seconds


class Writer:
    """A process that stores a share of the documents once it is told to begin."""

    def __init__(self, args: argparse.Namespace, uri: str, writer: int, writers: int) -> None:
        command = [sys.executable, __file__, "--kb", str(args.kb), "--uri", uri]
        command += ["--share", f"{writer}/{writers}"]
        command += ["--limit", str(args.limit)] if args.limit else []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ready(self) -> None:
        """Wait until it has read its documents."""
        assert self.process.stdout is not None
        if not self.process.stdout.readline():
            raise RuntimeError("a writer did not start")

    def begin(self) -> None:
        """Let it begin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> float:
        """Wait for its end, and return the seconds of CPU that it took for storing."""
        assert self.process.stdout is not None
        said = self.process.stdout.read()
        if self.process.wait():
            raise RuntimeError("a writer failed")
        return float(said)


def write_share(args: argparse.Namespace) -> None:
    """Store a share of the documents: the work of a writer's process."""
    given = read_given(args.kb, args.limit)
    words("碳达峰")
    store = Neo4jStore.open(args.uri)
    print("ready", flush=True)
    sys.stdin.read()
    began = time.process_time()
    store_some(store, given, *map(int, args.share.split("/")))
    print(time.process_time() - began)
    store.close()


def server_cpu(server: Neo4jServer | None) -> float:
    """Return the seconds of CPU that a server of ours has taken."""
    if server is None:
        return 0.0
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def empty(uri: str, given: Given) -> Neo4jStore:
    """Return an empty knowledge base."""
    clear(uri, bare=True)
    store = Neo4jStore.open(uri)
    store.set_meta(given.meta)
    return store


def measure(args: argparse.Namespace, uri: str, server: Neo4jServer | None) -> None:
    """Print how long each number of writers takes."""
    given = read_given(args.kb, args.limit)
    n_chunks = sum(len(bundle.chunks) for _, bundle in given.bundles)
    n_facts = sum(len(bundle.facts) for _, bundle in given.bundles)
    print(f"{len(given.bundles)} documents, {n_chunks} chunks, {n_facts} facts")
    store = empty(uri, given)  # a Java machine is slow until it has compiled itself
    store_some(store, given, 0, 1)
    store.close()
    print(
        "writers  store, s  chunks/s  facts/s  index, s  CPU of clients, of the server, s  x folder"
    )
    for writers in map(int, args.writers.split(",")):
        wanted, stored_s, indexed_s = folder_store(given)
        store = empty(uri, given)
        processes = [Writer(args, uri, writer, writers) for writer in range(writers)]
        for process in processes:
            process.ready()
        began, cpu = time.perf_counter(), server_cpu(server)
        for process in processes:
            process.begin()
        clients = sum(process.end() for process in processes)
        seconds, cpu = time.perf_counter() - began, server_cpu(server) - cpu
        began = time.perf_counter()
        store.refresh(sizes=given.sizes)
        index = time.perf_counter() - began
        ratio = (seconds + index) / (stored_s + indexed_s)
        print(
            f"{writers:7} {seconds:9.1f} {n_chunks / seconds:9.0f} {n_facts / seconds:8.0f} "
            f"{index:9.1f} {clients:16.1f} {cpu:15.1f} {ratio:9.1f}"
            f"   (folder: {stored_s:.1f} s, index {indexed_s:.1f} s)",
            flush=True,
        )
        assert lines(store) == wanted, "the export is not that of the folder"
        store.close()


def kill(args: argparse.Namespace, uri: str) -> None:
    """Kill one of two writers again and again; say what is found afterwards."""
    given = read_given(args.kb, args.limit)
    wanted = folder_store(given)[0]
    rng = random.Random(7)
    killed = at_work = problems = others = 0
    while killed < args.kills:
        store = empty(uri, given)
        other, victim = (Writer(args, uri, writer, 2) for writer in range(2))
        for writer in (other, victim):
            writer.ready()
        for writer in (other, victim):
            writer.begin()
        time.sleep(rng.uniform(0.05, _KILLED_WITHIN_S))
        if victim.process.poll() is None:
            killed += 1
            at_work += other.process.poll() is None
            victim.process.kill()
            victim.process.wait()
            problems += len(store.verify())  # the other may still be writing
            victim = Writer(args, uri, 1, 2)
            victim.ready()
            victim.begin()
        victim.end()
        other.end()
        problems += len(store.verify())
        others += lines(store) != wanted
        store.close()
        print(
            f"{killed} kills, {at_work} beside a writer at work; {problems} problems, "
            f"{others} exports that are not the folder's",
            flush=True,
        )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kb", type=Path, required=True, help="folder, only read")
    parser.add_argument("--limit", type=int, help="documents at most")
    parser.add_argument("--writers", default="1,2,4", help="how many at a time")
    parser.add_argument("--kills", type=int, default=0, help="of one of two writers")
    parser.add_argument("--uri", help="of a database that may be emptied")
    parser.add_argument("--share", help=argparse.SUPPRESS)  # of a writer's process: 0/2
    args = parser.parse_args()
    if args.share:
        write_share(args)
        return
    with ExitStack() as stack:
        server = None
        if args.uri is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            server = stack.enter_context(Neo4jServer(home))
        uri = args.uri or server.uri
        if args.kills:
            kill(args, uri)
        else:
            measure(args, uri, server)


if __name__ == "__main__":
    main()
