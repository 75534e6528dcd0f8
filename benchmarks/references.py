"""How many citations the rules find, whether their roles are true, which documents they mean.

Three figures, each with what it is measured on:

- recall: published labels (`labels/references.jsonl`: document, title) whose title stands in the
  document's text, blind to width, marks and 的, and is not the document's own. A label is found if
  a finding has its title, or one that holds it, or that it holds by 70 %.
- precision: places drawn at random and read (`benchmarks/labels/references.jsonl`: offsets, the
  right role, the held document that is meant; no role where nothing is cited there, or the words
  of a table run together). A reading is right if the rules say the same, `--misses` prints others.
  Those of `fresh` were drawn from the texts, not from findings, and are counted by themselves.
- resolution: of the labels that name a held document, those whose document the rules' findings
  reach; what a reading says of the document counts for precision.

usage: python benchmarks/references.py --data FOLDER [--misses]

`--data` holds `text/NAME.txt`, `manifest.jsonl` (id, title, issuer, date, province, city: what
documents are known by here) and `labels/references.jsonl` (doc_id, cites, cites_doc_id).
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgrag.ingestion.citation_fit import Cited, Held
from kgrag.ingestion.link import DocumentNames
from kgrag.ingestion.statements.finding import Finding
from kgrag.ingestion.statements.references import own_names, references
from kgrag.metadata import Metadata
from kgrag.text.title_keys import issuer_ahead, title_key, title_keys

READINGS = Path(__file__).parent / "labels" / "references.jsonl"
_HELD_BY = 0.7  # of a label's key that a shorter title found must have
_AHEAD = 60  # characters before a title in which its issuer is named

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Read:
    """A document, what the rules found in it, and the held document that each finding means."""

    held: Held
    text: str
    findings: list[Finding]
    means: list[str | None]


def read_all(data: Path) -> dict[str, Read]:
    """Return every document of a folder by its name, its citations read and resolved."""
    rows = [
        r for r in _rows(data / "manifest.jsonl") if (data / "text" / f"{r['id']}.txt").exists()
    ]
    held = [_held(row) for row in rows]
    names = DocumentNames(held)
    return {one.doc_id: _read(one, data, names) for one in held}


def _held(row: Row) -> Held:
    said = {key: str(row.get(key) or "") for key in ("title", "issuer", "date", "province", "city")}
    regions = tuple(filter(None, (said["province"], said["city"])))
    metadata = Metadata(
        issuers=tuple(filter(None, said["issuer"].split(","))),
        issued=said["date"],
        regions=regions,
        level="省" if regions else "国家",
    )
    return Held(str(row["id"]), said["title"], metadata)


def _read(held: Held, data: Path, names: DocumentNames) -> Read:
    text = (data / "text" / f"{held.doc_id}.txt").read_text(encoding="utf-8")
    findings = references(text, own_names=own_names(held.title))
    return Read(held, text, findings, [_meant(f, text, held, names) for f in findings])


def _meant(finding: Finding, text: str, citing: Held, names: DocumentNames) -> str | None:
    number = finding.qualifiers.number
    cited = Cited(
        "" if finding.object == number else finding.object,
        number=number,
        issuer=issuer_ahead(text[max(0, finding.start - _AHEAD) : finding.start]),
        doc_id=citing.doc_id,
        regions=citing.metadata.regions,
        year=citing.metadata.year,
    )
    found = names.resolve(cited)
    return found[0] if found else None


def recall(documents: Mapping[str, Read], labels: Sequence[Row]) -> dict[bool, list[Row]]:
    """Return the labels that are found (True) and missed; those that do not stand are left out."""
    found: dict[bool, list[Row]] = {True: [], False: []}
    keys = {name: _keys(read) for name, read in documents.items()}
    texts = {name: title_key(read.text) for name, read in documents.items()}
    for row in labels:
        name, key = str(row["doc_id"]), title_key(str(row["cites"]))
        own = name in documents and title_key(documents[name].held.title) == key
        if name in documents and key in texts[name] and not own:
            found[any(_same(key, other) for other in keys[name])].append(row)
    return found


def _keys(read: Read) -> set[str]:
    return {key for f in read.findings for key in (title_key(f.object), *title_keys(f.object))}


def _same(label: str, found: str) -> bool:
    return label in found or (found in label and len(found) > _HELD_BY * len(label))


def precision(documents: Mapping[str, Read], readings: Sequence[Row]) -> dict[bool, list[Row]]:
    """Return the readings with which the rules agree (True) and those with which they do not.

    A finding where a reading has no role is wrong, none there is right.
    """
    agreed: dict[bool, list[Row]] = {True: [], False: []}
    for row in readings:
        read = documents[str(row["doc"])]
        said = {
            (f.qualifiers.role, means)
            for f, means in zip(read.findings, read.means, strict=True)
            if (f.start, f.end) == (row["start"], row["end"])
        }
        roles = (row["role"], *row.get("role_or", ()))
        right = [{(role, row["means"])} if role else set() for role in roles]
        agreed[said in right].append(row)
    return agreed


def resolution(documents: Mapping[str, Read], labels: Sequence[Row]) -> dict[bool, list[Row]]:
    """Return the labels with a held document that the findings reach (True), and the others."""
    reached: dict[bool, list[Row]] = {True: [], False: []}
    means: dict[str, set[str | None]] = defaultdict(set)
    for name, read in documents.items():
        means[name].update(read.means)
    for row in recall(documents, labels)[True]:
        meant = row.get("cites_doc_id")
        if meant in documents and meant != row["doc_id"]:
            reached[meant in means[str(row["doc_id"])]].append(row)
    return reached


def _rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _share(name: str, parts: Mapping[bool, Sequence[Row]]) -> str:
    right, all_ = len(parts[True]), len(parts[True]) + len(parts[False])
    return f"{name:<24} {right:>5} of {all_:<5} {100 * right / max(1, all_):5.1f} %"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--misses", action="store_true", help="print what is not right, too")
    given = parser.parse_args(arguments)
    documents = read_all(given.data)
    labels = list(_rows(given.data / "labels" / "references.jsonl"))
    readings = list(_rows(READINGS))
    figures = {"recall of labels": recall(documents, labels)}
    for half in ("even", "odd"):
        rows = [row for row in readings if row["half"] == half]
        figures[f"precision, {half} half"] = precision(documents, rows)
    found = [row for row in readings if row["half"] != "fresh"]
    figures["precision"] = precision(documents, found)
    fresh = [row for row in readings if row["half"] == "fresh"]
    figures["places drawn from texts"] = precision(documents, fresh)
    figures["resolution of labels"] = resolution(documents, labels)
    for name, parts in figures.items():
        print(_share(name, parts))
        if given.misses:
            for row in parts[False]:
                print("   ", json.dumps(row, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
