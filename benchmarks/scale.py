"""Measure a knowledge base of a given size: build, queries, one document more and less.

Text is made up: words drawn with Zipf frequencies, in sections and sentences, so that lengths
and posting lists look like those of real documents. Vectors are random, from a hash of the text,
because the cost of encoding is the model's and is measured apart.

usage: python benchmarks/scale.py [--chunks 15000] [--queries 200] [--systems bm25,vector,grim]
"""

import argparse
import json
import random
import resource
import statistics
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kgrag.api import KnowledgeBase
from kgrag.embedding.embedder import Task, Vectors

_CHUNKS_PER_DOCUMENT = 60  # leaf chunks; real policy documents have 69 on average
_SYLLABLES = (
    "碳能源绿色低工业建设发展规划目标减排节约循环利用"
    "生态环境交通农村城市企业项目标准技术创新监管资金市场"
)


class RandomEmbedder:
    """Unit vectors from a hash of the text: no meaning, right size, no cost."""

    name = "random-512"
    dimension = 512
    is_stand_in = False
    languages = ""

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), 512]`."""
        out = np.empty((len(texts), self.dimension), np.float32)
        for row, text in zip(out, texts, strict=True):
            seed = zlib.crc32(text.encode())
            row[:] = np.random.default_rng(seed).standard_normal(self.dimension)
        return out / np.linalg.norm(out, axis=1, keepdims=True)


def vocabulary(size: int, rng: random.Random) -> list[str]:
    """Return made-up words of two to four characters, commonest first."""
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(rng.choices(_SYLLABLES, k=rng.choice((2, 2, 2, 3, 4))))] = None
    return list(words)


class Writer:
    """Writes made-up documents."""

    def __init__(self, seed: int = 1) -> None:
        self.rng = random.Random(seed)
        self.words = vocabulary(30_000, self.rng)
        self.weights = list(np.cumsum([1 / (rank + 10) for rank in range(len(self.words))]))

    def draw(self, n: int) -> list[str]:
        """Return n words with Zipf frequencies."""
        return self.rng.choices(self.words, cum_weights=self.weights, k=n)

    def sentence(self) -> str:
        """Return a sentence of 8 to 25 words."""
        words = self.draw(self.rng.randint(8, 25))
        middle = len(words) // 2
        return "".join(words[:middle]) + "，" + "".join(words[middle:]) + "。"

    def document(self, number: int) -> dict[str, str]:
        """Return a record of about `_CHUNKS_PER_DOCUMENT` leaf chunks."""
        title = f"{''.join(self.draw(4))}第{number}号实施方案"
        lines: list[str] = []
        length = 0
        while length < _CHUNKS_PER_DOCUMENT * 190:
            lines.append(f"（{'一二三四五六七八九十'[len(lines) % 10]}）{''.join(self.draw(3))}。")
            lines.append("".join(self.sentence() for _ in range(6)))
            length += len(lines[-1]) + len(lines[-2])
        cited = f"根据《{''.join(self.draw(4))}第{self.rng.randrange(max(1, number))}号实施方案》。"
        return {"id": f"doc{number:06d}", "title": title, "text": cited + "\n" + "\n".join(lines)}


def records(n_documents: int, writer: Writer) -> Iterator[str]:
    """Yield the lines of a `.jsonl`."""
    for number in range(n_documents):
        yield json.dumps(writer.document(number), ensure_ascii=False) + "\n"


def percentiles(seconds: Sequence[float]) -> str:
    """Return p50 and p99 in milliseconds."""
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"p50 {1000 * statistics.median(ordered):7.1f} ms  p99 {1000 * p99:7.1f} ms"


def timed(label: str, started: float) -> None:
    """Print a duration and the memory of the process so far."""
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{label:32} {time.perf_counter() - started:9.3f} s   peak memory {mib:7.0f} MiB")


def measure(n_chunks: int, n_queries: int, systems: Sequence[str], folder: Path) -> None:
    """Build a knowledge base of about `n_chunks` leaf chunks in a folder and print timings."""
    writer = Writer()
    corpus = folder / "corpus.jsonl"
    corpus.write_text("".join(records(n_chunks // _CHUNKS_PER_DOCUMENT, writer)), encoding="utf-8")
    where = folder / "kb"
    started = time.perf_counter()
    with KnowledgeBase.open(where, embedder=RandomEmbedder()) as base:
        base.ingest([corpus])
        timed("build (no encoding)", started)
        print(f"{'stored':32} {base.counts().chunks}")
    started = time.perf_counter()
    with KnowledgeBase.open(where, embedder=RandomEmbedder()) as base:
        base.search("".join(writer.draw(6)), system="grim")
        timed("cold open to first result", started)
        questions = ["".join(writer.draw(writer.rng.randint(4, 10))) for _ in range(n_queries)]
        for system in systems:
            seconds = []
            for question in questions:
                started = time.perf_counter()
                base.search(question, system=system, top_k=20)
                seconds.append(time.perf_counter() - started)
            print(f"{'query ' + system:32} {percentiles(seconds)}")
        change_one(base, writer, folder)
    size = sum(f.stat().st_size for f in where.rglob("*") if f.is_file()) / 1e6
    print(f"{'on disk':32} {size:9.0f} MB")


def change_one(base: KnowledgeBase, writer: Writer, folder: Path) -> None:
    """Add one document and delete it, each until a search sees it; print timings."""
    extra = folder / "extra.jsonl"
    extra.write_text(json.dumps(writer.document(999_999), ensure_ascii=False), encoding="utf-8")
    started = time.perf_counter()
    base.ingest([extra])
    timed("one document added", started)
    started = time.perf_counter()
    base.search("".join(writer.draw(6)), system="grim")
    timed("first search after it", started)
    started = time.perf_counter()
    base.delete("doc999999")
    timed("one document deleted", started)
    started = time.perf_counter()
    base.search("".join(writer.draw(6)), system="grim")
    timed("first search after it", started)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=15_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--systems", default="bm25,vector,hybrid,recursive,kg-vector,grim")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{args.chunks} leaf chunks, {args.queries} queries")
        measure(args.chunks, args.queries, args.systems.split(","), Path(folder))


if __name__ == "__main__":
    main()
