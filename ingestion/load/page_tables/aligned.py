"""Tables without rulings between their columns, from the alignment of text."""

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile

from kgrag.ingestion.load.page_tables.ruled import straightened
from kgrag.ingestion.load.page_tables.shapes import (
    Char,
    Ruling,
    Table,
    TextLine,
    is_figure,
    text_lines,
    text_of,
)
from kgrag.text.numerals import HAN_SMALL

# Pieces of a line this far apart, in characters, stand in different columns.
_APART = 0.45
# Pieces that reach over several columns are parted at gaps as small as this.
_SLIGHT = 0.1
# Rows farther apart than this, in characters, are not of one table.
_ROW_GAP = 3.2
_FEWEST_ROWS = 3
_LONG = 30
_MOST_RULES = 40
_NOT_A_ROW = re.compile(
    rf"(续?表|附表|图)\s*[\d{HAN_SMALL}]|单位[:：]|注[:：]|(资料|数据)?来源[:：]|备注[:：]"
)
_YEAR = re.compile(r"(?:19|20)\d\d\s*年?")
_LEADERS = re.compile(r"[.．·…]{4,}")
_KEY = re.compile(r"[:：]$")

Piece = tuple[Char, ...]
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the page and its pieces."""

    line: TextLine
    pieces: tuple[Piece, ...]
    texts: tuple[str, ...]

    @property
    def is_body(self) -> bool:
        """Whether a figure follows its first piece."""
        return any(is_figure(text) for text in self.texts[1:])


def aligned_tables(chars: Sequence[Char], rulings: Sequence[Ruling]) -> list[Table]:
    """Return the tables that are set in columns without rulings between them, from the top.

    Between two horizontal rulings of one length, columns are enough. Without, a table has three
    rows with figures after their first column, a column mostly of figures, and a header; contents,
    signatures, pairs of name and value, and columns of running text are none.

    Args:
        chars: Those of the page that are in no other table.
        rulings: Of the page.
    """
    rows = [_row(line) for line in text_lines(chars)]
    found: list[Table | None] = []
    for run in level_runs(rulings):
        for table in _between_rules(rows, run):
            found.append(table)
            rows = [row for row in rows if row.line.chars[0].position not in table.members]
    found += [_unruled(block) for block in _blocks(rows)]
    return [table for table in found if table is not None]


def _row(line: TextLine) -> _Row:
    pieces: list[list[Char]] = [[line.chars[0]]]
    for before, char in zip(line.chars, line.chars[1:], strict=False):
        if char.left - before.right > _APART * min(before.size, char.size):
            pieces.append([])
        pieces[-1].append(char)
    return _Row(line, tuple(map(tuple, pieces)), tuple(text_of(p) for p in pieces))


def _parted(row: _Row, columns: Sequence[Span]) -> _Row:
    """Return a row, its pieces over several columns split at small gaps between these."""
    pieces: list[Piece] = []
    for piece in row.pieces:
        parts: list[list[Char]] = [[piece[0]]]
        for before, char in pairwise(piece):
            apart = char.left - before.right > _SLIGHT * min(before.size, char.size)
            if apart and _covered(tuple(parts[-1]), columns) != _covered((char,), columns):
                parts.append([])
            parts[-1].append(char)
        own = [_covered(tuple(part), columns) for part in parts]
        fits = all(len(places) == 1 for places in own) and len({p[0] for p in own}) == len(own)
        pieces += map(tuple, parts) if fits else [piece]
    return _Row(row.line, tuple(pieces), tuple(text_of(piece) for piece in pieces))


def level_runs(rulings: Sequence[Ruling]) -> list[list[float]]:
    """Return the heights of horizontal rulings of one place and length, from the top."""
    runs: list[list[Ruling]] = []
    for ruling in sorted((r for r in straightened(rulings) if r.across), key=lambda r: -r.at):
        for run in runs:
            if abs(run[0].start - ruling.start) < 6 and abs(run[0].end - ruling.end) < 6:
                run.append(ruling)
                break
        else:
            runs.append([ruling])
    return [
        sorted({round(r.at, 1) for r in run}, reverse=True)
        for run in runs
        if 2 <= len(run) <= _MOST_RULES and run[0].end - run[0].start > 100
    ]


def _between_rules(rows: Sequence[_Row], run: Sequence[float]) -> list[Table]:
    """Return the tables between the rulings of a run, separated by captions."""
    bands: list[list[list[_Row]]] = [[]]
    for above, below in pairwise(run):
        inside = [row for row in rows if below < row.line.y < above]
        if not inside:
            continue
        if any(_NOT_A_ROW.match(row.texts[0]) for row in inside):
            bands.append([])
        else:
            bands[-1].append(inside)
    tables = [_ruled_across(group) for group in bands if group]
    return [table for table in tables if table is not None]


def _ruled_across(bands: Sequence[Sequence[_Row]]) -> Table | None:
    rows = list(chain(*bands))
    tabular = [row for row in rows if len(row.pieces) > 1]
    body = [row for row in tabular if row.is_body] or tabular
    if len(tabular) < 2 or 2 * len(tabular) < len(rows):
        return None
    columns = _columns(body)
    if len(columns) < 2 or _is_no_table(rows) or _is_across(rows, columns):
        return None
    if len(bands) < 3 and _is_long(rows):
        return None
    groups = list(_groups(bands, columns))
    return _table(groups, columns) if len(groups) > 1 else None


def _groups(bands: Sequence[Sequence[_Row]], columns: Sequence[Span]) -> Iterator[list[_Row]]:
    """Yield the rows between rulings: a band is one, but for several rows of a body in it."""
    for i, told in enumerate(bands, 1):
        band = [_parted(row, columns) for row in told]
        is_split = sum(row.is_body for row in band) > 1 or (len(bands) < 3 and i == len(bands))
        yield from _whole_rows(band, columns) if is_split else [band]


def _blocks(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Return runs of lines in pieces, with lines of one short piece between them."""
    if not rows:
        return []
    width = max(r.line.right for r in rows) - min(r.line.left for r in rows)
    blocks: list[list[_Row]] = [[]]
    for row in rows:
        last = blocks[-1][-1] if blocks[-1] else None
        near = last is not None and last.line.y - row.line.y < _ROW_GAP * row.line.size
        fits = len(row.pieces) > 1 or row.line.right - row.line.left < 0.4 * width
        if not fits or _NOT_A_ROW.match(row.texts[0]):
            blocks.append([])
        elif near:
            blocks[-1].append(row)
        else:
            blocks.append([row])
    return [block for block in blocks if sum(row.is_body for row in block) >= _FEWEST_ROWS]


def _unruled(block: Sequence[_Row]) -> Table | None:
    body = [row for row in block if row.is_body]
    columns = _columns(body)
    if len(columns) < 2 or _is_no_table(body) or not _has_figures(body, columns):
        return None
    rows = [_parted(row, columns) for row in _trimmed(block, columns)]
    head = takewhile(lambda row: row.line is not body[0].line, rows)
    figures = filter(is_figure, body[0].texts[1:])
    is_headed = all(map(_YEAR.fullmatch, figures)) or any(len(row.pieces) > 1 for row in head)
    if not is_headed or _is_long(rows) or _is_across(rows, columns):
        return None
    return _table(_whole_rows(rows, columns), columns)


def _columns(rows: Sequence[_Row]) -> list[Span]:
    """Return the columns: the spans that pieces of rows cover."""
    spans = sorted((p[0].left, p[-1].right) for row in rows for p in row.pieces)
    columns: list[Span] = []
    for left, right in spans:
        if columns and left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _covered(piece: Piece, columns: Sequence[Span]) -> list[int]:
    """Return the columns of a piece, or else the nearest one."""
    left, right = piece[0].left, piece[-1].right
    found = [i for i, (a, b) in enumerate(columns) if min(b, right) - max(a, left) > 0]
    if found:
        return found
    middle = (left + right) / 2
    return [min(range(len(columns)), key=lambda i: abs(sum(columns[i]) / 2 - middle))]


def _has_figures(body: Sequence[_Row], columns: Sequence[Span]) -> bool:
    """Return whether a column has mostly figures, and most places are filled."""
    cells: list[list[str]] = [[] for _ in columns]
    for row in body:
        for piece, text in zip(row.pieces, row.texts, strict=True):
            cells[_covered(piece, columns)[0]].append(text)
    filled = sum(map(len, cells)) / (len(columns) * len(body))
    if len(cells[0]) < 0.8 * len(body):
        return False
    figures = [sum(map(is_figure, column)) for column in cells[1:]]
    return filled >= 0.55 and any(
        n >= _FEWEST_ROWS and n >= 0.7 * len(column)
        for n, column in zip(figures, cells[1:], strict=True)
    )


def _is_no_table(rows: Sequence[_Row]) -> bool:
    """Return whether lines are those of a contents page, or names with values."""
    texts = [text for row in rows for text in row.texts]
    leaders = sum(_LEADERS.search(text) is not None for text in texts)
    keys = sum(any(_KEY.search(text) for text in row.texts) for row in rows)
    if leaders * 3 > len(rows) or keys * 2 > len(rows):
        return True
    last = [row.texts[-1] for row in rows if len(row.pieces) == 2]
    pages = [int(text) for text in last if text.isdecimal()]
    if len(pages) <= max(3, 0.8 * len(rows)):
        return False
    # Page numbers of a contents page rise by small steps.
    return pages == sorted(pages) and pages[-1] < min(1000, pages[0] + 20 * len(pages))


def _is_long(rows: Sequence[_Row]) -> bool:
    """Return whether many lines are running text."""
    return 4 * sum(any(len(text) > _LONG for text in row.texts) for row in rows) > len(rows)


def _is_across(rows: Sequence[_Row], columns: Sequence[Span]) -> bool:
    """Say whether text runs over columns, as a heading or a paragraph does."""
    across = sum(
        len(_covered(piece, columns)) > 1 and len(text) > _LONG / 2
        for row in rows
        for piece, text in zip(row.pieces, row.texts, strict=True)
    )
    return 4 * across > len(rows)


def _trimmed(block: Sequence[_Row], columns: Sequence[Span]) -> list[_Row]:
    """Return a block from its header to its last row, without lines of one piece around it."""
    pieces = [i for i, row in enumerate(block) if len(row.pieces) > 1]
    first, last = pieces[0], pieces[-1]
    # A label above several columns but the first is header; so is a label's second line a row's.
    if first and 0 not in _covered(block[first - 1].pieces[0], columns):
        first -= 1
    steps = [a.line.y - b.line.y for a, b in pairwise(block[first : last + 1])]
    if last + 1 < len(block) and steps:
        step = block[last].line.y - block[last + 1].line.y
        inside = _covered(block[last + 1].pieces[0], columns) == [0]
        if inside and step < 0.85 * statistics.median(steps):
            last += 1
    return list(block[first : last + 1])


def _whole_rows(rows: Sequence[_Row], columns: Sequence[Span]) -> list[list[_Row]]:
    """Return rows of the table, with the lines of wrapped cells joined.

    In a table whose first column counts its rows, lines without a number continue the row. In
    others a line without figures does, close below a line without room for another character.
    """
    return _counted_rows(rows, columns) or _nearest_rows(rows, columns)


def _counted_rows(rows: Sequence[_Row], columns: Sequence[Span]) -> list[list[_Row]]:
    """Return the rows of a table whose first column counts 1, 2, 3, or nothing."""
    counts = {i: n for i, row in enumerate(rows) if (n := _count(row, columns)) is not None}
    numbers = list(counts.values())
    if len(numbers) < 2 or any(b != a + 1 for a, b in pairwise(numbers)):
        return []
    first = min(counts)
    if first and not _has_first(rows[first - 1], columns):
        return []  # numbers stand in the middle of their rows
    groups = [[row] for row in rows[:first]]
    for i, row in enumerate(rows[first:], first):
        if i in counts:
            groups.append([row])
        elif _has_first(row, columns):
            return []
        else:
            groups[-1].append(row)
    return groups


def _has_first(row: _Row, columns: Sequence[Span]) -> bool:
    return any(0 in _covered(piece, columns) for piece in row.pieces)


def _count(row: _Row, columns: Sequence[Span]) -> int | None:
    """Return the number of a row in the first column, if any."""
    for piece, text in zip(row.pieces, row.texts, strict=True):
        if _covered(piece, columns) == [0]:
            return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else None
    return None


def _nearest_rows(rows: Sequence[_Row], columns: Sequence[Span]) -> list[list[_Row]]:
    steps = [a.line.y - b.line.y for a, b in pairwise(rows)]
    usual = statistics.median(steps) if steps else 0.0
    groups: list[list[_Row]] = []
    for i, row in enumerate(rows):
        before = groups[-1][-1] if groups else None
        fewer = len(row.pieces) < len(columns)
        if before is not None and before.is_body and not row.is_body and fewer:
            ends = {_covered(p, columns)[0]: p[-1].right for p in before.pieces}
            full = all(
                c in ends and columns[c][1] - ends[c] < 1.2 * row.line.size
                for p in row.pieces
                for c in _covered(p, columns)
            )
            if full and steps[i - 1] <= 0.95 * usual:
                groups[-1].append(row)
                continue
        groups.append([row])
    return groups


def _table(groups: Sequence[Sequence[_Row]], columns: Sequence[Span]) -> Table | None:
    rows: list[tuple[str, ...]] = []
    cells: list[tuple[int, ...]] = []
    for n, group in enumerate(groups):
        texts = [""] * len(columns)
        owners = list(range(n * len(columns), (n + 1) * len(columns)))
        for row in group:
            for piece, text in zip(row.pieces, row.texts, strict=True):
                places = _covered(piece, columns)
                for place in places:
                    texts[place] = f"{texts[place]}\n{text}" if texts[place] else text
                    owners[place] = owners[places[0]]
        rows.append(tuple(texts))
        cells.append(tuple(owners))
    if 3 * sum(sum(map(bool, row)) < 2 for row in rows) > len(rows):
        return None
    members = frozenset(c.position for g in groups for row in g for c in row.line.chars)
    return Table(
        rows=tuple(rows),
        cells=tuple(cells),
        edges=(columns[0][0], *((a[1] + b[0]) / 2 for a, b in pairwise(columns)), columns[-1][1]),
        members=members,
        ruled=False,
        last_full=(False,) * len(columns),
    )
