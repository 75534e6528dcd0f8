"""Train a cross-encoder on pairs of `kgrag dataset export --format pairs`.

It reads a query and a text together and gives one score; the loss is the cross-entropy of the
positive among the query's own texts. A share of the queries is held out: of these the rank of the
positive among the query's own texts is printed before and after. Weights start from an encoder,
the head that gives the score from nothing.

usage: python -m benchmarks.train_reranker PAIRS.jsonl --start FOLDER|MODEL.onnx --out FOLDER
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from benchmarks.bert_weights import bert_folder
from benchmarks.train_encoder import (
    Pair,
    arguments,
    device,
    drawn_negatives,
    fit,
    ranks,
    read_pairs,
    split,
)


@dataclass(frozen=True)
class CrossEncoder:
    """A model that scores a query and a text together."""

    model: Any
    tokenizer: Any
    tokens: int
    negatives: int

    def logits(self, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        """Return a score of each (query, text), `float32[len(pairs)]`."""
        fed = self.tokenizer(
            [query for query, _ in pairs],
            [text for _, text in pairs],
            padding=True,
            truncation="only_second",
            max_length=self.tokens,
            return_tensors="pt",
        ).to(next(self.model.parameters()).device)
        return self.model(**fed).logits[:, 0].float()

    def loss(self, batch: Sequence[Pair], draw: random.Random) -> torch.Tensor:
        """Return the mean cross-entropy of each query's positive among its own texts."""
        groups = [
            [draw.choice(pair["pos"]), *drawn_negatives(pair, self.negatives, draw)]
            for pair in batch
        ]
        texts = [
            (p["query"], text) for p, group in zip(batch, groups, strict=True) for text in group
        ]
        scores = self.logits(texts).split([len(group) for group in groups])
        first = torch.zeros(1, dtype=torch.long, device=scores[0].device)
        losses = [torch.nn.functional.cross_entropy(s[None], first) for s in scores]
        return torch.stack(losses).mean()

    def scores(self, pair: Pair) -> list[float]:
        """Return the score of each text of a query, the positive first."""
        with torch.no_grad():
            texts = [pair["pos"][0], *pair["neg"]]
            return self.logits([(pair["query"], text) for text in texts]).tolist()


def main() -> None:
    """Train, print losses and ranks, write the model."""
    asked = arguments(__doc__, batch=8, rate=5e-5).parse_args()
    torch.manual_seed(asked.seed)
    disable_progress_bar()
    folder = bert_folder(asked.start, asked.out)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=1, dtype=torch.float32
    ).to(device())
    reranker = CrossEncoder(model, tokenizer, asked.tokens, asked.negatives)
    train, held = split(read_pairs(asked.pairs), asked.held_out, asked.seed)
    print(f"{len(train)} queries to train on, {len(held)} held out")
    model.eval()
    print(f"before: {ranks(reranker.scores, held)}")
    fit(model, train, reranker.loss, asked)
    print(f"after: {ranks(reranker.scores, held)}")
    model.save_pretrained(asked.out)
    tokenizer.save_pretrained(asked.out)


if __name__ == "__main__":
    main()
