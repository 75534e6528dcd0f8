"""How long questions take on both stores, and whether both find the same."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import neo4j
import numpy as np

from kgrag.api import KnowledgeBase
from kgrag.config import Config, SearchConfig
from kgrag.embedding.choose import open_embedder
from kgrag.embedding.embedder import Task, Vectors
from kgrag.results import ScoredChunk
from kgrag.store.background_copy import FIRST
from kgrag.store.neo4j.address import Address
from kgrag.store.neo4j.connection import Database, Row
from kgrag.store.store import Store
from kgrag.vectors.vector import Hit, Vector

_TOP_K = 20  # chunks
_DOCUMENTS = 5  # in whose agreement we are interested
_WARM = 10  # every so-manieth question warms up
_ROUNDED = 1e-4  # relative difference of BM25 scores below which only their sums were rounded
_COMPARED = ("neo4j", "copy")  # with SQLite
_COSINE = 2e-6  # difference of cosines that were rounded to 6 decimals


class TimedDatabase(Database):
    """A connection that notes each round trip of a search.

    Attributes:
        reads: (name of the statement, seconds).
    """

    def __init__(self, address: Address, driver: neo4j.Driver) -> None:
        super().__init__(address, driver)
        self.reads: list[tuple[str, float]] = []

    def read(self, name: str, /, **parameters: object) -> list[Row]:
        """Return the rows of a statement."""
        started = time.perf_counter()
        rows = super().read(name, **parameters)
        self.reads.append((name, time.perf_counter() - started))
        return rows


class Remembering:
    """An encoder that encodes each text once."""

    def __init__(self, name: str) -> None:
        self._embedder = open_embedder(name)
        self._kept: dict[tuple[str, Task], Vector] = {}
        self.name = self._embedder.name
        self.dimension = self._embedder.dimension
        self.is_stand_in = self._embedder.is_stand_in
        self.languages = self._embedder.languages

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`."""
        for text in texts:
            if (text, task) not in self._kept:
                self._kept[text, task] = self._embedder.embed([text], task)[0]
        return np.stack([self._kept[text, task] for text in texts])


@dataclass(frozen=True, slots=True)
class Pair:
    """The same knowledge base in both stores.

    Attributes:
        sqlite: In a folder.
        neo4j: On a server, which answers every question itself.
        copied: On that server, as it is by default: a process that goes on asking is answered from
            a copy of it here.
        database: The connection to the server.
        embedder: Of both.
    """

    sqlite: KnowledgeBase
    neo4j: KnowledgeBase
    copied: KnowledgeBase
    database: TimedDatabase
    embedder: Remembering

    @property
    def bases(self) -> dict[str, KnowledgeBase]:
        """Both, by name."""
        return {"sqlite": self.sqlite, "neo4j": self.neo4j}

    @property
    def asked(self) -> dict[str, KnowledgeBase]:
        """Both, and the server's copy."""
        return {**self.bases, "copy": self.copied}

    def in_turn(self, turn: int) -> list[tuple[str, KnowledgeBase]]:
        """Return both, in the other order every other turn: noise hits both alike."""
        return _turned(self.bases, turn)

    def asked_in_turn(self, turn: int) -> list[tuple[str, KnowledgeBase]]:
        """Return both and the copy, in the other order every other turn."""
        return _turned(self.asked, turn)


def _turned(bases: Mapping[str, KnowledgeBase], turn: int) -> list[tuple[str, KnowledgeBase]]:
    ordered = list(bases.items())
    return ordered[::-1] if turn % 2 else ordered


class Recorded:
    """A store that notes what it was asked and what it answered."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: list[tuple[str, str, object]] = []

    def side_by_side(self, works: Sequence[Callable[[], object]]) -> list[object]:
        """Do one after the other, so that calls have an order."""
        return [work() for work in works]

    def __getattr__(self, name: str) -> Callable[..., object]:
        """Return a method of the store; what was begun is noted as what it gives when it ends."""
        if name == "begin_search_vectors":
            return partial(partial, self.search_vectors)
        method = getattr(self._store, name)

        def call(*args: object, **options: object) -> object:
            result = method(*args, **options)
            self.calls.append((name, repr((args, options)), result))
            return result

        return call


def knowledge_base(
    store: Store, embedder: Remembering, search: SearchConfig | None = None
) -> KnowledgeBase:
    """Return the knowledge base in a store."""
    config = Config(search=search or SearchConfig())
    return KnowledgeBase(store, config=config, choose_embedder=lambda _: embedder)


def answered(base: KnowledgeBase, question: str, system: str) -> list[str]:
    """Return the documents that a preset finds, or that the answer cites, in order.

    Args:
        base: What is asked.
        question: In any words.
        system: A preset, or `ask` for a whole answer, written without a model.
    """
    if system == "ask":
        citations = base.ask(question, writer="quotes").citations
        return list(dict.fromkeys(c.doc_id for c in citations))
    return _documents(base.search(question, system=system, top_k=_TOP_K))


def ask_all(pair: Pair, questions: Sequence[str], presets: Sequence[str]) -> dict[str, object]:
    """Ask all questions of both stores and of the copy; print and return times and agreement.

    Args:
        pair: The knowledge bases.
        questions: In any words.
        presets: Systems, and `ask`.
    """
    for question in questions:  # all are encoded now
        for base in pair.asked.values():
            base.search(question, system="vector", top_k=1)
    _wait_for_copy(pair.copied, questions)
    print(f"\nasking {len(questions)} questions, {_TOP_K} chunks each; ms")
    print(f"{'':16} {'SQLite p50':>11} {'p99':>7}", end="")
    print(
        "".join(f" {name:>13} {'p99':>7} {'ratio':>6} {'trips':>6}" for name in _COMPARED), end=""
    )
    print(f"   {'same documents':>15} {'same order':>11}")
    report = {preset: _ask(pair, questions, preset) for preset in presets}
    for preset, found in report.items():
        causes = Counter(cause for one in found["differing"] for cause in one["causes"])
        if causes:
            print(f"  {preset}: {len(found['differing'])} differ:", end=" ")
            print("; ".join(f"{cause} ({n})" for cause, n in causes.most_common()))
    return report


def _wait_for_copy(base: KnowledgeBase, questions: Sequence[str]) -> None:
    """Ask until the copy is there; print how long it took."""
    started = time.perf_counter()
    for question in (questions[0],) * (FIRST + 1):
        base.search(question, system="vector", top_k=1)
    base._current._copy.wait()
    print(f"the copy was there after {time.perf_counter() - started:.0f} s more", flush=True)


def _ask(pair: Pair, questions: Sequence[str], preset: str) -> dict[str, object]:
    for question in questions if preset == "ask" else questions[::_WARM]:  # all sentences encoded
        for base in pair.asked.values():
            answered(base, question, preset)
    seconds: dict[str, list[float]] = {name: [] for name in pair.asked}
    documents: dict[str, list[list[str]]] = {name: [] for name in pair.asked}
    reads: dict[str, list[tuple[str, float]]] = {name: [] for name in pair.asked}
    for turn, question in enumerate(questions):
        for name, base in pair.asked_in_turn(turn):
            pair.database.reads.clear()
            started = time.perf_counter()
            found = answered(base, question, preset)
            seconds[name].append(time.perf_counter() - started)
            documents[name].append(found)
            reads[name] += pair.database.reads
    differing = [
        {
            "question": question,
            "sqlite": here,
            "neo4j": there,
            "copy": copy,
            "only order": set(here) == set(there) == set(copy),
            "causes": [] if preset == "ask" else _causes(pair, question, preset),
        }
        for question, here, there, copy in zip(questions, *documents.values(), strict=True)
        if not here == there == copy
    ]
    n = len(questions)
    trips = {name: _trips(reads[name], n) for name in _COMPARED}
    report = {
        "ms": {name: _percentiles(column) for name, column in seconds.items()},
        "trips": {name: sum(t["times"] for t in found.values()) for name, found in trips.items()},
        "ms in trips": {
            name: sum(t["ms"] for t in found.values()) for name, found in trips.items()
        },
        "each trip": trips,
        "same documents": 1 - sum(not one["only order"] for one in differing) / n,
        "same order": 1 - len(differing) / n,
        "differing": differing,
    }
    _print(preset, report)
    return report


def _print(preset: str, found: dict[str, object]) -> None:
    here = found["ms"]["sqlite"]
    print(f"{preset:16} {here['p50']:11.1f} {here['p99']:7.1f}", end="")
    for name in _COMPARED:
        there = found["ms"][name]
        print(f" {there['p50']:13.1f} {there['p99']:7.1f}", end="")
        print(f" {there['p50'] / here['p50']:6.2f} {found['trips'][name]:6.1f}", end="")
    print(f"   {found['same documents']:15.1%} {found['same order']:11.1%}", flush=True)


def _documents(results: Sequence[ScoredChunk]) -> list[str]:
    return list(dict.fromkeys(result.chunk.doc_id for result in results))[:_DOCUMENTS]


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    p50, p99 = np.percentile(seconds, (50, 99)) * 1000
    return {"p50": float(p50), "p99": float(p99)}


def _trips(reads: Sequence[tuple[str, float]], n: int) -> dict[str, dict[str, float]]:
    """Return by statement how often a question sends it, and the milliseconds of a question."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for name, spent in reads:
        seconds[name].append(spent)
    ordered = sorted(seconds.items(), key=lambda item: -sum(item[1]))
    return {name: {"times": len(s) / n, "ms": 1000 * sum(s) / n} for name, s in ordered}


def _causes(pair: Pair, question: str, preset: str) -> list[str]:
    """Return why the stores answer a question differently: how their searches differ.

    The same question asks the same of both stores until an answer differs, so that calls are
    compared one by one until they are not the same any more.
    """
    calls = []
    for base in pair.bases.values():
        recorded = Recorded(base.store)
        again = knowledge_base(recorded, pair.embedder)
        again.search(question, system=preset, top_k=_TOP_K)
        calls.append([call for call in recorded.calls if call[0] != "change_counter"])
    found = dict.fromkeys(_differences(*calls))
    weighty = [cause for cause in found if not cause.startswith("(")]
    return weighty or list(found) or ["nothing that the stores answered"]


def _is_same(one: object, other: object) -> bool:
    """Return whether two answers of stores are one; some are arrays, or hold some."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(np.asarray(one), np.asarray(other))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(one == other)


def _differences(
    here: Sequence[tuple[str, str, object]], there: Sequence[tuple[str, str, object]]
) -> Iterator[str]:
    for (name, asked, result), (other_name, other_asked, other) in zip(here, there, strict=False):
        if (name, asked) != (other_name, other_asked):
            return
        if _is_same(result, other):
            continue
        if name == "search_vectors":
            yield _cause_of_vectors(result, other)
        elif name in ("search_words", "search_phrase"):
            yield _cause_of_words(name, result, other)
        elif name == "similarities":
            yield "(last digit of a cosine)"
        else:
            yield name


def _cause_of_vectors(exact: Sequence[Hit], found: Sequence[Hit]) -> str:
    """Say why the index differs from the exact product, which SQLite computes."""
    worst = found[-1][1] if found else -1.0
    held = {node for node, _ in found}
    if any(node not in held and score > worst + _COSINE for node, score in exact):
        return "overlooked by the vector index"
    if any(node not in held for node, _ in exact):
        return "tie of cosines at the cut"
    return "(last digit of a cosine)"


def _cause_of_words(name: str, here: Sequence[Hit], there: Sequence[Hit]) -> str:
    scores = dict(there)
    apart = [abs(s - scores[node]) / max(abs(s), 1e-9) for node, s in here if node in scores]
    if max(apart, default=0.0) > _ROUNDED:
        return f"other BM25 scores ({name})"
    if {node for node, _ in here} != set(scores):
        return "tie of BM25 scores at the cut"
    if [node for node, _ in here] != list(scores):
        return "tie of BM25 scores, rounded sums"
    return "(last digit of a BM25 score)"
