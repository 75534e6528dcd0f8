"""Tables that continue over page breaks are joined, then written as lines of the pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgrag.ingestion.load.grid import Cell, fill, table_lines
from kgrag.ingestion.load.page_tables.shapes import Cells, Line, Table, is_figure
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.table_rows import is_delimiter

# Columns of two pages that differ by less, in points, once both begin at the same place, are one.
_SAME_EDGE = 8.0
_SAME_GAP = 20.0
_MOST_HEADER_ROWS = 4
_CLOSED = re.compile(r"[。；;！？!?]$")

Numbers = tuple[int, ...]
_GOES_ON = re.compile(rf"续(上)?表|[（(]续[\s\d{HAN_SMALL}]*[）)]|接上表")
_CAPTION = re.compile(
    rf"(?:续?表|附表)\s*[\d{HAN_SMALL}A-Z]|Table\s+\d|[（(]?(?:计量)?单位\s*[:：]"
    r"|.{2,30}(?:表|清单|目录)$"
)
_NOTE = re.compile(
    r"[（(]?(?:附?注|备注|说明|(?:资料|数据)?来源)\s*+\d{0,2}+\s*+[:：]|Notes?\s*:|Source\s*:|[*＊※]"
)
_MOST_CAPTIONS = 3

Item = Line | Table


@dataclass(slots=True)
class Whole:
    """A table of one or more pages: as `Table`, with edges from its left side.

    Attributes:
        pages: For each row, the index of the page that it begins on.
    """

    edges: tuple[float, ...]
    rows: list[Cells]
    cells: list[Numbers]
    pages: list[int]
    ruled: bool | None
    last_full: tuple[bool, ...]

    @classmethod
    def begun(cls, table: Table, page: int) -> "Whole":
        """Return the part of a table on its first page."""
        return cls(
            edges=_from_left(table.edges),
            rows=list(table.rows),
            cells=list(table.cells),
            pages=[page] * len(table.rows),
            ruled=table.ruled,
            last_full=table.last_full,
        )

    def spans(self) -> list[list[Cell]]:
        """Return its rows as cells with spans."""
        areas: dict[int, list[int]] = {}
        for row, line in enumerate(self.cells):
            for column, cell in enumerate(line):
                area = areas.setdefault(cell, [row, row, column, column])
                area[1], area[3] = row, max(area[3], column)
        return [
            [
                Cell(text, areas[cell][1] - row + 1, areas[cell][3] - column + 1)
                for column, (text, cell) in enumerate(zip(texts, line, strict=True))
                if areas[cell][0] == row and areas[cell][2] == column
            ]
            for row, (texts, line) in enumerate(zip(self.rows, self.cells, strict=True))
        ]

    def goes_on(self, table: Table, page: int) -> bool:
        """Append the first table of the next page, or return False if it is another one.

        It has the same columns, or some of them merged; as many, where the edges of one are not
        known or its header is repeated. A repeated header is dropped, a row cut in two is joined,
        and a label merged over the page break stands for the rows below it, too.
        """
        edges, ruled = _from_left(table.edges), table.ruled
        is_alike = None in (self.ruled, ruled) or _bare(table.rows[0]) == _bare(self.rows[0])
        if is_alike and len(edges) == len(self.edges):
            edges, ruled = self.edges, self.ruled
        near = _SAME_EDGE if self.ruled and ruled else _SAME_GAP
        if self.ruled != ruled or not self._fit(edges, near):
            return False
        places = _places(self.edges, edges, near)
        fresh = 1 + max(map(max, self.cells))
        rows = [tuple(row[i] for i in places) for row in table.rows]
        cells = [tuple(fresh + line[i] for i in places) for line in table.cells]
        n_repeated = self._repeated(rows)
        rows, cells = rows[n_repeated:], cells[n_repeated:]
        if not rows:
            return True
        is_cut = self._is_cut(rows, cells)
        rows, cells = self._labelled(rows, cells)
        if is_cut:
            self._complete(rows[0], cells[0])
            rows, cells = rows[1:], cells[1:]
        self.rows += rows
        self.cells += cells
        self.pages += [page] * len(rows)
        self.last_full = tuple(table.last_full[i] for i in places)
        return True

    def _complete(self, row: Cells, line: Numbers) -> None:
        """Add the rest of the last row that is on the next page; a merged label is there twice."""
        parts = zip(self.rows[-1], row, self.cells[-1], line, strict=True)
        self.rows[-1] = tuple(
            above if cell == other else "\n".join(filter(None, (above, below)))
            for above, below, cell, other in parts
        )

    def _fit(self, edges: Sequence[float], near: float) -> bool:
        """Return whether one part has the other's columns; give the rows those of both."""
        few, many = sorted((self.edges, tuple(edges)), key=len)
        if abs(few[-1] - many[-1]) > near or not all(
            min(abs(a - b) for b in many) <= near for a in few
        ):
            return False
        if len(self.edges) < len(edges):
            places = _places(edges, self.edges, near)
            self.rows = [tuple(row[i] for i in places) for row in self.rows]
            self.cells = [tuple(line[i] for i in places) for line in self.cells]
            self.last_full = tuple(self.last_full[i] for i in places)
            self.edges = tuple(edges)
        return True

    def _repeated(self, rows: Sequence[Cells]) -> int:
        for n in range(min(_MOST_HEADER_ROWS, len(rows), len(self.rows)), 0, -1):
            if [_bare(row) for row in rows[:n]] == [_bare(row) for row in self.rows[:n]]:
                return n
        return 0

    def _is_cut(self, rows: Sequence[Cells], cells: Sequence[Numbers]) -> bool:
        """Return whether the first of further rows is the rest of the last one.

        Its first cell is empty, not by a merged label, and every text in it is below another that
        is no figure; one of these filled its cell without ending a sentence, or no other row
        begins with an empty cell.
        """
        above, below = self.rows[-1], rows[0]
        tall = len(rows) > 1 and cells[0][0] == cells[1][0]
        key = 1 if tall and not below[0] else 0
        said = [*filter(below.__getitem__, range(len(below)))]
        if below[key] or not above[key] or not said:
            return False
        opened = set(filter(self._is_open, said))
        if not all(above[i] for i in said) or any(is_figure(below[i]) for i in {*said} - opened):
            return False
        return bool(opened) or (len(self.rows) > 2 and "" not in [row[key] for row in self.rows])

    def _is_open(self, column: int) -> bool:
        """Return whether the last row's text fills its cell without ending a sentence."""
        return self.last_full[column] and not _CLOSED.search(self.rows[-1][column])

    def _labelled(
        self, rows: list[Cells], cells: list[Numbers]
    ) -> tuple[list[Cells], list[Numbers]]:
        """Return further rows with the labels that are merged over the page break."""
        for column in range(len(self.edges) - 1):
            cell, above = cells[0][column], self.cells[-1][column]
            tall = len(cells) > 1 and cells[1][column] == cell
            tall = tall or (len(self.cells) > 1 and self.cells[-2][column] == above)
            if rows[0][column] or not self.rows[-1][column] or not tall:
                break
            label = self.rows[-1][column]
            n = next((i for i, line in enumerate(cells) if line[column] != cell), len(cells))
            for i in range(n):
                rows[i] = (*rows[i][:column], label, *rows[i][column + 1 :])
                cells[i] = (*cells[i][:column], above, *cells[i][column + 1 :])
        return rows, cells


def _places(edges: Sequence[float], among: Sequence[float], near: float) -> list[int]:
    """Return for each column with some edges its column among others."""
    return [max(i for i, e in enumerate(among[:-1]) if e <= at + near) for at in edges[:-1]]


def _from_left(edges: Sequence[float]) -> tuple[float, ...]:
    return tuple(edge - edges[0] for edge in edges)


def _bare(row: Cells) -> list[str]:
    return ["".join(text.split()) for text in row]


def expand(pages: Sequence[Sequence[Item]]) -> list[list[Line]]:
    """Return pages of lines: each row of a table is a line on the page where it begins.

    A table that ends a page and one of the same columns that begins the next are joined; a line
    between them (续表) is dropped. Captions and units before a table, and notes after it, are
    paragraphs of their own.
    """
    out: list[list[Line | Whole]] = []
    for number, page in enumerate(pages):
        items: list[Line | Whole] = []
        for item in _apart(page):
            if isinstance(item, Line):
                items.append(item)
                continue
            open_one = _open(out, items)
            if open_one is not None and open_one.goes_on(item, number):
                items = [open_one]
            else:
                items.append(Whole.begun(item, number))
        out.append(items)
    written: dict[int, list[list[str]]] = {}
    return [
        [
            line
            for item in items
            for line in (
                [item]
                if isinstance(item, Line)
                else _rows(written.setdefault(id(item), _by_page(item, len(out)))[number])
            )
        ]
        for number, items in enumerate(out)
    ]


def _open(out: Sequence[Sequence[Line | Whole]], items: Sequence[Line | Whole]) -> Whole | None:
    """Return the table at the end of the last page, if only its caption follows."""
    last = out[-1][-1] if out and out[-1] else None
    if not isinstance(last, Whole):
        return None
    said = {"".join(i.text.split()) for i in out[-1] if isinstance(i, Line)}
    for item in items:
        if isinstance(item, Whole):
            return None
        if not (_GOES_ON.search(item.text) or "".join(item.text.split()) in said):
            return None
    return last


def _by_page(whole: Whole, n_pages: int) -> list[list[str]]:
    spans = whole.spans()
    lines = table_lines(spans)
    pages = [whole.pages[i] for i in fill(spans).numbers]
    delimiter = next((i for i, line in enumerate(lines) if is_delimiter(line)), -1)
    # The header's rows became one line, and the delimiter's is none of them.
    n_header = len(pages) + 2 - len(lines) if delimiter >= 0 else 1
    out: list[list[str]] = [[] for _ in range(n_pages)]
    for i, line in enumerate(lines):
        row = i if i < delimiter or delimiter < 0 else max(delimiter - 1, i - 2 + n_header)
        out[pages[row] if i > delimiter else pages[0]].append(line)
    return out


def _rows(texts: Sequence[str]) -> list[Line]:
    return [Line(text, 0.0, 0.0, 0.0, "row") for text in texts]


def _apart(page: Sequence[Item]) -> list[Item]:
    """Return a page with captions before and notes after tables marked as paragraphs."""
    items = list(page)
    for i, item in enumerate(page):
        if not isinstance(item, Table):
            continue
        for j in range(i - 1, max(-1, i - 1 - _MOST_CAPTIONS), -1):
            before = items[j]
            if not isinstance(before, Line) or not _CAPTION.match(before.text):
                break
            items[j] = replace(before, stands="alone")
        for j in range(i + 1, len(items)):
            after = items[j]
            if not isinstance(after, Line):
                break
            if _NOTE.match(after.text):
                items[j] = replace(after, stands="opens")
            elif j > i + 8:
                break
    return items
