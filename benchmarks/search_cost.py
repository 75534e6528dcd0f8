"""Processor time of searches by preset, in one process, over one set of questions."""

import argparse
import gc
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kgrag.api import KnowledgeBase
from kgrag.evaluation.queries import read_queries

_WARM = 10  # questions asked before anything is timed


def milliseconds(
    base: KnowledgeBase, questions: Sequence[str], systems: Sequence[str]
) -> dict[str, list[float]]:
    """Return the processor time of each search in milliseconds, of all threads, by system.

    Systems take turns to be first with a question, since it is read once for both.
    """
    for question in questions[:_WARM]:
        for system in systems:
            base.search(question, system=system)
    gc.collect()
    gc.freeze()
    found: dict[str, list[float]] = {system: [] for system in systems}
    for turn, question in enumerate(questions):
        for system in systems[::-1] if turn % 2 else systems:
            started = time.process_time()
            base.search(question, system=system)
            found[system].append(1000 * (time.process_time() - started))
    return found


def main() -> None:
    """Print p50 and p95 of each system, and their ratio to those of the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--queries", required=True, type=Path)
    parser.add_argument("--systems", default="hybrid,grim")
    given = parser.parse_args()
    questions = [query.question for query in read_queries(given.queries).queries]
    with KnowledgeBase.open(given.kb) as base:
        spent = milliseconds(base, questions, given.systems.split(","))
    first = np.percentile(next(iter(spent.values())), (50, 95))
    print(f"{'system':20} {'p50 ms':>8} {'p95 ms':>8} {'ratios':>12}")
    for system, values in spent.items():
        p50, p95 = np.percentile(values, (50, 95))
        print(f"{system:20} {p50:8.1f} {p95:8.1f} {p50 / first[0]:6.2f} {p95 / first[1]:5.2f}")


if __name__ == "__main__":
    main()
