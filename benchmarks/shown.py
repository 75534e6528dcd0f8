"""What answers without a model show of the gold: how often, how much, in how many characters.

- gold: questions of which a gold span is shown, half of it or more; share: of all gold characters;
- characters: of the clauses shown; marked: questions of which a marked sentence touches the gold;
- refused: answerable questions that "no clause says so" stands before, and unanswerable ones.

usage: python benchmarks/shown.py --kb KB Q.jsonl ... [--max-chars 1000] [--by-kind]

Lines of Q.jsonl: `question`, `kind`, `gold_spans` {document: [[start, end], ...]}, empty where
nothing answers; a document is known by its file's name without the ending.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from kgrag.answer.answer import Answer
from kgrag.api import KnowledgeBase

Span = tuple[str, int, int]


@dataclass(frozen=True)
class Shown:
    """What the answer to one question shows.

    Attributes:
        kind: Of the question.
        answerable: Whether it has gold.
        gold: Whether half of a gold span is shown, or more.
        share: Of the gold characters, in [0, 1].
        characters: Of the clauses.
        marked: Whether a marked sentence touches the gold.
        refused: Whether the answer says that no clause says so.
    """

    kind: str
    answerable: bool
    gold: bool
    share: float
    characters: int
    marked: bool
    refused: bool


def shown(kind: str, gold: Sequence[Span], answer: Answer) -> Shown:
    """Compare an answer with the gold."""
    quoted = [(Path(c.file).stem, c.start, c.end) for c in answer.citations]
    marks = [(Path(c.file).stem, *c.marked) for c in answer.citations if c.marked]
    held = [_covered(span, quoted) for span in gold]
    sizes = [end - start for _, start, end in gold]
    return Shown(
        kind,
        bool(gold),
        any(2 * n >= size for n, size in zip(held, sizes, strict=True)),
        sum(held) / max(1, sum(sizes)),
        sum(end - start for _, start, end in quoted),
        any(_covered(span, marks) for span in gold),
        not answer.found,
    )


def _covered(span: Span, others: Iterable[Span]) -> int:
    """Return how many characters of a span others have, each once."""
    document, start, end = span
    own = {at for d, a, b in others if d == document for at in range(max(a, start), min(b, end))}
    return len(own)


def main() -> None:
    """Print a line for each file, for all together, and for each kind if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", required=True)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--max-chars", type=int)
    parser.add_argument("--by-kind", action="store_true")
    given = parser.parse_args()
    found: dict[str, list[Shown]] = {}
    with KnowledgeBase.open(given.kb, create=False) as base:
        for file in given.files:
            for line in filter(str.strip, file.read_text("utf-8").splitlines()):
                row = json.loads(line)
                gold = [(d, a, b) for d, of in row["gold_spans"].items() for a, b in of]
                answer = base.ask(row["question"], writer="quotes", max_chars=given.max_chars)
                found.setdefault(file.stem, []).append(shown(row["kind"], gold, answer))
    every = [one for of in found.values() for one in of]
    if len(found) > 1:
        found["all"] = every
    if given.by_kind:
        for kind in sorted({one.kind for one in every}):
            found[f"  {kind}"] = [one for one in every if one.kind == kind]
    for name, of in found.items():
        _print(name, of)


def _print(name: str, found: Sequence[Shown]) -> None:
    held = [one for one in found if one.answerable]
    others = [one for one in found if not one.answerable]
    told = [name]
    if held:
        shares = (fmean(f(one) for one in held) for f in _SHARES)
        told += [f"{what} {100 * share:.1f}" for what, share in zip(_NAMES, shares, strict=True)]
        told.append(f"characters {fmean(one.characters for one in held):.0f}")
        told.append(f"refused {sum(one.refused for one in held)} of {len(held)}")
    if others:
        told.append(f"unanswerable refused {sum(o.refused for o in others)} of {len(others)}")
    print(", ".join(told))


_NAMES = ("gold", "share", "marked")
_SHARES = (lambda o: float(o.gold), lambda o: o.share, lambda o: float(o.marked))


if __name__ == "__main__":
    main()
