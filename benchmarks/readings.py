"""What a model's reading of questions brings: keywords, what is critical, wordings, a passage.

The readings were written beforehand, from the questions alone; nothing is asked of a model here.
Each combination of parts is searched as `kgrag ask` searches with a model that says the same.

usage: python benchmarks/readings.py --kb KB --queries Q.jsonl --readings A.jsonl
           [--systems hybrid,grim] [--parts none,keywords,keywords+critical+wordings]

Lines of A.jsonl: `id`, `keywords`, `synonyms` {keyword: [...]}, `critical`, `wordings`, `passage`;
those of Q.jsonl are as `kgrag eval` reads them. The best 30 results are scored.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from kgrag.api import KnowledgeBase
from kgrag.evaluation.experiment import evaluate
from kgrag.evaluation.queries import read_queries
from kgrag.evaluation.report import text_table
from kgrag.evaluation.run import from_ranking
from kgrag.lookup import with_documents
from kgrag.results import ScoredChunk
from kgrag.retrieval.several import retrieve_several
from kgrag.retrieval.systems import preset

_TOP_K = 30
_KEYWORDS, _SYNONYMS, _IN_ALL = 8, 4, 24  # as `kgrag.retrieval.analysis` keeps them
_WORDINGS = 2
_PARTS = (
    "none,keywords,critical,passage,wordings,keywords+critical,keywords+critical+wordings,"
    "keywords+critical+wordings+passage"
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
    query = replace(
        knowledge.query(question),
        keywords=names(reading) if "keywords" in parts else (),
        critical=reading["critical"] if "critical" in parts else "",
    )
    passage = reading["passage"] if "passage" in parts else ""
    wordings = reading["wordings"][:_WORDINGS] if "wordings" in parts else []
    further = [replace(knowledge.query(w), keywords=query.keywords) for w in wordings]
    searches = [
        knowledge.search(query, hypothetical=passage),
        *(knowledge.search(worded) for worded in further),
    ]
    found = retrieve_several(preset(system), searches, top_k=_TOP_K)
    return with_documents(found, knowledge.store)


def names(reading: Mapping[str, Any]) -> tuple[str, ...]:
    """Return keywords, then the first synonym of each, the second of each, and so on."""
    keywords = reading["keywords"][:_KEYWORDS]
    synonyms = [reading["synonyms"].get(keyword, [])[:_SYNONYMS] for keyword in keywords]
    ordered = chain(keywords, *zip_longest(*synonyms, fillvalue=""))
    return tuple(dict.fromkeys(name for name in ordered if name))[:_IN_ALL]


if __name__ == "__main__":
    main()
