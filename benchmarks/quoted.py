"""How much of the gold text answers quote, and whether lists of who cites a title are complete.

- quoted: by kind of question and system, the share of the gold characters that citations cover,
  the share of the gold documents that are cited, and the characters quoted. A question that
  quotes nothing has 0.
- citing: for the titles that most documents cite, what `cited-by` lists beside a literal search of
  the texts for the title in quotation marks (blind to blanks; the title's own document left out).

`kgrag eval answers` measures more, of one system, by the same rule.

usage: python benchmarks/quoted.py --kb KB --queries Q.jsonl [--systems hybrid,grim]
       python benchmarks/quoted.py --kb KB --citing 30

Lines of Q.jsonl: `question`, `kind`, `gold_spans` {document: [[start, end], ...]}; a document is
known by its file's name without the ending.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from kgrag.answer.citation import Citation
from kgrag.api import KnowledgeBase
from kgrag.evaluation.citations import quoted_scores
from kgrag.statements.selection import Selection
from kgrag.text.words import normalize_name

_OPEN, _CLOSE = "[《〈«<“]", "[》〉»>”]"


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", required=True)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--systems", default="hybrid,grim-no-plan,grim")
    parser.add_argument("--citing", type=int, default=0, metavar="N")
    given = parser.parse_args()
    with KnowledgeBase.open(given.kb, create=False) as base:
        if given.queries:
            _print_quoted(base, given.queries, given.systems.split(","))
        if given.citing:
            _print_citing(base, given.citing)


def shares(gold: Mapping[str, Sequence[Sequence[int]]], cited: Iterable[Citation]) -> list[float]:
    """Return the share of gold characters covered, of gold documents cited, characters quoted."""
    spans = {doc: [(start, end) for start, end in several] for doc, several in gold.items()}
    quotes = tuple(cited)
    found = quoted_scores(quotes, spans, gold.keys())
    characters = sum(quote.end - quote.start for quote in quotes)
    return [found["gold-quoted"], found["gold-docs"], float(characters)]


def _print_quoted(base: KnowledgeBase, queries: Path, systems: Sequence[str]) -> None:
    lines = queries.read_text("utf-8").splitlines()
    rows: list[Mapping[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    answered = [row for row in rows if row.get("gold_spans")]
    print(
        f"{'kind':12} {'n':>4} {'system':14} {'gold %':>7} {'documents %':>12} {'characters':>11}"
    )
    for system in systems:
        by_kind: defaultdict[str, list[list[float]]] = defaultdict(list)
        for row in answered:
            told = shares(row["gold_spans"], base.ask(row["question"], system=system).citations)
            for kind in ("all", row.get("kind", "")):
                by_kind[kind].append(told)
        for kind, several in by_kind.items():
            text, documents, quoted = (fmean(column) for column in zip(*several, strict=True))
            figures = f"{100 * text:7.1f} {100 * documents:12.1f} {quoted:11.0f}"
            print(f"{kind:12} {len(several):4} {system:14} {figures}")


def _print_citing(base: KnowledgeBase, most: int) -> None:
    citing: defaultdict[str, set[str]] = defaultdict(set)
    for statement in base.store.statements("reference"):
        citing[statement.fact.object.name].add(statement.doc_id)
    texts = {d.doc_id: (d.title, _unbroken(d.text)) for d in base.store.documents()}
    complete = 0
    ordered = sorted(citing, key=lambda title: (-len(citing[title]), title))[:most]
    for title in ordered:
        listed = {
            row.sources[0].doc_id
            for row in base.rows(Selection(kind="cited_by", document=title)).rows
        }
        pattern = re.compile(f"{_OPEN}(?:中华人民共和国)?{re.escape(_unbroken(title))}{_CLOSE}")
        literal = {
            doc_id
            for doc_id, (own, text) in texts.items()
            if pattern.search(text) and normalize_name(title) not in normalize_name(own)
        }
        missing = literal - listed
        complete += not missing
        told = f"listed {len(listed)}, in the texts {len(literal)}, missing {len(missing)}"
        print(f"{title}: {told}, beside them {len(listed - literal)}")
    print(f"complete: {complete} of {len(ordered)}")


def _unbroken(text: str) -> str:
    return re.sub(r"\s+", "", text)


if __name__ == "__main__":
    main()
