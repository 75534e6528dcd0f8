"""Which vectors are worth their cost: the same questions, with other chunks carrying vectors.

A knowledge base is built for each set of chunk sizes. What is encoded is counted, in texts and in
characters, relative to the first set; seconds of ingestion are those of this run, and a text that
an earlier set had encoded takes none.

usage: python benchmarks/vector_sets.py --files FOLDER --queries FILE [--queries FILE ...]
           [--sets 256 512 512,256 ...] [--systems vector,hybrid,grim] [--model NAME]
"""

import argparse
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.embedding.choose import open_embedder
from kgrag.embedding.embedder import Embedder, Task, Vectors
from kgrag.evaluation.queries import GoldQuery, read_queries

SETS = ("256", "512", "1024", "2048", "512,256", "2048,256", "2048,1024,512,256")
COLUMNS = ("R@1", "R@5", "span@1000", "span@2000", "MRR")


class Counting:
    """Encodes each text once, and counts what it is asked for all the same.

    Attributes:
        texts: Passages asked for.
        characters: Of all of them.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.is_stand_in = embedder.is_stand_in
        self.languages = embedder.languages
        self.settings = embedder.settings
        self._known: dict[tuple[str, Task], Vectors] = {}
        self.texts = self.characters = 0

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return the vectors of texts."""
        if task == "passage":
            self.texts += len(texts)
            self.characters += sum(map(len, texts))
        new = [text for text in dict.fromkeys(texts) if (text, task) not in self._known]
        for text, row in zip(new, self._embedder.embed(new, task), strict=True):
            self._known[text, task] = row
        rows = [self._known[text, task] for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)


Row = tuple[str, int, int, float, dict[str, list[float]]]


def measure(
    sets: Sequence[str],
    *,
    files: Path,
    embedder: Counting,
    queries: Sequence[Sequence[GoldQuery]],
    systems: Sequence[str],
) -> Iterator[Row]:
    """Yield for each set: name, texts, characters, seconds, {system: measures in percent}."""
    for name in sets:
        sizes = tuple(int(size) for size in name.split(","))
        config = Config(embedding=EmbeddingConfig(sizes=sizes))
        before = embedder.texts, embedder.characters
        with (
            tempfile.TemporaryDirectory() as folder,
            KnowledgeBase.open(folder, config=config, embedder=embedder) as kb,
        ):
            report = kb.ingest([files], model="none")
            scores: dict[str, list[float]] = {system: [] for system in systems}
            for asked in queries:
                for system, found in kb.evaluate(asked, systems=systems).items():
                    scores[system] += [
                        100 * found.groups[0].means.get(m, math.nan) for m in COLUMNS
                    ]
        texts, characters = embedder.texts - before[0], embedder.characters - before[1]
        yield name, texts, characters, report.seconds, scores


def main() -> None:
    """Measure the sets and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=Path, required=True)
    parser.add_argument("--queries", type=Path, action="append", required=True)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--systems", default="vector,hybrid,grim")
    parser.add_argument("--model", default=None)
    given = parser.parse_args()
    rows = measure(
        given.sets,
        files=given.files,
        embedder=Counting(open_embedder(given.model)),
        queries=[read_queries(path).queries for path in given.queries],
        systems=given.systems.split(","),
    )
    measures = [f"{path.stem} {m}" for path in given.queries for m in COLUMNS]
    print(f"| set | texts | characters | seconds | system | {' | '.join(measures)} |")
    print("| --- |" + " ---: |" * 3 + " --- |" + " ---: |" * len(measures))
    first: tuple[int, int] | None = None
    for name, texts, characters, seconds, scores in rows:
        first = first or (texts, characters)
        cost = f"{texts / first[0]:.2f} | {characters / first[1]:.2f} | {seconds:.0f}"
        for system, values in scores.items():
            cells = " | ".join(f"{value:.1f}" for value in values)
            print(f"| {name} | {cost} | {system} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
