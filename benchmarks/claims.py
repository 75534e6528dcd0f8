"""Whether wrong sentences of an answer are marked, and right ones left alone.

Answers are written as a language model writes them, each [n] citing a numbered passage of a real
document; half of them have one sentence that the document contradicts, all else is right. They are
resolved and checked as in `ask`, the answer taking the place of a model's draft. No model is asked.

- wrong: of the answers with a wrong sentence, in how many it has a finding that it has not when it
  is put right;
- right: of the answers without, how many have any sentence marked (false alarms);
- twin: of the answers with a wrong sentence put right, in how many any sentence is marked.

usage: python benchmarks/claims.py --data FOLDER [--claims FILE.jsonl] [--show]

Lines of FILE.jsonl: `id`, `file` below FOLDER, `sha256` of its text (the first 16 digits),
`passages` [[start, end], ...], `question`, `answer`, `wrong` (a sentence of the answer, or null),
`twin` (the answer without its error, or null), `kind`, `lang` (zh, en; across: the answer is not in
the document's language).
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from kgrag.answer.answer import Answer
from kgrag.answering.cite import cited_texts, resolve
from kgrag.answering.generate import Draft
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.load.load import load
from kgrag.ingestion.load.source import Source
from kgrag.ingestion.prepare import derive
from kgrag.question.question import analyse
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.store.contents import DocumentBundle
from kgrag.text.headings import HeadingTree
from kgrag.types import Chunk
from kgrag.verification.checks import checked

_Row = Mapping[str, Any]
_CASES = ("wrong", "right", "twin")
CLAIMS = Path(__file__).parent / "labels" / "claims.jsonl"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one answer was marked.

    Attributes:
        hits: What was found in the wrong sentence, and not in its twin.
        others: Other sentences that are marked, with what was found.
        twin: The same of the answer without its error.
    """

    hits: tuple[str, ...]
    others: tuple[str, ...]
    twin: tuple[str, ...]


def main() -> None:
    """Print how many are marked, by kind and by language."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the documents")
    parser.add_argument("--claims", type=Path, default=CLAIMS)
    parser.add_argument("--show", action="store_true", help="print each failure")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.claims.read_text("utf-8").splitlines() if line]
    outcomes = [(row, outcome(row, given.data)) for row in rows]
    if given.show:
        for row, result in outcomes:
            _show(row, result)
    for field in ("kind", "lang"):
        print(f"{field:12}" + "".join(f"{f'{case} marked':>14}" for case in _CASES))
        for line in _counted(outcomes, field):
            print(line)
        print()


def outcome(row: _Row, data: Path) -> Outcome:
    """Return how the answer of a row, and its twin, are marked."""
    wrong = _bare(row["wrong"] or "")
    twin = _marked(row, row["twin"], data) if row["twin"] else []
    alarms = {found for _, found in twin}
    hits, others = [], []
    for said, found in _marked(row, row["answer"], data):
        if not wrong or not (said in wrong or wrong in said):
            others.append(f"{said}: {found}")
        elif found not in alarms:
            hits.append(f"{said}: {found}")
    return Outcome(tuple(hits), tuple(others), tuple(f"{said}: {found}" for said, found in twin))


def _marked(row: _Row, text: str, data: Path) -> list[tuple[str, str]]:
    """Return the sentences of a text that are marked, and what was found in each."""
    answer = answered(row, text, data)
    found = []
    for check in answer.checks:
        if not check.supported:
            # The text behind a check ends in its remark.
            remark = check.remark(answer.language)
            said = answer.text[check.start : check.end].replace(remark, "")
            found.append((_bare(said), remark.strip()))
    return found


def answered(row: _Row, text: str, data: Path) -> Answer:
    """Return the checked answer that a text becomes, as in `kgrag.answering.attempts`.

    Raises:
        SystemExit: The file's text is not the one that the row was written for.
    """
    bundle = _bundle(data / row["file"])
    document = bundle.document
    digest = sha256(document.text.encode()).hexdigest()[:16]
    if digest != row["sha256"]:
        raise SystemExit(f"{row['file']}: its text has changed; offsets of {row['id']} are void")
    tree = HeadingTree(document.text, bundle.headings)
    passages = tuple(
        Passage(
            number=n,
            doc_id=document.doc_id,
            title=document.title,
            heading_path=tree.path(start, end),
            start=start,
            end=end,
            text=document.text[start:end],
            chunk_id=f"{document.doc_id}:2048:{n}",
        )
        for n, (start, end) in enumerate(row["passages"], 1)
    )
    results = [
        ScoredChunk(Chunk(p.chunk_id, p.doc_id, 2048, p.number, p.start, p.end, p.text), 1.0)
        for p in passages
    ]
    documents = {document.doc_id: document}
    answer = resolve(
        analyse(row["question"]),
        Draft(text, "model"),
        Context(passages, best=1),
        documents=documents,
        headings={document.doc_id: bundle.headings},
        results=results,
    )
    texts = cited_texts(answer.citations, documents=documents, passages=passages)
    return checked(answer, texts)


@cache
def _bundle(path: Path) -> DocumentBundle:
    return derive(load(Source(path)), sizes=ChunkSizes(), curation=Curation())


def _bare(text: str) -> str:
    """Return a sentence without its [n], layout and stops: checks may cut it otherwise."""
    return re.sub(r"\[\d+\]|^[-*]\s|^\d+\.\s|[\s。.；;，,]", "", text.strip())


def _counted(outcomes: Sequence[tuple[_Row, Outcome]], field: str) -> Iterator[str]:
    """Yield a line for each value of a field, and one for all."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row, result in outcomes:
        for name in (row[field], "all"):
            case, marked = ("wrong", result.hits) if row["wrong"] else ("right", result.others)
            counts[name][case] += 1
            counts[name][f"{case} marked"] += bool(marked)
            counts[name]["twin"] += bool(row["twin"])
            counts[name]["twin marked"] += bool(result.twin)
    for name in sorted(counts, key=lambda name: (name == "all", name)):
        count = counts[name]
        shares = (f"{count[f'{of} marked']}/{count[of]}" if count[of] else "-" for of in _CASES)
        yield f"{name:12}" + "".join(f"{share:>14}" for share in shares)


def _show(row: _Row, result: Outcome) -> None:
    """Print how a row failed, and what was found where it did not."""
    about = f"{row['id']} {row['kind']} {row['lang']}"
    if row["wrong"]:
        for line in result.hits or (f"LET THROUGH {row['wrong']}",):
            print(f"{about}: {line}")
    for name, lines in (("FALSE ALARM", result.others), ("FALSE ALARM (twin)", result.twin)):
        for line in lines:
            print(f"{about}: {name} {line}")


if __name__ == "__main__":
    main()
