"""How much gold text stands in the context that `kgrag ask` sends, first and on a second try.

- by length: for each budget of tokens the share of gold sentences that are whole in the context,
  the share of questions of which all are, passages, tokens, and lines and tokens of facts.
- on a second try (`--readings`): for the questions of which some gold is not in the first context,
  the same shares after what the ways to verify do with a better question: `cov-paper` retrieves
  with it instead, `cov` beside what was found, gaps first. The better question is the first
  wording that a model gave of the question alone; no answer is written or judged.

usage: python benchmarks/packed.py --kb KB --queries Q.jsonl [--tokens 2000,3000,4000,6000]
           [--readings A.jsonl]

Lines of Q.jsonl: `id`, `question`, `gold_spans` {document: [[start, end], ...]}; a document is
known by its file's name without the ending. Lines of A.jsonl: `id`, `wordings`.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from moved import Asked, asked_of, attempts_at, beside, holding

from kgrag.answer.answer import Problem
from kgrag.answering.pack import facts_block
from kgrag.answering.search_context import SearchContext
from kgrag.api import KnowledgeBase
from kgrag.llm.tokens import estimate_tokens

_MISSING = Problem("missing", "", "")


def main() -> None:
    """Print a line for each budget, and for each second try."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--tokens", default="2000,3000,4000,6000")
    parser.add_argument("--readings", type=Path)
    given = parser.parse_args()
    rows = [row for row in _lines(given.queries) if row.get("gold_spans")]
    with KnowledgeBase.open(given.kb, create=False) as base:
        knowledge = base._current.knowledge()
        print(" budget   gold    all  passages  tokens  facts  tokens of facts")
        for tokens in map(int, given.tokens.split(",")):
            told = list(_told(rows, knowledge, tokens))
            gold, whole, passages, used, facts, of_facts = map(fmean, zip(*told, strict=True))
            figures = f"{gold:6.1f} {whole:6.1f} {passages:9.1f} {used:7.0f}"
            print(f"{tokens:7} {figures} {facts:6.1f} {of_facts:16.0f}", flush=True)
        if given.readings:
            wordings = {r["id"]: r["wordings"][0] for r in _lines(given.readings) if r["wordings"]}
            _print_second_tries(rows, knowledge, wordings)


def _lines(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _told(
    rows: Sequence[Mapping[str, Any]], knowledge: SearchContext, tokens: int
) -> Iterator[tuple[float, ...]]:
    for row in rows:
        asked = asked_of(row["question"], knowledge, context_tokens=tokens)
        facts = asked.context.facts
        yield (
            *_shares(row, asked),
            float(len(asked.context.passages)),
            float(asked.context.tokens),
            float(len(facts)),
            float(estimate_tokens(facts_block(facts))),
        )


def _shares(row: Mapping[str, Any], asked: Asked) -> tuple[float, float]:
    """Return the share of gold sentences in a context, and 100 where all are, else 0."""
    held = [
        bool(holding(asked, doc, start, end)[1])
        for doc, spans in row["gold_spans"].items()
        for start, end in spans
    ]
    return 100 * fmean(held), 100.0 * all(held)


def _print_second_tries(
    rows: Sequence[Mapping[str, Any]], knowledge: SearchContext, wordings: Mapping[str, str]
) -> None:
    told: dict[str, list[tuple[float, float]]] = {"first": [], "cov-paper": [], "cov": []}
    for row in rows:
        attempts = attempts_at(row["question"], knowledge)
        first = attempts(row["question"])
        shares = _shares(row, beside(row["question"], first.context, knowledge))
        if shares[1] or row["id"] not in wordings:
            continue
        wording = wordings[row["id"]]
        contexts = {
            "first": first.context,
            "cov-paper": attempts(wording).context,
            "cov": attempts.with_more(first, _MISSING, wording).context,
        }
        for name, context in contexts.items():
            told[name].append(_shares(row, beside(row["question"], context, knowledge)))
    print(f"\n{len(told['first'])} questions of which some gold is not in the first context")
    for name, several in told.items():
        if several:
            gold, whole = map(fmean, zip(*several, strict=True))
            print(f"{name:10} gold {gold:5.1f}  all {whole:5.1f}")


if __name__ == "__main__":
    main()
