"""How many cells of labelled tables are read in the right row and column, by kgrag and others.

    python benchmarks/tables.py --files FOLDER [--labels FOLDER] [--others PYTHON] [--half test]

`FOLDER` of files has `pdf/`, `docx/`, `html/`; that of labels `tables.jsonl` and
`tables_files.jsonl` (`benchmarks/labels/README.md`); by default it is that of the files, as
`make_tables.py` writes it. `PYTHON` is that of an environment of its own with pdfplumber,
pymupdf4llm, img2table and markitdown, which are no dependencies. The first three read PDF only:

    pip install pdfplumber pymupdf4llm==1.28.2 img2table 'markitdown[docx,pdf,xlsx]'

(The wheel of pymupdf4llm 2.0 is empty.) A system that is not there ends the run; a file that one
cannot read is named and counts as a file without tables.

Rule, the same for every system. For each labelled table every table that the system finds in the
file is tried and the one with most right cells taken. Rows are aligned first: in order, so that
as much text of cells as possible (each as often as both have it, wherever in the row) is in rows
that face each other; of equals the one with more cells at their place. Then columns go by
position: a labelled cell is right if the facing row has the same text, or nothing where nothing is
labelled, in the same column. A row is whole if all its cells are. Texts are compared as digests,
NFKC without whitespace. Empty cells in rows that face none are wrong. Cells labelled `optional`
are left out.

`free` counts the same without the conventions of the labels, which others need not share: a merged
cell may be empty where it repeats the label to its left or above, header rows may stand apart
(the first two or three are tried as one), and a table over pages may be one table a page (up to
four that follow each other are tried as one).

False tables are all tables found in files that have none, neither labelled nor optional.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.make_tables import digest

_HERE = Path(__file__).parent
_PDF_ONLY = ("pdfplumber", "pymupdf4llm", "img2table")
_OTHERS = (*_PDF_ONLY, "markitdown")
_MOST_JOINED = 4
_IN_PLACE = 100  # text in a facing row counts so many times a cell at its place

Digests = list[list[str]]
Rows = list[list[str]]


class Score(NamedTuple):
    """Right cells and whole rows, strictly and freely, of so many."""

    cells: int = 0
    rows: int = 0
    free_cells: int = 0
    free_rows: int = 0
    n_cells: int = 0
    n_rows: int = 0


@dataclass(frozen=True, slots=True)
class Label:
    """A labelled table."""

    file: str
    about: tuple[str, ...]
    half: str
    optional: bool
    rows: Digests


def main() -> None:
    """Print the figures of every system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=Path, required=True)
    parser.add_argument("--labels", type=Path, help="by default that of the files")
    parser.add_argument("--others", help="Python with pdfplumber, pymupdf4llm, markitdown")
    parser.add_argument("--half", choices=("tune", "test"))
    parser.add_argument("--each", action="store_true", help="print kgrag's tables one by one")
    args = parser.parse_args()
    folder = args.labels or args.files
    tables = [label for label in _labels(folder / "tables.jsonl") if not label.optional]
    tables = [label for label in tables if args.half in (None, label.half)]
    files = [json.loads(line) for line in (folder / "tables_files.jsonl").read_text().splitlines()]
    without = {f["file"] for f in files if not f["tables"] and not f["optional"]}
    names = sorted(without | {label.file for label in tables})
    pythons = {
        "kgrag": sys.executable,
        **(dict.fromkeys(_OTHERS, args.others) if args.others else {}),
    }
    for system, python in pythons.items():
        read = [n for n in names if system not in _PDF_ONLY or n.endswith(".pdf")]
        found = _read(system, python, args.files, read)
        _print(system, tables, found, without, each=args.each and system == "kgrag")


def _labels(path: Path) -> Iterator[Label]:
    for line in path.read_text("utf-8").splitlines():
        label = json.loads(line)
        layout, media = label.get("layout", ""), label.get("media", "")
        about = (f"{layout} {media}", layout, f"{label.get('drawn', label['kind'])} {layout}")
        yield Label(
            label["file"], about, label["half"], label.get("optional", False), label["rows"]
        )


def _read(system: str, python: str, folder: Path, names: Sequence[str]) -> dict[str, list[Rows]]:
    """Return the tables that a system finds in each file."""
    command = [python, str(_HERE / "table_readers.py"), system, *(str(folder / n) for n in names)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = {}
    records = [json.loads(line) for line in lines.splitlines() if line.startswith('{"file"')]
    for name, record in zip(names, records, strict=True):
        if "error" in record:
            print(f"{system}: {name}: {record['error']}", file=sys.stderr)
        found[name] = record["tables"]
    return found


def _print(
    system: str,
    tables: Sequence[Label],
    found: dict[str, list[Rows]],
    without: set[str],
    *,
    each: bool,
) -> None:
    sums: dict[str, list[Score]] = {}
    for label in tables:
        if label.file in found:
            score = score_table(label.rows, found[label.file])
            sums.setdefault(label.file.partition("/")[0], []).append(score)
            for about in sorted(set(label.about)):
                sums.setdefault(about.strip(), []).append(score)
            if each and score.cells < score.n_cells:
                print(f"  {label.file} {' '.join(label.about[::-2])}: {_figures([score])}")
    print(f"{system}: tables, cells, rows, cells free, rows free")
    for name, scores in sorted(sums.items()):
        print(f"  {name:24} {len(scores):3}  {_figures(scores)}")
    false = {name: len(found[name]) for name in found if name in without and found[name]}
    n_without = len([name for name in found if name in without])
    print(f"  false tables: {sum(false.values())} in {len(false)} of {n_without} files {[*false]}")


def _figures(scores: Sequence[Score]) -> str:
    cells, rows, free_cells, free_rows, n_cells, n_rows = map(sum, zip(*scores, strict=True))
    return (
        f"{cells:5}/{n_cells:5} {100 * cells / n_cells:5.1f} %  "
        f"{rows:4}/{n_rows:4} {100 * rows / n_rows:5.1f} %  "
        f"{100 * free_cells / n_cells:5.1f} %  {100 * free_rows / n_rows:5.1f} %"
    )


def score_table(label: Digests, found: Sequence[Rows]) -> Score:
    """Return the score of the best among the tables, of text, that were found in the file.

    >>> label = [[digest(text) for text in row] for row in (("年", "值"), ("甲", ""))]
    >>> score_table(label, [[["年", "值"], ["", "甲"]]])
    Score(cells=2, rows=1, free_cells=2, free_rows=1, n_cells=4, n_rows=2)
    """
    strict = max((_right(label, _digests(table), free=False) for table in found), default=(0, 0))
    runs = (
        [row for table in found[i:j] for row in table]
        for i in range(len(found))
        for j in range(i + 1, min(i + _MOST_JOINED, len(found)) + 1)
    )
    tried = (_digests(joined) for run in runs for joined in _headers_joined(run))
    free = max((_right(label, table, free=True) for table in tried), default=(0, 0))
    return Score(*strict, *max(strict, free), sum(map(len, label)), len(label))


def _digests(table: Rows) -> Digests:
    return [[digest(text) for text in row] for row in table]


def _headers_joined(table: Rows) -> Iterator[Rows]:
    """Yield the table as it is, and with its first two and three rows as one."""
    yield table
    for n in (2, 3):
        if len(table) > n:
            width = max(map(len, table))
            columns = zip(*(row + [""] * (width - len(row)) for row in table[:n]), strict=True)
            yield [["".join(dict.fromkeys(column)) for column in columns], *table[n:]]


def _right(label: Digests, table: Digests, *, free: bool) -> tuple[int, int]:
    """Return how many cells are right and how many rows whole."""
    n_right = n_whole = 0
    for i, j in _facing(label, table):
        row = table[j]
        right = sum(
            (row[k] if k < len(row) else "") == text
            or (free and not (row[k] if k < len(row) else "") and _repeats(label, i, k))
            for k, text in enumerate(label[i])
        )
        n_right += right
        n_whole += right == len(label[i])
    return n_right, n_whole


def _repeats(label: Digests, row: int, column: int) -> bool:
    """Return whether a cell has the text of the one to its left or above."""
    text = label[row][column]
    left = column > 0 and label[row][column - 1] == text
    return left or (row > 0 and column < len(label[row - 1]) and label[row - 1][column] == text)


def _facing(label: Digests, table: Digests) -> list[tuple[int, int]]:
    """Return pairs of rows, in order, that have most text in common; rows without any face none."""
    weights = [[_weight(row, other) for other in table] for row in label]
    best = [[0] * (len(table) + 1) for _ in range(len(label) + 1)]
    for i in range(len(label) - 1, -1, -1):
        for j in range(len(table) - 1, -1, -1):
            facing = weights[i][j] and best[i + 1][j + 1] + weights[i][j]
            best[i][j] = max(best[i + 1][j], best[i][j + 1], facing)
    pairs, i, j = [], 0, 0
    while i < len(label) and j < len(table):
        if weights[i][j] and best[i][j] == best[i + 1][j + 1] + weights[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _weight(row: list[str], other: list[str]) -> int:
    common = Counter(c for c in row if c) & Counter(c for c in other if c)
    in_place = sum(a == b for a, b in zip(row, other, strict=False))
    return common.total() and _IN_PLACE * common.total() + in_place


if __name__ == "__main__":
    main()
