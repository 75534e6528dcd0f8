"""Train an encoder on pairs of `kgrag dataset export --format pairs`; plain torch and transformers.

The loss is InfoNCE over the positive, the hard negatives of the query and the texts of all other
queries of the batch (C-Pack, Xiao et al. 2023, section 4.2; QCG-Rerank, section 3.1, tunes its
encoder so). The first token's state, normalised, is the vector. A share of the queries is held
out: of these the rank of the positive among the query's own texts is printed before and after.

What is written is a folder for `kgrag models add FOLDER --pooling cls --query-instruction …`.

usage: python -m benchmarks.train_encoder PAIRS.jsonl --start FOLDER|MODEL.onnx --out FOLDER
"""

import argparse
import json
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from benchmarks.bert_weights import bert_folder

Pair = dict[str, Any]
_TEMPERATURE = 0.02  # C-Pack: 0.01 to 0.02 for its last stage


@dataclass(frozen=True)
class Encoder:
    """A model with what it reads before a question, and how many tokens of a text."""

    model: Any
    tokenizer: Any
    instruction: str
    tokens: int
    negatives: int

    def vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """Return normalised vectors, `float32[len(texts), dimension]`."""
        device = next(self.model.parameters()).device
        fed = self.tokenizer(
            list(texts), padding=True, truncation=True, max_length=self.tokens, return_tensors="pt"
        ).to(device)
        states = self.model(**fed).last_hidden_state[:, 0]
        return torch.nn.functional.normalize(states.float(), dim=-1)

    def loss(self, batch: Sequence[Pair], draw: random.Random) -> torch.Tensor:
        """Return InfoNCE: the positive of each query against all other texts of the batch."""
        queries = self.vectors([self.instruction + pair["query"] for pair in batch])
        texts = [draw.choice(pair["pos"]) for pair in batch]
        texts += [text for pair in batch for text in drawn_negatives(pair, self.negatives, draw)]
        right = [
            [text in pair["pos"] and at != own for at, text in enumerate(texts)]
            for own, pair in enumerate(batch)
        ]  # another's text that answers the query, too, is no negative of it
        scores = queries @ self.vectors(texts).T / _TEMPERATURE
        scores = scores.masked_fill(torch.tensor(right, device=scores.device), -torch.inf)
        return torch.nn.functional.cross_entropy(
            scores, torch.arange(len(batch), device=scores.device)
        )

    def scores(self, pair: Pair) -> list[float]:
        """Return how like its query each text is, the positive first."""
        with torch.no_grad():
            query = self.vectors([self.instruction + pair["query"]])
            return (query @ self.vectors([pair["pos"][0], *pair["neg"]]).T)[0].tolist()


def main() -> None:
    """Train, print losses and ranks, write the model."""
    asked = arguments(__doc__, batch=16, rate=2e-5).parse_args()
    torch.manual_seed(asked.seed)
    disable_progress_bar()
    folder = bert_folder(asked.start, asked.out)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).to(device())
    encoder = Encoder(model, tokenizer, asked.instruction, asked.tokens, asked.negatives)
    train, held = split(read_pairs(asked.pairs), asked.held_out, asked.seed)
    print(f"{len(train)} queries to train on, {len(held)} held out")
    print(f"before: {ranks(encoder.scores, held)}")
    fit(model, train, encoder.loss, asked)
    print(f"after: {ranks(encoder.scores, held)}")
    model.save_pretrained(asked.out)
    tokenizer.save_pretrained(asked.out)


def arguments(about: str, *, batch: int, rate: float) -> argparse.ArgumentParser:
    """Return the arguments that both trainers have."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--start", type=Path, required=True, help="folder, or a BERT's .onnx")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--instruction", default="", help="read before a question")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=0, help="at most; 0 for all")
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--negatives", type=int, default=7, help="of a query in a batch")
    parser.add_argument("--tokens", type=int, default=320, help="of a text; more are cut")
    parser.add_argument("--held-out", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    return parser


def drawn_negatives(pair: Pair, n: int, draw: random.Random) -> list[str]:
    """Return at most `n` negatives of a query, in any order."""
    return draw.sample(pair["neg"], min(n, len(pair["neg"])))


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file that have negatives."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [row for row in rows if row["pos"] and row["neg"]]


def split(pairs: list[Pair], held_out: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Return pairs to train on and held-out ones, which share no positive."""
    drawn = random.Random(seed).sample(pairs, len(pairs))
    held = drawn[: int(len(drawn) * held_out)]
    seen = {text for pair in held for text in pair["pos"]}
    return [p for p in drawn[len(held) :] if seen.isdisjoint(p["pos"])], held


def batches(pairs: Sequence[Pair], asked: argparse.Namespace) -> Iterator[list[Pair]]:
    """Yield the batches of all epochs, or as many as are wanted."""
    draw, n = random.Random(asked.seed), 0
    for _ in range(asked.epochs):
        order = draw.sample(list(pairs), len(pairs))
        for at in range(0, len(order), asked.batch):
            if asked.steps and n >= asked.steps:
                return
            n += 1
            yield order[at : at + asked.batch]


def fit(model: Any, train: Sequence[Pair], loss_of: Any, asked: argparse.Namespace) -> None:
    """Train a model: AdamW, the rate falling in a line after a tenth of the steps."""
    steps = list(batches(train, asked))
    warm = max(1, len(steps) // 10)
    optimizer = torch.optim.AdamW(model.parameters(), lr=asked.rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min((n + 1) / warm, (len(steps) - n) / max(1, len(steps) - warm))
    )
    draw, losses = random.Random(asked.seed), []
    model.train()
    for number, batch in enumerate(steps, start=1):
        loss = loss_of(batch, draw)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if number % max(1, len(steps) // 10) == 0 or number == len(steps):
            print(f"step {number} of {len(steps)}: loss {statistics.mean(losses):.4f}", flush=True)
            losses.clear()
    model.eval()


def ranks(scores_of: Any, held: Sequence[Pair]) -> str:
    """Return how often the positive is first of a query's texts, and its mean reciprocal rank."""
    if not held:
        return "nothing held out"
    places = []
    for pair in held:
        first, *others = scores_of(pair)
        places.append(1 + sum(score >= first for score in others))
    mrr = statistics.mean(1 / place for place in places)
    return f"first {statistics.mean(p == 1 for p in places):.3f}, MRR {mrr:.3f} ({len(held)})"


def device() -> str:
    """Return where to train."""
    return "cuda" if torch.cuda.is_available() else "cpu"


if __name__ == "__main__":
    main()
