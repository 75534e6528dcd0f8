"""English questions on Chinese documents: what reading them in Chinese brings.

`labels/english.jsonl` holds ids of questions and an English wording of each; question, gold and
kind come from the files that are given. Each is asked as it stands, in the Chinese words that the
rules read in it, and as its Chinese original is: what is left between the two.

usage: python benchmarks/english.py --kb KB --queries Q.jsonl [--system grim] [--show]
"""

import argparse
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.measures import text_table
from kgrag.api import KnowledgeBase
from kgrag.evaluation.experiment import try_system
from kgrag.evaluation.queries import GoldQuery, read_queries
from kgrag.retrieval import bilingual
from kgrag.text.in_chinese import in_chinese

_LABELS = Path(__file__).with_name("labels") / "english.jsonl"
_COLUMNS = ("R@1", "R@5", "MRR@5", "span@2000", "MRR")


def main() -> None:
    """Print the scores of each way to ask."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--system", default="grim")
    parser.add_argument("--show", action="store_true", help="What each question is read as.")
    given = parser.parse_args()
    worded = english()
    originals = [q for q in read_queries(given.queries).queries if q.query_id in worded]
    asked = [replace(q, question=worded[q.query_id]) for q in originals]
    ways: dict[str, tuple[list[GoldQuery], float]] = {
        "English, as it stands": (asked, 2.0),  # a share that is never reached
        "English, read in Chinese": (asked, bilingual._SOME),
        "Chinese original": (originals, bilingual._SOME),
    }
    reports = {}
    with KnowledgeBase.open(given.kb, create=False) as base:
        for name, (queries, least) in ways.items():
            bilingual._SOME = least
            search = partial(base.search, system=given.system, top_k=20)
            reports[name] = try_system(given.system, search, queries, measures=_COLUMNS).report
    print(f"{len(asked)} questions of {given.queries.name}")
    print(text_table(reports, measures=_COLUMNS))
    if given.show:
        scores = {
            q.query_id: q.scores.get("span@2000")
            for q in reports["English, read in Chinese"].queries
        }
        for q in asked:
            read = in_chinese(q.question)
            print(q.query_id, scores.get(q.query_id), q.question, "→", read and read.text)


def english() -> dict[str, str]:
    """Return the English wordings by the ids of their questions."""
    lines = _LABELS.read_text(encoding="utf-8").splitlines()
    return {row["id"]: row["question"] for row in map(json.loads, lines)}


if __name__ == "__main__":
    main()
