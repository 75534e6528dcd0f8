"""Search by vectors at a size and in a form, before and after deletions and a new process.

    python benchmarks/vectors.py --vectors 100000 --data clustered --search scanned

Random vectors are the worst case for codes, since no one of them is near another; clustered ones
are like those of a language model. What is searched for is near one that is stored.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.changes import record_change
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.embeddings import sealed_row
from kgrag.store.sqlite.vectors import VectorIndex
from kgrag.vectors.files import LIMITS, Limits
from kgrag.vectors.vector import Vector

_DOCUMENT = 60  # vectors of a document
_BATCH = 12_000
_QUERIES = 60
_NEVER = 1 << 40


def main() -> None:
    """Build, ask, delete a fifth, ask again in a new process; print one line of figures."""
    args = _arguments()
    if args.folder:
        print(json.dumps(_asked(Path(args.folder), args)))
        return
    folder = Path(tempfile.mkdtemp(dir=args.tmp))
    try:
        print(json.dumps(_measured(folder, args)), flush=True)
    finally:
        shutil.rmtree(folder)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=15_000)
    parser.add_argument("--dimension", type=int, default=512)
    parser.add_argument("--data", choices=("random", "clustered"), default="clustered")
    parser.add_argument("--search", choices=("plain", "scanned", "bytes"), default="scanned")
    parser.add_argument("--top-k", type=int, default=50)
    parser.add_argument("--tmp", default=None, help="where to build")
    parser.add_argument("--folder", default="", help="ask this one only (used by itself)")
    return parser.parse_args()


def _measured(folder: Path, args: argparse.Namespace) -> dict[str, object]:
    n = args.vectors // _DOCUMENT * _DOCUMENT
    database = Database.open(folder)
    for start in range(0, n, _BATCH):
        _store(database, _made(args, start, min(_BATCH, n - start)), start)
    with _clock() as build:
        _search(database, folder, args)(_made(args, 0, 1)[0])
    built = _in_new_process(folder, args)
    with database.write() as connection:
        gone = [f"d-{i}" for i in range(0, n // _DOCUMENT, 5)]
        connection.executemany("DELETE FROM documents WHERE doc_id = ?", [(d,) for d in gone])
        record_change(connection, gone)
    deleted = _in_new_process(folder, args)
    search = _search(database, folder, args)
    search(_made(args, 0, 1)[0])
    with _clock() as added:
        _store(database, _made(args, n, _DOCUMENT), n)
        search(_made(args, 0, 1)[0])
    database.close()
    files = [p for p in (folder / "cache").rglob("*") if p.is_file()]
    return {
        "vectors": n,
        "data": args.data,
        "search": args.search,
        "build_s": round(build(), 1),
        "cache_mb": round(sum(p.stat().st_size for p in files) / 1e6),
        "built": built,
        "after_deletions": deleted,
        "add_one_s": round(added(), 3),
    }


def _in_new_process(folder: Path, args: argparse.Namespace) -> dict[str, object]:
    command = [sys.executable, __file__, "--folder", str(folder)]
    for name in ("vectors", "dimension", "data", "search", "top_k"):
        command += [f"--{name.replace('_', '-')}", str(getattr(args, name))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def _asked(folder: Path, args: argparse.Namespace) -> dict[str, object]:
    """Return what searches take and find in this process."""
    before = _resident_mb()
    database = Database.open(folder)
    search = _search(database, folder, args)
    queries = _queries(args)
    with _clock() as first:
        found = [search(queries[0])]
    times, processor, least = [], [], args.top_k
    for query in queries[1:]:
        before_one = time.process_time()
        with _clock() as one:
            found.append(search(query))
        times.append(one())
        processor.append(time.process_time() - before_one)
    tenth = {f"d-{i}" for i in range(1, args.vectors // _DOCUMENT, 10)}
    filtered = []
    for query in queries:
        with _clock() as one:
            least = min(least, len(search(query, tenth)))
        filtered.append(one())
    resident = [now - then for now, then in zip(_resident_mb(), before, strict=True)]
    gold = _gold(database, args, queries)
    recall = [len(set(f) & g) / max(len(g), 1) for f, g in zip(found, gold, strict=True)]
    return {
        "open_s": round(first(), 2),
        "processor_ms": round(float(np.median(processor)) * 1000, 1),
        "p50_ms": round(float(np.percentile(times, 50)) * 1000, 1),
        "p99_ms": round(float(np.percentile(times, 99)) * 1000, 1),
        "tenth_p50_ms": round(float(np.median(filtered)) * 1000, 1),
        "tenth_least": least,
        "recall": round(float(np.mean(recall)), 4),
        "least_recall": min(recall),
        "own_mb": round(resident[0]),
        "mapped_mb": round(resident[1]),
    }


def _search(database: Database, folder: Path, args: argparse.Namespace) -> Callable[..., list[str]]:
    limits = Limits(
        exact=_NEVER if args.search == "plain" else 0,
        small=min(LIMITS.small, args.vectors // 2),
        floats=_NEVER if args.search == "scanned" else 0,
    )
    index = VectorIndex("chunk", CacheFolder(folder / "cache"), limits=limits)

    def search(query: Vector, doc_ids: Collection[str] | None = None) -> list[str]:
        with database.read() as connection:
            hits = index.search(connection, query, top_k=args.top_k, doc_ids=doc_ids)
        return [node for node, _ in hits]

    return search


def _store(database: Database, vectors: Vector, first: int) -> None:
    with database.write() as connection:
        doc_ids = sorted({f"d-{i // _DOCUMENT}" for i in range(first, first + len(vectors))})
        connection.executemany(
            "INSERT INTO documents VALUES (?, '', '', '', '', '', 0, '', '', '', '')",
            [(doc_id,) for doc_id in doc_ids],
        )
        numbered = list(enumerate(vectors, first))
        connection.executemany(
            "INSERT INTO embeddings VALUES (?, ?, ?)",
            [sealed_row(f"k-{i}", v) for i, v in numbered],
        )
        connection.executemany(
            "INSERT INTO node_vectors (node_id, kind, doc_id, key) VALUES (?, 'chunk', ?, ?)",
            [(f"c-{i}", f"d-{i // _DOCUMENT}", f"k-{i}") for i, _ in numbered],
        )
        dimension = str(vectors.shape[1])
        connection.execute("INSERT OR REPLACE INTO state VALUES ('dimension', ?)", (dimension,))
        record_change(connection, doc_ids)


def _made(args: argparse.Namespace, start: int, n: int) -> Vector:
    """Return made-up unit vectors; those of a start are always the same."""
    rng = np.random.default_rng([7, start])
    made = rng.standard_normal((n, args.dimension), np.float32)
    if args.data == "clustered":
        # Topics within a common direction, the first dimensions larger than the last.
        topics = np.random.default_rng(8).standard_normal((3000, args.dimension))
        weights = np.arange(1, args.dimension + 1) ** -0.4
        made = (topics[rng.integers(0, 3000, n)] + 0.5 * made) * weights + 3 * weights[0] ** 2 / 30
    made = made / np.linalg.norm(made, axis=1, keepdims=True)
    return np.asarray(made, np.float32)


def _queries(args: argparse.Namespace) -> Vector:
    """Return vectors as far from a stored one as a question is from its answer."""
    near = _made(args, 0, _BATCH)[: args.vectors // _DOCUMENT * _DOCUMENT]
    rng = np.random.default_rng(9)
    chosen = near[rng.integers(0, len(near), _QUERIES)]
    noise = rng.standard_normal(chosen.shape) / np.sqrt(args.dimension)
    # A random vector's neighbours are at 0.2: only noise that hides it makes a question hard.
    chosen = chosen * (0.1 if args.data == "random" else 1.0) + 0.7 * noise
    return np.asarray(chosen / np.linalg.norm(chosen, axis=1, keepdims=True), np.float32)


def _gold(database: Database, args: argparse.Namespace, queries: Vector) -> list[set[str]]:
    """Return the true nearest of each query, from the rows of the database."""
    best: list[list[tuple[float, str]]] = [[] for _ in queries]
    for names, matrix in _stored(database, args.dimension):
        scores = queries @ matrix.T
        for own, row in zip(best, scores, strict=True):
            places = np.argpartition(row, -args.top_k)[-args.top_k :]
            own += [(float(row[i]), names[i]) for i in places]
            own[:] = sorted(own, reverse=True)[: args.top_k]
    return [{name for _, name in own} for own in best]


def _stored(database: Database, dimension: int) -> Iterator[tuple[list[str], Vector]]:
    with database.read() as connection:
        rows = connection.execute(
            "SELECT n.node_id, e.vector FROM node_vectors n JOIN embeddings e USING (key)"
        )
        while batch := rows.fetchmany(_BATCH):
            data = np.frombuffer(b"".join(blob for _, blob in batch), "<f4")
            yield [name for name, _ in batch], data.reshape(-1, dimension)


def _resident_mb() -> tuple[float, float]:
    """Return memory of the process's own, and of files mapped into it (Linux)."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    status = dict(line.split(":", 1) for line in lines)
    own, mapped = (int(status[key].split()[0]) / 1000 for key in ("RssAnon", "RssFile"))
    return own, mapped


@contextmanager
def _clock() -> Iterator[Callable[[], float]]:
    """Give what returns the seconds that the block took."""
    start = time.perf_counter()
    end: list[float] = []
    yield lambda: end[0] if end else time.perf_counter() - start
    end.append(time.perf_counter() - start)


if __name__ == "__main__":
    os.nice(5)
    main()
