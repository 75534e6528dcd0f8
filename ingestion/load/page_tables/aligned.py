"""Tables without rulings between their columns: white space, rules and shading part them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from kgrag.ingestion.load.grid import grouped, merged_slots
from kgrag.ingestion.load.page_tables.ruled import straightened
from kgrag.ingestion.load.page_tables.shapes import (
    Box,
    Char,
    Ruling,
    Table,
    TextLine,
    is_figure,
    text_lines,
)
from kgrag.text.numerals import HAN_SMALL

# Pieces of a line this far apart, in characters, stand in different columns.
_APART = 0.45
# Pieces that reach over several columns are parted at gaps as small as this.
_SLIGHT = 0.1
# Rows farther apart than this, in characters, are not of one table.
_ROW_GAP = 3.2
_FEWEST_ROWS = 3
# So many of the lines may have text over the gaps between columns: headers, labels of groups.
_DISSENTING = 0.25
_LABEL = 15  # characters of a label over several columns, at most
_NAME = 4  # characters of a person's name
_MOST_RULES = 200
_NEAR = 6.0  # points
_NOT_A_ROW = re.compile(
    rf"(续?表|附表|图)\s*[\d{HAN_SMALL}]|单位[:：]|注[:：]|(资料|数据)?来源[:：]|备注[:：]"
)
_LEADERS = re.compile(r"[.．·…]{4,}")
_KEY = re.compile(r"[:：]$|^.{1,12}[:：].")

Line = Sequence[TextLine]
Span = tuple[float, float]
Segments = Sequence[Span]


class Mark(NamedTuple):
    """A horizontal ruling, or an edge of shading, and where it reaches from and to."""

    at: float
    span: Span
    is_rule: bool


@dataclass(slots=True)
class _Row:
    """A row of a table: its pieces in the order of the file, and what parts it from the next.

    Attributes:
        pieces: With the columns that each covers.
        below: Where rulings are drawn below it; None where nothing is, so that all cells end.
    """

    pieces: list[tuple[TextLine, list[int]]] = field(default_factory=list)
    below: Segments | None = None

    @property
    def top(self) -> float:
        return max(piece.y + piece.size / 2 for piece, _ in self.pieces)

    @property
    def bottom(self) -> float:
        return min(piece.y - piece.size / 2 for piece, _ in self.pieces)

    @property
    def ends(self) -> dict[int, TextLine]:
        """Return the last piece of each column that is filled."""
        return {column: piece for piece, columns in self.pieces for column in columns}


def aligned_tables(
    chars: Sequence[Char], rulings: Sequence[Ruling], fills: Sequence[Box] = ()
) -> list[Table]:
    """Return the tables that are set in columns without rulings between them, from the top.

    Columns are parted by gaps that most lines have in common. Rows are parted by rulings and the
    edges of shaded bands, and between these by the order in which the file shows text: cell by
    cell, so that a cell's lines follow each other before the next cell. Columns of running text
    are shown one after the other and are none, nor are contents, and names with values.

    Args:
        chars: Those of the page that are in no other table.
        rulings: Of the page.
        fills: Its shaded boxes.
    """
    lines: list[Line] = [pieces(line) for line in text_lines(chars)]
    flat = [r for r in straightened(rulings) if r.across]
    bands = _bands(fills)
    marks = [Mark(r.at, (r.start, r.end), True) for r in flat]
    marks += [Mark(at, (b[0], b[2]), False) for b in bands for at in (b[1], b[3])]
    found: list[Table | None] = []
    taken: frozenset[int] = frozenset()
    for region in _framed(lines, flat, bands):
        region = _extended(_without(region, taken), _without(lines, taken))
        found.append(_table(region, marks, is_framed=True))
        taken |= found[-1].members if found[-1] else frozenset()
    blocks = _blocks(_without(lines, taken))
    found += [_table(block, marks, is_framed=False) for block in blocks]
    return [table for table in found if table is not None]


def _without(lines: Sequence[Line], taken: frozenset[int]) -> list[Line]:
    kept = ([piece for piece in line if piece.chars[0].position not in taken] for line in lines)
    return [line for line in kept if line]


def pieces(line: TextLine, apart: float = _APART) -> list[TextLine]:
    """Return the parts of a line between gaps wider than so many characters."""
    parts: list[list[Char]] = [[line.chars[0]]]
    for before, char in pairwise(line.chars):
        if char.left - before.right > apart * min(before.size, char.size):
            parts.append([])
        parts[-1].append(char)
    return [TextLine(tuple(part)) for part in parts]


def level_runs(rulings: Sequence[Ruling]) -> list[list[Ruling]]:
    """Return horizontal rulings of one place and length, from the top; the widest runs first."""
    runs: list[list[Ruling]] = []
    for ruling in sorted((r for r in straightened(rulings) if r.across), key=lambda r: -r.at):
        for run in runs:
            if abs(run[0].start - ruling.start) < _NEAR and abs(run[0].end - ruling.end) < _NEAR:
                run.append(ruling)
                break
        else:
            runs.append([ruling])
    runs = [r for r in runs if 2 <= len(r) <= _MOST_RULES and r[0].end - r[0].start > 100]
    return sorted(runs, key=lambda run: run[0].start - run[0].end)


def _extended(region: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Return a region with the rows right below it: those that the end of a page cuts off."""
    several = [i for i, line in enumerate(region) if len(line) > 1]
    if not several:
        return list(region)
    end = region[several[-1] :]
    below = [line for line in lines if line[0].y < end[-1][0].y]
    more = next(_blocks([*end, *below]), [])[len(end) :]
    columns = _columns(region) if len(region) > 1 else []
    told = [places for line in more if columns for _, places in _parted(line, columns)]
    return [*region, *more] if all(len(places) == 1 for places in told) else list(region)


def _bands(fills: Sequence[Box]) -> list[Box]:
    """Return shaded boxes, those of one height beside each other as one."""
    rows: dict[tuple[int, int], list[Box]] = {}
    for box in fills:
        rows.setdefault((round(box[1]), round(box[3])), []).append(box)
    return [
        (left, row[0][1], right, row[0][3])
        for row in rows.values()
        for left, right in union([(box[0], box[2] + 1.0) for box in row])
    ]


def _framed(
    lines: Sequence[Line], flat: Sequence[Ruling], bands: Sequence[Box]
) -> Iterator[list[Line]]:
    """Yield the lines between rulings of one length, parted where a caption or text is.

    A shaded band upon the first ruling is a header.
    """
    for run in level_runs(flat):
        left, right = run[0].start, run[0].end
        shaded = [
            b for b in bands if abs(b[1] - run[0].at) < 3.0 and meet((b[0], b[2]), (left, right))
        ]
        heights = [*(band[3] for band in shaded), *(ruling.at for ruling in run)]
        regions: list[list[Line]] = [[]]
        for above, below in pairwise(heights):
            inside = [
                kept
                for line in lines
                if below < line[0].y < above
                and (kept := [p for p in line if left - _NEAR < p.left < right])
            ]
            if not inside or _are_rows(inside, right - left):
                regions[-1] += inside
            else:
                regions.append([])
        yield from filter(None, regions)


def _are_rows(lines: Sequence[Line], width: float) -> bool:
    """Return whether lines between rulings are rows: some in pieces, or the label of a group."""
    if any(_NOT_A_ROW.match(line[0].text) for line in lines):
        return False
    is_label = len(lines) == 1 and lines[0][0].right - lines[0][0].left < 0.6 * width
    return is_label or any(len(line) > 1 for line in lines)


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield runs of lines in pieces, with lines of one piece that is in a column of theirs."""
    block: list[Line] = []
    for line in lines:
        near = bool(block) and block[-1][0].y - line[0].y < _ROW_GAP * line[0].size
        pieces = next((other for other in reversed(block) if len(other) > 1), ())
        beside = sum(min(p.right, line[0].right) > max(p.left, line[0].left) for p in pieces)
        is_caption = _NOT_A_ROW.match(line[0].text) is not None
        if block and (is_caption or not (near and (len(line) > 1 or (pieces and beside < 2)))):
            yield _trimmed(block)
            block = []
        if not is_caption:
            block.append(line)
    yield _trimmed(block)


def _trimmed(block: Sequence[Line]) -> list[Line]:
    """Return a block without lines of one piece around it that are no cells of its rows."""
    several = [i for i, line in enumerate(block) if len(line) > 1]
    if not several:
        return []
    first, last = several[0], several[-1]
    # Lines of a cell that stand above or below those of its row are shown between its cells.
    while first and block[first - 1][0].chars[0].position > block[first][0].chars[0].position:
        first -= 1
    latest = max(piece.chars[0].position for piece in block[last])
    while last + 1 < len(block) and block[last + 1][0].chars[0].position < latest:
        last += 1
    return list(block[first : last + 1])


def _columns(lines: Sequence[Line]) -> list[Span]:
    """Return the columns: spans of text with gaps that most lines in pieces have in common.

    The line of most pieces that most of the others agree with tells them; what reaches over
    several columns widens none.
    """
    told = sorted((line for line in lines if len(line) > 1), key=lambda line: -len(line))
    for i in range(len(told)):
        columns: list[Span] = []
        n_dissenting = 0.0
        for line in (*told[i:], *told[:i]):
            over = [places for p in line if len(places := _meeting(p, columns)) > 1]
            if not over:
                columns = union([*columns, *((piece.left, piece.right) for piece in line)])
            else:  # a cell over several columns may well begin where one but the first does
                n_dissenting += 0.5 if all(places[0] for places in over) else 1.0
        if n_dissenting <= _DISSENTING * len(told) and len(columns) > 1:
            return _filled_together(columns, lines)
    return []


def _filled_together(columns: Sequence[Span], lines: Sequence[Line]) -> list[Span]:
    """Return columns, those beside each other as one that no line fills both.

    Where cells are in the middle of their row's height, their lines are up to half a line apart.
    """
    told = [[_covered(piece, columns) for piece in line] for line in lines]
    own = [{places[0] for places in line if len(places) == 1} for line in told]
    filled = [
        here | below if above[0].y - line[0].y < 0.9 * line[0].size else here
        for (above, here), (line, below) in pairwise(zip(lines, own, strict=True))
    ] + own
    joined = [columns[0]]
    first = 0
    for i, column in enumerate(columns[1:], 1):
        if any(i in places and any(c in places for c in range(first, i)) for places in filled):
            joined.append(column)
            first = i
        else:
            joined[-1] = (joined[-1][0], column[1])
    return joined


def meet(a: Span, b: Span) -> bool:
    """Return whether spans have a part in common."""
    return min(a[1], b[1]) > max(a[0], b[0])


def union(spans: Sequence[Span]) -> list[Span]:
    """Return spans from the left, those that overlap as one."""
    columns: list[Span] = []
    for left, right in sorted(spans):
        if columns and left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _meeting(piece: TextLine, columns: Sequence[Span]) -> list[int]:
    return [i for i, column in enumerate(columns) if meet((piece.left, piece.right), column)]


def _covered(piece: TextLine, columns: Sequence[Span]) -> list[int]:
    """Return the columns of a piece, or else the nearest one."""
    middle = (piece.left + piece.right) / 2
    return _meeting(piece, columns) or [
        min(range(len(columns)), key=lambda i: abs(sum(columns[i]) / 2 - middle))
    ]


def _parted(line: Line, columns: Sequence[Span]) -> Iterator[tuple[TextLine, list[int]]]:
    """Yield the pieces of a line, those over several columns split at small gaps between these."""
    for piece in line:
        places = _covered(piece, columns)
        if len(places) > 1:
            parts = pieces(piece, _SLIGHT)
            own = [_covered(part, columns) for part in parts]
            if all(len(place) == 1 for place in own):
                by_column: dict[int, list[Char]] = {}
                for part, place in zip(parts, own, strict=True):
                    by_column.setdefault(place[0], []).extend(part.chars)
                yield from ((TextLine(tuple(c)), [i]) for i, c in by_column.items())
                continue
        yield piece, places


def _rows(
    lines: Sequence[Line], columns: Sequence[Span], parting: Mapping[float, Segments | None]
) -> list[_Row]:
    """Return the rows from the top: between what parts them, by the order of their cells."""
    heights = sorted(parting, reverse=True)
    bands: dict[int, list[Line]] = {}
    for line in lines:
        bands.setdefault(sum(at > line[0].y for at in heights), []).append(line)
    rows: list[_Row] = []
    for number, band in sorted(bands.items()):
        rows += _rows_in_order(band, columns)
        if number < len(heights):
            rows[-1].below = parting[heights[number]]
    return rows


def _rows_in_order(band: Sequence[Line], columns: Sequence[Span]) -> list[_Row]:
    rows: list[_Row] = []
    pieces = [piece for line in band for piece in _parted(line, columns)]
    previous: tuple[TextLine, list[int]] | None = None
    for piece, places in sorted(pieces, key=lambda p: p[0].chars[0].position):
        is_below = bool(rows) and piece.y < rows[-1].bottom
        if not rows or (is_below and not _goes_on(previous, piece, places, columns)):
            rows.append(_Row())
        rows[-1].pieces.append((piece, places))
        previous = piece, places
        # What is shown later at the same height is beside it.
        while len(rows) > 1 and rows[-1].top > rows[-2].bottom + 0.5 * piece.size:
            rows[-2].pieces += rows.pop().pieces
    if len(rows) == len(band):
        rows = _joined(rows, columns)
    return rows


def _goes_on(
    previous: tuple[TextLine, list[int]] | None,
    piece: TextLine,
    places: list[int],
    columns: Sequence[Span],
) -> bool:
    """Return whether a piece is the next line of a cell."""
    if previous is None or previous[1][0] != places[0]:
        return False
    near = previous[0].y - piece.y < 2 * piece.size
    return near and (places[0] > 0 or _is_full(previous[0], columns[previous[1][-1]], piece))


def _is_full(piece: TextLine, column: Span, following: TextLine | None = None) -> bool:
    """Return whether a piece leaves no room for the next character or word."""
    room = 1.2 * piece.size
    if following is not None and following.text[0].isascii():
        word = following.text.split()[0]
        room = max(room, (following.right - following.left) * len(word) / len(following.text))
    return column[1] - piece.right < room


def _joined(rows: Sequence[_Row], columns: Sequence[Span]) -> list[_Row]:
    """Return rows, lines joined that are shown one by one: each piece below a full one."""
    joined: list[_Row] = []
    for row in rows:
        ends = joined[-1].ends if joined else {}
        said = [(piece, c) for piece, places in row.pieces for c in places]
        if (
            0 not in row.ends
            and len(said) < len(ends)
            and all(c in ends and _is_full(ends[c], columns[c], p) for p, c in said)
            and not any(is_figure(piece.text) for piece, _ in said)
        ):
            joined[-1].pieces += row.pieces
        else:
            joined.append(row)
    return joined


def _parting(
    lines: Sequence[Line], columns: Sequence[Span], marks: Sequence[Mark]
) -> dict[float, Segments | None]:
    """Return the heights between the lines where rulings or edges of shading part rows."""
    top, bottom, left, right = lines[0][0].y, lines[-1][0].y, columns[0][0], columns[-1][1]
    inside = (m for m in marks if bottom < m.at < top and meet(m.span, (left, right)))
    narrow = [m for m in inside if m.span[1] - m.span[0] < 1.5 * (right - left)]
    found: dict[float, Segments | None] = {}
    for at in grouped((mark.at for mark in narrow), 3.0):
        rules, edges = _spans_at(at, narrow, is_rule=True), _spans_at(at, narrow, is_rule=False)
        if _n_covered(rules or edges, columns) > 1:
            found[at] = rules or None
    return found


def _spans_at(at: float, marks: Sequence[Mark], *, is_rule: bool) -> list[Span]:
    return union([m.span for m in marks if abs(m.at - at) < 3.0 and m.is_rule == is_rule])


def _n_covered(spans: Segments, columns: Sequence[Span]) -> int:
    return sum(any(meet(span, column) for span in spans) for column in columns)


def _table(lines: Sequence[Line], marks: Sequence[Mark], *, is_framed: bool) -> Table | None:
    columns = _columns(lines)
    if len(columns) < 2:
        return None
    parting = _parting(lines, columns, marks)
    rows = _rows(lines, columns, parting)
    whole = (columns[0][0] + 3.0, columns[-1][1] - 3.0)
    is_drawn = is_framed or any(
        spans is None or (spans[0][0] < whole[0] and whole[1] < spans[-1][1])
        for spans in parting.values()
    )
    if _is_none(rows, columns, is_drawn=is_drawn) or not (is_drawn or _is_regular(rows, columns)):
        return None
    pieces = [one for row in rows for one in row.pieces]
    figures = map(_are_figures, _by_column(pieces, len(columns))[1:])
    return _written(rows, columns, is_sure=is_drawn or any(figures))


def _is_none(rows: Sequence[_Row], columns: Sequence[Span], *, is_drawn: bool) -> bool:
    """Return whether rows are those of a contents page, names with values, or running text.

    Names with values between rules or in shaded bands are a table.
    """
    texts = [[piece.text for piece, _ in row.pieces] for row in rows]
    pieces = [one for row in rows for one in row.pieces]
    across = sum(len(p) > 1 and p[0] == 0 and len(piece.text) > _LABEL for piece, p in pieces)
    leaders = sum(any(map(_LEADERS.search, row)) for row in texts)
    keys = sum(any(map(_KEY.search, row)) for row in texts)
    single = sum(len(row.ends) < 2 for row in rows)
    most = max(3 * leaders, 2 * keys * (not is_drawn), 3 * single, 4 * across)
    is_contents = len(columns) < 4 and _are_pages([row[-1] for row in texts])
    return len(rows) < 2 or most > len(rows) or is_contents


def _are_pages(texts: Sequence[str]) -> bool:
    """Return whether most are page numbers of a contents page: they rise by small steps."""
    pages = [int(text) for text in texts if text.isdecimal()]
    is_rising = pages == sorted(pages) and len(pages) > max(3, 0.8 * len(texts))
    return is_rising and pages[-1] < min(1000, pages[0] + 20 * len(pages))


def _is_regular(rows: Sequence[_Row], columns: Sequence[Span]) -> bool:
    """Return whether rows without rulings or shading are a table's.

    These are three at least. Most places are filled, most cells of a column begin, end or have
    their middle at one place; and there are figures below a header, or three columns.
    """
    pieces = [one for row in rows for one in row.pieces]
    cells = _by_column(pieces, len(columns))
    filled = [len(row.ends) for row in rows]
    if len(rows) < _FEWEST_ROWS or filled[0] < 2 or not all(map(_is_level, cells)):
        return False
    if sum(filled) < 0.55 * len(rows) * len(columns):
        return False
    if any(map(_are_figures, cells[1:])):
        return True
    is_list = all(len(piece.text) <= _NAME for piece, _ in pieces)
    is_large = len(columns) > 2 and len(rows) > _FEWEST_ROWS
    return is_large and not is_list and not _is_running(rows, columns)


def _by_column(pieces: Sequence[tuple[TextLine, list[int]]], n: int) -> list[list[TextLine]]:
    return [[piece for piece, places in pieces if places[0] == i] for i in range(n)]


def _are_figures(cells: Sequence[TextLine]) -> bool:
    return 2 * sum(is_figure(piece.text) for piece in cells) > len(cells)


def _is_running(rows: Sequence[_Row], columns: Sequence[Span]) -> bool:
    """Return whether rows are single lines, most of them full in columns wide enough for text."""
    pieces = [(piece, c[-1]) for row in rows for piece, c in row.pieces]
    wide = [(p, c) for p, c in pieces if columns[c][1] - columns[c][0] > _LABEL * p.size]
    is_wrapped = len(pieces) > sum(len({c[0] for _, c in row.pieces}) for row in rows)
    n_full = sum(_is_full(piece, columns[c]) for piece, c in wide)
    return not is_wrapped and 2 * n_full > max(1, len(wide))


def _is_level(cells: Sequence[TextLine]) -> bool:
    """Return whether most pieces begin, end, or have their middle, at one place."""
    places = ([p.left for p in cells], [p.right for p in cells], [p.left + p.right for p in cells])
    most = max(
        n
        for place in places
        for shift in (0.0, 2.0)
        for n in Counter(round((x + shift) / 4) for x in place).values()
    )
    return 2 * most >= len(cells)


def _written(rows: Sequence[_Row], columns: Sequence[Span], *, is_sure: bool) -> Table:
    """Return the table; a cell ends at a ruling's end, at text, and where nothing is drawn."""
    over = [{c for _, places in row.pieces for c in places[:-1]} for row in rows]
    middles = [(a[1] + b[0]) / 2 for a, b in pairwise(columns)]

    def is_open_below(i: int, j: int) -> bool:
        below = rows[i].below
        return below is not None and not any(meet(span, columns[j]) for span in below)

    slots = merged_slots(len(rows), len(columns), lambda i, j: j in over[i], is_open_below)
    texts: dict[int, list[str]] = {}
    for slot_row, row in zip(slots, rows, strict=True):
        for piece, places in row.pieces:
            texts.setdefault(slot_row[places[0]], []).append(piece.text)
    ends = rows[-1].ends
    pieces = [piece for row in rows for piece, _ in row.pieces]
    return Table(
        rows=tuple(tuple("\n".join(texts.get(slot, ())) for slot in line) for line in slots),
        cells=tuple(map(tuple, slots)),
        edges=(columns[0][0], *middles, columns[-1][1]),
        members=frozenset(char.position for piece in pieces for char in piece.chars),
        ruled=False,
        is_sure=is_sure,
        last_full=tuple(c in ends and _is_full(ends[c], columns[c]) for c in range(len(columns))),
    )
