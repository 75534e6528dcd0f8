"""How many questions about what is not held are refused, and how many others are refused wrongly.

Answers are those of `kgrag ask` without a model. Lines of a file: `question`, `held` (whether the
documents have an answer; without it, whether the line has `gold_docs`) and `part`, to count by.

usage: python benchmarks/not_held.py --kb KB FILE.jsonl ...
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from kgrag.api import KnowledgeBase


def main() -> None:
    """Print the shares, and the questions that are answered or refused wrongly."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", required=True)
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    counts: Counter[tuple[str, bool, bool]] = Counter()
    with KnowledgeBase.open(given.kb, create=False) as base:
        for file in given.files:
            for line in filter(str.strip, file.read_text("utf-8").splitlines()):
                row = json.loads(line)
                held = bool(row.get("held", row.get("gold_docs")))
                refused = not base.ask(row["question"], writer="quotes").found
                counts[f"{file.stem} {row.get('part', '')}".strip(), held, refused] += 1
                if held == refused:
                    print(f"{'refused' if refused else 'answered'}: {row['question']}")
    for part, held in sorted({(part, held) for part, held, _ in counts}):
        refused, n = counts[part, held, True], sum(counts[part, held, r] for r in (True, False))
        print(f"{part}, {'held' if held else 'not held'}: {refused} of {n} refused")


if __name__ == "__main__":
    main()
