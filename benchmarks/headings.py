"""How well headings are found: precision, recall and levels on documents labelled by reading.

A heading is found where one begins at the labelled character (leading blanks, # and * aside).
Its level is right where its parent heading, the nearest one before it of a lower level, is the
labelled one, or both have none: levels of a missing parent count as wrong, those of other
branches do not matter. Levels are counted over the headings that are found.

usage: python benchmarks/headings.py DATA [--labels benchmarks/labels/headings.jsonl]
           [--half tune|test] [--show]

DATA is the folder that the labels' file names start from. `--show` names what is missed, false and
at the wrong level; look at the half `test` only to report.
"""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kgrag.ingestion.structure import structure

_LEADING = re.compile(r"[#*_\s]*")
_Heading = tuple[int, int, int]  # start, end, level


def parents(headings: Sequence[_Heading]) -> dict[int, int | None]:
    """Return the start of each heading's parent, None for the outermost, by its own start."""
    found: dict[int, int | None] = {}
    path: list[tuple[int, int]] = []
    for start, _, level in headings:
        while path and path[-1][1] >= level:
            path.pop()
        found[start] = path[-1][0] if path else None
        path.append((start, level))
    return found


def found_in(text: str) -> list[_Heading]:
    """Return the headings that are found in a text, each from its first letter or number."""
    return [
        (h.start + len(_leading(text[h.start : h.end])), h.end, h.level) for h in structure(text)
    ]


def _leading(text: str) -> str:
    match = _LEADING.match(text)
    return match[0] if match else ""


def score(text: str, gold: Sequence[_Heading], *, show: bool) -> dict[str, int]:
    """Return how many headings are labelled, found, right, and at the right level."""
    got = found_in(text)
    labelled, said = parents(gold), parents(got)
    both = [start for start in labelled if start in said]
    right = [start for start in both if labelled[start] == said[start]]
    if show:
        _print(text, labelled, said)
    return {"gold": len(gold), "found": len(got), "right": len(both), "level": len(right)}


def _print(text: str, labelled: Mapping[int, int | None], said: Mapping[int, int | None]) -> None:
    for start in sorted({*labelled, *said}):
        what = "missed" if start not in said else "false" if start not in labelled else ""
        if not what and labelled[start] != said[start]:
            what = "level"
        if what:
            print(f"  {what:6} {start:6} {text[start : start + 40]!r}")


def main() -> None:
    """Print the score of each document and of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    labels = Path(__file__).parent / "labels" / "headings.jsonl"
    parser.add_argument("--labels", type=Path, default=labels)
    parser.add_argument("--half", choices=("tune", "test"))
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    total = dict.fromkeys(("gold", "found", "right", "level"), 0)
    for line in args.labels.read_text("utf-8").splitlines():
        row = json.loads(line)
        if args.half in (None, row["half"]):
            with (args.data / row["file"]).open(encoding="utf-8", newline="") as file:
                text = file.read()
            counts = score(text, [tuple(h) for h in row["headings"]], show=args.show)
            print(row["file"], *(f"{name} {n}" for name, n in counts.items()))
            total = {name: total[name] + n for name, n in counts.items()}
    print(
        f"precision {100 * total['right'] / max(1, total['found']):.1f} "
        f"recall {100 * total['right'] / max(1, total['gold']):.1f} "
        f"levels {100 * total['level'] / max(1, total['right']):.1f} "
        f"({total['gold']} headings)"
    )


if __name__ == "__main__":
    main()
