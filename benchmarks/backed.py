"""Whether the scores of backing of `kgrag eval answers` fall where citations are wrong.

Answers with at least two citations, from a file of `--out`, are scored as they are, with the
citations of each turned by one (the first [n] leads to the second quote), and with citations of any
answers.

usage: python benchmarks/backed.py ANSWERS.jsonl
"""

import argparse
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation
from kgrag.evaluation.citations import backing_scores, number_scores

_Cited = Sequence[Mapping[str, Any]]


def main() -> None:
    """Print the means of each way to exchange citations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("answers", type=Path)
    lines = parser.parse_args().answers.read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if len(row["citations"]) > 1]
    every = [citation for row in rows for citation in row["citations"]]
    drawn = random.Random(1)
    ways: dict[str, Callable[[_Cited], _Cited]] = {
        "as they are": lambda own: own,
        "turned by one": lambda own: [*own[1:], own[0]],
        "of any answers": lambda own: drawn.sample(every, len(own)),
    }
    for name, way in ways.items():
        scores = [exchanged(row, way(row["citations"])) for row in rows]
        means = {measure: fmean(s[measure] for s in scores) for measure in scores[0]}
        print(name, len(rows), *(f"{measure} {100 * of:.1f}" for measure, of in means.items()))


def exchanged(row: Mapping[str, Any], cited: _Cited) -> dict[str, float]:
    """Return the scores of an answer whose citations are replaced by as many others, in order."""
    citations = tuple(
        Citation(
            number,
            one["doc_id"],
            one["title"],
            one["file"],
            tuple(one["heading_path"]),
            None,
            one["start"],
            one["end"],
            one["quote"],
            one["chunk_id"],
        )
        for number, one in enumerate(cited, 1)
    )
    answer = Answer.of_text(row["question"], row["answer"], citations, "extractive")
    return backing_scores(answer) | number_scores(answer, references=[], spans=[])


if __name__ == "__main__":
    main()
