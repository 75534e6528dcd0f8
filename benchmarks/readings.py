"""What a model's reading of questions brings: keywords, what is critical, wordings, and so on.

The readings were written beforehand, from the questions alone; nothing is asked of a model here.
Each combination of parts goes the way of a model's answer: parsed, then searched as `kgrag ask`
and `kgrag search --analyse` search with it.

usage: python benchmarks/readings.py --kb KB --queries Q.jsonl --readings A.jsonl
           [--systems hybrid,grim] [--parts none,keywords,keywords+critical+wordings]

Lines of A.jsonl: `id`, `keywords`, `synonyms` {keyword: [...]}, `critical`, `wordings`, `passage`,
`sub_questions` [{question, place, document, year}]; those of Q.jsonl are as `kgrag eval` reads
them. The best 30 results are scored.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measures import text_table
from kgrag.answering.searching import Understood, with_documents
from kgrag.answering.searching import search as search_read
from kgrag.api import KnowledgeBase
from kgrag.evaluation.queries import read_queries
from kgrag.evaluation.runs import from_ranking
from kgrag.evaluation.scores import evaluate
from kgrag.results import ScoredChunk
from kgrag.retrieval.reading import reading_of
from kgrag.retrieval.systems import preset

_TOP_K = 30
_WORDINGS = 2
_OF = {
    "keywords": ("keywords", "synonyms"),
    "critical": ("critical",),
    "wordings": ("wordings",),
    "passage": ("passage",),
    "parts": ("sub_questions",),
}
_ALL = "+".join(_OF)
_PARTS = ",".join(
    ["none", *_OF, *("+".join(p for p in _OF if p != left_out) for left_out in _OF), _ALL]
)


def main() -> None:
    """Print a table for each combination of parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--readings", type=Path, required=True)
    parser.add_argument("--systems", default="hybrid,grim")
    parser.add_argument("--parts", default=_PARTS)
    given = parser.parse_args()
    queries = read_queries(given.queries).queries
    lines = given.readings.read_text("utf-8").splitlines()
    readings = {reading["id"]: reading for reading in map(json.loads, lines)}
    with KnowledgeBase.open(given.kb, create=False) as base:
        for parts in given.parts.split(","):
            reports = {}
            for system in given.systems.split(","):
                found = {
                    q.query_id: from_ranking(
                        search(base, system, q.question, readings[q.query_id], parts.split("+"))
                    )
                    for q in queries
                }
                reports[system] = evaluate(found, queries)
            print(f"{parts}\n{text_table(reports)}\n", flush=True)


def search(
    base: KnowledgeBase, system: str, question: str, reading: Mapping[str, Any], parts: list[str]
) -> list[ScoredChunk]:
    """Return what a question finds with some parts of its reading."""
    knowledge = base._current.knowledge()
    kept = {name: reading[name] for part in parts for name in _OF.get(part, ())}
    read = reading_of({"keywords": [], **kept}, question, wordings=_WORDINGS)
    known = knowledge.settings()
    understood = Understood(
        read.told_to(
            knowledge.query(question), known_places=known.known_places, chinese=known.chinese
        ),
        read.wordings,
        read.passage,
    )
    found = search_read(understood, knowledge=knowledge, pipeline=preset(system), top_k=_TOP_K)
    return with_documents(found, knowledge.store)


if __name__ == "__main__":
    main()
