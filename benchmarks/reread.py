"""What two checkouts read of the same files: characters, headings, table rows, seconds.

Each reads all files in a process of its own, in turns, so that the ratio of their seconds is of
one run. Files that are read otherwise are listed with what is gained and lost, line by line.

usage: python benchmarks/reread.py --old CHECKOUT [--lines 4] FOLDER ...
"""

import argparse
import difflib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

_READ = """
import json, sys, time
from pathlib import Path
from kgrag.ingestion.load import Source, load
from kgrag.ingestion.structure import structure
for line in sys.stdin:
    file = line.rstrip("\\n")
    began = time.perf_counter()
    try:
        document = load(Source(Path(file)))
        text, n = document.text, len(structure(document.text, document.segments))
        said = {"text": text, "title": document.title, "headings": n}
    except Exception as error:
        said = {"text": "", "title": "", "headings": 0, "error": str(error)[:200]}
    said["seconds"] = time.perf_counter() - began
    print(json.dumps(said), flush=True)
"""


def main() -> None:
    """Print sums by suffix, and the files that are read otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--old", required=True, type=Path)
    parser.add_argument("--lines", type=int, default=4, help="of each file's difference")
    args = parser.parse_args()
    files = sorted(p for folder in args.folders for p in folder.rglob("*") if p.is_file())
    read = {"old": _reader(args.old), "new": _reader(Path(__file__).parents[1])}
    sums: dict[str, Counter[str]] = {}
    for file in files:
        said = {name: _said(process, file) for name, process in read.items()}
        total = sums.setdefault(file.suffix, Counter(files=0))
        total["files"] += 1
        for name, one in said.items():
            total[f"{name} characters"] += len(one["text"])
            total[f"{name} headings"] += one["headings"]
            total[f"{name} rows"] += one["text"].count("\n| ")
            total[f"{name} seconds"] += one["seconds"]
        _print_difference(file, said["old"], said["new"], args.lines)
    for suffix, total in sums.items():
        pairs = ("characters", "headings", "rows", "seconds")
        told = (f"{n} {total[f'old {n}']:.5g} → {total[f'new {n}']:.5g}" for n in pairs)
        print(f"{suffix}: {total['files']} files, {', '.join(told)}")


def _reader(checkout: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _READ], cwd=checkout, text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _said(process: "subprocess.Popen[str]", file: Path) -> dict[str, Any]:
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{file.absolute()}\n")
    process.stdin.flush()
    said: dict[str, Any] = json.loads(process.stdout.readline())
    return said


def _print_difference(file: Path, old: dict[str, Any], new: dict[str, Any], n_lines: int) -> None:
    if old["text"] == new["text"] and old["title"] == new["title"]:
        return
    print(f"## {file.name}: {len(old['text'])} → {len(new['text'])} characters")
    for one in ("error", "title"):
        if old.get(one) != new.get(one):
            print(f"   {one}: {old.get(one)} → {new.get(one)}")
    lines: Sequence[Sequence[str]] = [one["text"].split("\n") for one in (old, new)]
    changed = (
        line for line in difflib.unified_diff(*lines, lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    )  # fmt: skip
    for line in islice(changed, n_lines):
        print(f"   {line[:160]}")


if __name__ == "__main__":
    main()
