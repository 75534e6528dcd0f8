"""Documents found by their names without 《》, in full and in part.

The titles that questions quote lose their marks, then also what people leave out: 省, “十四五”,
brackets, 关于印发…的通知, 加快.

usage: python benchmarks/named.py --kb KB --queries Q.jsonl [--system grim]

Q.jsonl is as `kgrag eval` reads it; questions that quote no title are left out. Counted is of how
many questions what is named is what the quoted title names (right), something else (wrong) or
nothing; the best 30 results are scored.
"""

import argparse
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

from benchmarks.measures import text_table
from kgrag.api import KnowledgeBase
from kgrag.evaluation.queries import read_queries
from kgrag.evaluation.runs import from_ranking
from kgrag.evaluation.scores import evaluate

_TOP_K = 30
_TITLE = re.compile(r"《((?:[^《》]|《[^《》]*》)+)》")
_ISSUED = re.compile(r"关于(?:印发|发布|公布)(.+?)的(?:通知|公告)$")
_OWNER = re.compile(r"^(.{2,3}?)(?:省|市|.{0,6}自治区)(?:人民政府(?:办公厅|办公室)?)?")
_LEFT_OUT = re.compile(
    r"[“”\"《》〈〉]|（[^（）]*）|\([^()]*\)|进一步|加快|深入|全面|积极|切实|大力|十四五(?:时期)?|关于"
)


def main() -> None:
    """Print a table for each way to word the titles."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--system", default="grim")
    given = parser.parse_args()
    asked = [q for q in read_queries(given.queries).queries if _TITLE.search(q.question)]
    with KnowledgeBase.open(given.kb, create=False) as base:
        titled = {q.query_id: named(base, q.question) for q in asked}
        for wording in (quoted, in_full, in_part):
            queries = [replace(q, question=wording(q.question)) for q in asked]
            counts: Counter[str] = Counter()
            for q in queries:
                found, meant = named(base, q.question), titled[q.query_id]
                held = "held" if meant else "not held"
                what = "right" if found == meant else "wrong" if found - meant else "in part"
                counts[f"{held}: {'none' if meant and not found else what}"] += 1
            runs = {
                q.query_id: from_ranking(base.search(q.question, system=given.system, top_k=_TOP_K))
                for q in queries
            }
            print(f"{wording.__name__}: {dict(counts)}")
            print(f"{text_table({given.system: evaluate(runs, queries)})}\n", flush=True)


def named(base: KnowledgeBase, question: str) -> frozenset[str]:
    """Return the documents that a question names or quotes."""
    knowledge = base._current.knowledge()
    return frozenset(knowledge.search(knowledge.query(question)).titled)


def quoted(question: str) -> str:
    """Return a question as it is."""
    return question


def in_full(question: str) -> str:
    """Return a question without the marks around its titles."""
    return re.sub("[《》]", "", question)


def in_part(question: str) -> str:
    """Return a question with its titles as people shorten them."""
    return _TITLE.sub(lambda match: _shortened(match[1]), question)


def _shortened(title: str) -> str:
    bare = re.sub(r"（[^（）]*）|\([^()]*\)", "", title)
    issued = _ISSUED.search(bare)
    return _LEFT_OUT.sub("", _OWNER.sub(r"\1", issued[1] if issued else bare))


if __name__ == "__main__":
    main()
