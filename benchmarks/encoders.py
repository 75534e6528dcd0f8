"""How much of a model's own speed is left: `embed` against the model alone, in one run.

The model alone is a session of onnxruntime that gets the same texts as token ids, made before the
clock starts, one text a run, in as many threads. Rounds of both take turns, so that what else the
machine does meets both; the median of the rounds' ratios is printed, of the time on the clock and
of that of the processor. Above 1, `embed` is faster: short texts of a float32 model go together.

usage: python benchmarks/encoders.py MODEL... [--corpus FOLDER] [--texts N] [--rounds N]
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from kgrag.embedding.catalog import ModelCard
from kgrag.embedding.local import LocalEmbedder
from kgrag.embedding.model_folder import MODEL_FILE, TOKENIZER_FILE, installed_models

_SAMPLES = Path(__file__).parents[1] / "ingestion" / "samples"
_LENGTHS = {"facts": 24, "clauses": 80, "chunks": 256}  # in characters


def main() -> None:
    """Print a row for each model and length of text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="MODEL", help="names of installed models")
    parser.add_argument("--corpus", type=Path, default=_SAMPLES, help="folder of .txt and .md")
    parser.add_argument("--texts", type=int, default=100, help="most texts of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    files = sorted(file for end in ("*.txt", "*.md") for file in asked.corpus.rglob(end))
    corpus = "\n".join(file.read_text("utf-8", errors="ignore") for file in files)
    cards = {card.name: card for card in installed_models()}
    print("model | precision | texts | tokens each | embed a second | model alone | ratio | of cpu")
    print("--- | --- | --- | --- | --- | --- | --- | ---")
    for name in asked.models:
        for kind, length in _LENGTHS.items():
            texts = _texts(corpus, length, asked.texts)
            figures = _figures(cards[name], texts, rounds=asked.rounds, threads=asked.threads)
            print(f"{name} | {cards[name].precision} | {kind} | {figures}", flush=True)


def _texts(corpus: str, length: int, n: int) -> list[str]:
    """Return distinct pieces of up to a length, which is drawn: real texts are not all alike."""
    rng = random.Random(length)
    texts: dict[str, None] = {}
    at = 0
    while at < len(corpus):
        size = rng.randint(length // 2, length)
        texts[corpus[at : at + size].strip()] = None
        at += size
    texts.pop("", None)
    return rng.sample(list(texts), min(n, len(texts)))


def _figures(card: ModelCard, texts: Sequence[str], *, rounds: int, threads: int) -> str:
    assert card.folder is not None
    embedder = LocalEmbedder.from_folder(card.folder, threads=threads)
    alone, n_tokens = _alone(card.folder, card, texts, threads)
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    alone()  # the first round of each allocates memory
    embedder.embed(texts, "passage")
    for _ in range(rounds):
        theirs.append(_timed(alone))
        ours.append(_timed(lambda: embedder.embed(texts, "passage")))
    wall, cpu = (
        statistics.median(b[i] / a[i] for a, b in zip(ours, theirs, strict=True)) for i in (0, 1)
    )
    speeds = [len(texts) / statistics.median(row[0] for row in rows) for rows in (ours, theirs)]
    return (
        f"{n_tokens / len(texts):.0f} | {speeds[0]:.0f} | {speeds[1]:.0f} | {wall:.2f} | {cpu:.2f}"
    )


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return seconds on the clock and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def _alone(
    folder: Path, card: ModelCard, texts: Sequence[str], threads: int
) -> tuple[Callable[[], object], int]:
    """Return what runs the model on the texts' token ids, and how many there are."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / MODEL_FILE), options)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    tokenizer.enable_truncation(card.max_tokens)
    tokenizer.no_padding()
    feeds = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        made = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        made["token_type_ids"] = np.zeros_like(ids)
        feeds.append({node.name: made[node.name] for node in session.get_inputs()})

    def run() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda feed: session.run(None, feed), feeds))

    return run, sum(feed["input_ids"].size for feed in feeds)


if __name__ == "__main__":
    main()
