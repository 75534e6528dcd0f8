"""How fast documents are stored, checked, exported, deleted, on both stores."""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from asking import Pair

from kgrag.ingestion.chunk import ChunkSizes
from kgrag.store.contents import DocumentBundle, Problem
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.statements import statement
from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.store.store import Store
from kgrag.text.words import words
from tests.neo4j_server.server import Neo4jServer

_CHANGED = 20  # documents deleted and stored again
_WRITTEN = 100  # documents for each way to write
# As in cypher/schema.cypher and cypher/indexes.cypher: the full-text indexes that writing feeds.
_EVENTUALLY = "`fulltext.eventually_consistent`: true, `fulltext.analyzer`"


@dataclass(frozen=True, slots=True)
class Given:
    """What both stores are given.

    Attributes:
        meta: Settings of the knowledge base that it was read from.
        bundles: (source, document), in order of sources.
        sizes: Chunk sizes that are searched for words, coarse first.
    """

    meta: Mapping[str, str]
    bundles: Sequence[tuple[str, DocumentBundle]]
    sizes: tuple[int, int]


def read_given(folder: Path, limit: int | None) -> Given:
    """Return the documents of a knowledge base, which is only read.

    Args:
        folder: The knowledge base.
        limit: Documents at most; all for None.
    """
    store = SQLiteStore.open(folder, create=False)
    try:
        meta = store.all_meta()
        sources = {state.doc_id: state.source for state in store.sources()}
        bundles = [(source, store.bundle(doc_id)) for doc_id, source in sources.items()][:limit]
    finally:
        store.close()
    parent, *children = map(int, meta["chunk_sizes"].split(","))
    searched = ChunkSizes(parent, tuple(children)).searched
    return Given(meta, [(s, b) for s, b in bundles if b is not None], searched)


def store_all(pair: Pair, given: Given) -> dict[str, object]:
    """Store everything in both, refresh, verify and export; print and return the seconds."""
    n = {
        "documents": len(given.bundles),
        "chunks": sum(len(b.chunks) for _, b in given.bundles),
        "facts": sum(len(b.facts) for _, b in given.bundles),
    }
    print("storing", ", ".join(f"{value} {name}" for name, value in n.items()))
    print(f"{'':28} {'SQLite':>10} {'Neo4j':>10} {'ratio':>7}")
    words("碳达峰")  # loads the dictionary
    each = [
        _both(pair, lambda store, one=one: store.upsert_document(one[1], source=one[0]), turn)
        for turn, one in enumerate(given.bundles)
    ]
    stored = _sum(each)
    _print("store, s", stored)
    for name, value in n.items():
        _print(f"  {name}/s", {key: value / seconds for key, seconds in stored.items()})
    later = each[len(each) // 2 :]  # a Java machine is slow until it has compiled itself
    rates = {key: len(later) / seconds for key, seconds in _sum(later).items()}
    _print("  documents/s, later half", rates)
    seconds = {"store": stored, "store, later half": _sum(later)}
    problems: list[Problem] = []
    steps: dict[str, Callable[[Store], object]] = {
        "refresh": lambda store: store.refresh(sizes=given.sizes),
        "verify": lambda store: problems.extend(store.verify()),
        "export": lambda store: sum(1 for _ in store.export()),
    }
    for name, step in steps.items():
        seconds[name] = _both(pair, step)
        _print(f"{name}, s", seconds[name])
    # SQLite parts words when it refreshes; Neo4j does so, too, the first time only.
    seconds["store and refresh"] = _sum([stored, seconds["refresh"]])
    _print("store and refresh, s", seconds["store and refresh"])
    print(f"problems found: {len(problems)}", *problems[:5])
    return {**n, "seconds": seconds, "problems": len(problems)}


def change_some(pair: Pair, given: Given) -> dict[str, object]:
    """Delete some documents of both stores, and store them again; print and return the seconds.

    This time their words and vectors go into indexes that are there.
    """
    some = given.bundles[:: max(1, len(given.bundles) // _CHANGED)][:_CHANGED]
    seconds = {}
    print(f"\nchanging {len(some)} documents{'SQLite':>16} {'Neo4j':>10} {'ratio':>7}")
    steps: dict[str, Callable[[Store, tuple[str, DocumentBundle]], object]] = {
        "delete": lambda store, one: store.delete_document(one[1].document.doc_id),
        "store again": lambda store, one: store.upsert_document(one[1], source=one[0]),
    }
    for name, step in steps.items():
        seconds[name] = _sum(
            [
                _both(pair, lambda store, one=one, step=step: step(store, one), turn)
                for turn, one in enumerate(some)
            ]
        )
        _print(f"{name}, s", seconds[name])
        refreshed = _both(pair, lambda store: store.refresh(sizes=given.sizes))
        seconds[f"refresh after {name}"] = refreshed
        _print("  refresh after it, s", refreshed)
    return {"documents": len(some), "seconds": seconds}


def compare_writing(given: Given) -> dict[str, float]:
    """Return documents/s of ways to write to Neo4j, each on a server of its own.

    Full-text indexes are there from the start, so that all of them are fed.
    """
    bundles = given.bundles[:_WRITTEN]
    ways: dict[str, tuple[int, bool]] = {
        "one writer": (1, False),
        "two writers": (2, False),
        "one writer, eventually": (1, True),
    }
    print(f"\nwriting {len(bundles)} documents to Neo4j, the last three quarters; documents/s")
    rates = {}
    for name, (writers, eventually) in ways.items():
        with tempfile.TemporaryDirectory() as home, Neo4jServer(Path(home)) as server:
            rates[name] = _rate(server.uri, given, bundles, writers, eventually)
        print(f"  {name:26} {rates[name]:10.2f}")
    return rates


def _rate(
    uri: str,
    given: Given,
    bundles: Sequence[tuple[str, DocumentBundle]],
    writers: int,
    eventually: bool,
) -> float:
    store = Neo4jStore.open(uri)
    store.set_meta(given.meta)
    store.refresh(sizes=given.sizes)
    if eventually:
        _define_eventually(store, given.sizes)

    def put(one: tuple[str, DocumentBundle]) -> None:
        store.upsert_document(one[1], source=one[0])

    first, rest = bundles[: len(bundles) // 4], bundles[len(bundles) // 4 :]
    for one in first:  # a Java machine is slow until it has compiled itself
        put(one)
    started = time.perf_counter()
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(put, rest))
    seconds = time.perf_counter() - started
    store.close()
    return len(rest) / seconds


def _define_eventually(store: Neo4jStore, sizes: Sequence[int]) -> None:
    """Define the full-text indexes again, as caught up in the background."""
    database: Database = store._database
    names = ("chunk_text", "entity_names")
    made = {f"kgrag_{name}": statement(f"index_{name}") for name in names}
    made |= {f"kgrag_terms_{size}": statement("index_terms", size=size) for size in sizes}
    for name, text in made.items():
        text = text.replace("`fulltext.analyzer`", _EVENTUALLY)
        for command in (f"DROP INDEX {name}", text):
            database.driver.execute_query(command, database_=database.address.database)
    database.await_indexes()


def _both(pair: Pair, step: Callable[[Store], object], turn: int = 0) -> dict[str, float]:
    """Return the seconds that a step takes on each store; every other turn Neo4j goes first."""
    seconds = {}
    for name, base in pair.in_turn(turn):
        started = time.perf_counter()
        step(base.store)
        seconds[name] = time.perf_counter() - started
    return seconds


def _sum(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: sum(one[name] for one in each) for name in ("sqlite", "neo4j")}


def _print(label: str, value: Mapping[str, float]) -> None:
    ratio = value["neo4j"] / value["sqlite"] if value["sqlite"] else float("nan")
    print(f"{label:28} {value['sqlite']:10.2f} {value['neo4j']:10.2f} {ratio:7.2f}", flush=True)
