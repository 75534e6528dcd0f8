"""Tables that go on over a page's end, put together again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.ingestion.load.grid import Cell
from kgrag.ingestion.load.page_tables.cells import is_figure
from kgrag.ingestion.load.page_tables.shapes import Cells, Table

# Columns of two pages that differ by less, in points, once both begin at the same place, are one.
_SAME_EDGE = 8.0
_SAME_GAP = 20.0
_MOST_HEADER_ROWS = 4
_CLOSED = re.compile(r"[。；;！？!?]$")

Numbers = tuple[int, ...]


@dataclass(slots=True)
class Whole:
    """A table of one or more pages.

    Attributes:
        edges: Where its columns begin and end, in points, from its left side.
        rows: From the top.
        cells: By row and column, which cell it is.
        pages: For each row, the index of the page that it begins on.
        ruled: It has rulings between its columns.
        last_full: By column, whether the last row's cell has no room in its last line.
    """

    edges: tuple[float, ...]
    rows: list[Cells]
    cells: list[Numbers]
    pages: list[int]
    ruled: bool
    last_full: tuple[bool, ...]

    @classmethod
    def begun(cls, table: Table, page: int) -> "Whole":
        """Return a table as its first page has it."""
        return cls(
            edges=_from_left(table.edges),
            rows=list(table.rows),
            cells=list(table.cells),
            pages=[page] * len(table.rows),
            ruled=table.ruled,
            last_full=table.last_full,
        )

    def spans(self) -> list[list[Cell]]:
        """Return its rows as cells with spans, each where it begins."""
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
        """Take in what the next page has of it, or say that it is another table.

        Its columns stand where those of this table stand, or some of them are merged there. Rows
        of the header that are repeated are dropped; a row cut in two is put together; a label that
        is merged over the page's end stands for the rows below it, too.

        Args:
            table: The first of that page.
            page: Index of that page.
        """
        edges = _from_left(table.edges)
        near = _SAME_EDGE if self.ruled and table.ruled else _SAME_GAP
        if self.ruled != table.ruled or not self._fit(edges, near):
            return False
        places = [
            max(i for i, e in enumerate(edges[:-1]) if e <= at + near) for at in self.edges[:-1]
        ]
        fresh = 1 + max(cell for line in self.cells for cell in line)
        rows = [tuple(row[i] for i in places) for row in table.rows]
        cells = [tuple(fresh + line[i] for i in places) for line in table.cells]
        n_repeated = self._repeated(rows)
        rows, cells = rows[n_repeated:], cells[n_repeated:]
        if not rows:
            return True
        if self._is_cut(rows, cells):
            self.rows[-1] = tuple(
                f"{a}\n{b}" if a and b else a or b
                for a, b in zip(self.rows[-1], rows[0], strict=True)
            )
            rows, cells = rows[1:], cells[1:]
        elif rows:
            rows, cells = self._labelled(rows, cells)
        self.rows += rows
        self.cells += cells
        self.pages += [page] * len(rows)
        self.last_full = tuple(table.last_full[i] for i in places)
        return True

    def _fit(self, edges: Sequence[float], near: float) -> bool:
        """Give its rows the columns of both parts; say whether one has the other's."""
        few, many = sorted((self.edges, tuple(edges)), key=len)
        if abs(few[-1] - many[-1]) > near or not all(
            min(abs(a - b) for b in many) <= near for a in few
        ):
            return False
        if len(self.edges) < len(edges):
            places = [
                max(i for i, e in enumerate(self.edges[:-1]) if e <= at + near) for at in edges[:-1]
            ]
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
        """Say whether the first of further rows is the rest of the last one.

        Its first cell is empty, not by a merged label, and every text in it stands below another;
        one of these filled its cell to the end without closing a sentence, or no other row begins
        with an empty cell. Figures do not go on.
        """
        above, below = self.rows[-1], rows[0]
        tall = len(rows) > 1 and cells[0][0] == cells[1][0]
        key = 1 if tall and not below[0] else 0
        if below[key] or not above[key]:
            return False
        said = [i for i, text in enumerate(below) if text]
        if not said or any(not above[i] or is_figure(below[i]) for i in said):
            return False
        broken = any(self.last_full[i] and not _CLOSED.search(above[i]) for i in said)
        return broken or (len(self.rows) > 2 and all(row[key] for row in self.rows))

    def _labelled(
        self, rows: list[Cells], cells: list[Numbers]
    ) -> tuple[list[Cells], list[Numbers]]:
        """Return further rows with the labels that are merged over the page's end."""
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


def _from_left(edges: Sequence[float]) -> tuple[float, ...]:
    return tuple(edge - edges[0] for edge in edges)


def _bare(row: Cells) -> list[str]:
    return ["".join(text.split()) for text in row]
