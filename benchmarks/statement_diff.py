"""What rules read of a folder of documents, written to a file, and what differs between two files.

    python benchmarks/statement_diff.py write DATA OUT [--every N]
    python benchmarks/statement_diff.py compare BEFORE AFTER [--sample N] [--seed S]

A line of the file is what was read once: the document, its kind (headings, metadata by field,
statements by kind), where it stands and what it says. `compare` counts by kind what is the same,
gone and new, and prints a sample of what differs, for reading. Documents that are read on both
sides only are compared, so that one file may be of every Nth document.
"""

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.load.load import load
from kgrag.ingestion.load.source import Source
from kgrag.ingestion.prepare import derive

Line = tuple[str, str, int, int, str]  # document, kind, start, end, what it says


def read(path: Path) -> list[Line]:
    """Return what rules read of one document."""
    made = derive(load(Source(path)), sizes=ChunkSizes(), curation=Curation())
    doc = path.stem
    lines: list[Line] = [
        (doc, "heading", h.start, h.end, f"{h.level} {h.text}") for h in made.headings
    ]
    metadata = {"title": made.document.title, **asdict(made.document.metadata)}
    for field, value in metadata.items():
        if value:
            said = json.dumps(value, ensure_ascii=False, default=str)
            lines.append((doc, f"metadata {field}", 0, 0, said))
    for fact in made.facts:
        for e in fact.evidence:
            beside = {k: v for k, v in asdict(e.qualifiers).items() if v}
            kind = str(beside.pop("kind", "other"))
            says = f"{fact.subject.name} | {fact.predicate} | {fact.object.name}"
            told = json.dumps(beside, ensure_ascii=False, sort_keys=True, default=str)
            lines.append((doc, kind, e.start, e.end, f"{says} {told}"))
    return sorted(lines)


def write(data: Path, out: Path, every: int) -> None:
    """Write what is read of every Nth document of a folder."""
    paths = sorted(p for p in data.rglob("*") if p.suffix in (".txt", ".md", ".docx"))[::every]
    with out.open("w", encoding="utf-8") as file, ProcessPoolExecutor() as pool:
        for lines in pool.map(read, paths, chunksize=4):
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def compare(before: Path, after: Path, sample: int, seed: int) -> None:
    """Print a table of what is the same, gone and new, and a sample of what differs."""
    old, new = _by_kind(before), _by_kind(after)
    docs = {line[0] for lines in old.values() for line in lines}
    docs &= {line[0] for lines in new.values() for line in lines}
    print("| kind | same | gone | new |\n| --- | ---: | ---: | ---: |")
    differ: list[tuple[Line, str]] = []
    for kind in sorted({*old, *new}):
        was = {line for line in old[kind] if line[0] in docs}
        now = {line for line in new[kind] if line[0] in docs}
        print(f"| {kind} | {len(was & now)} | {len(was - now)} | {len(now - was)} |")
        differ += [(line, "-") for line in was - now] + [(line, "+") for line in now - was]
    # What was read otherwise stands together: by place.
    places = defaultdict(list)
    for line, sign in differ:
        places[line[:3]].append(f"{sign} {line[2]}-{line[3]} {line[4]}")
    chosen = random.Random(seed).sample(sorted(places), min(sample, len(places)))
    for place in sorted(chosen):
        print(f"\n{place[0]} {place[1]}", *sorted(places[place], reverse=True), sep="\n  ")


def _by_kind(path: Path) -> Mapping[str, Sequence[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in _lines(path):
        found[line[1]].append(line)
    return found


def _lines(path: Path) -> Iterator[Line]:
    for row in path.read_text(encoding="utf-8").splitlines():
        doc, kind, start, end, says = json.loads(row)
        yield doc, kind, start, end, re.sub(r"\s+", " ", says)


def main() -> None:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="read documents, write what was read")
    writing.add_argument("data", type=Path, help="a folder of documents")
    writing.add_argument("out", type=Path)
    writing.add_argument("--every", type=int, default=1, help="read every Nth document only")
    comparing = commands.add_parser("compare", help="say what differs between two files")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--sample", type=int, default=0, help="places to print")
    comparing.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.command == "write":
        write(given.data, given.out, given.every)
    else:
        compare(given.before, given.after, given.sample, given.seed)


if __name__ == "__main__":
    main()
