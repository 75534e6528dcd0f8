"""Tables that the structure tags of a PDF file tell: PDF 32000-1, 14.8.4.3.4 and 14.8.5.7."""

import ctypes
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from kgrag.ingestion.load.page_tables.aligned import Span, meet, union
from kgrag.ingestion.load.page_tables.shapes import Char, Table, TextLine, text_lines

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

_DEEPEST = 50  # elements within elements


class Element(NamedTuple):
    """What a tag encloses on a page: numbers of marked content, and further elements."""

    kind: str
    marks: list[int]
    inner: "list[Element]"
    spans: tuple[int, int]

    def of_kind(self, kind: str) -> "list[Element]":
        """Return the innermost elements of a kind."""
        found = [element for child in self.inner for element in child.of_kind(kind)]
        return found or [self] * (self.kind == kind)

    def all_marks(self) -> list[int]:
        """Return the marks of all that is within."""
        return [*self.marks, *(mark for child in self.inner for mark in child.all_marks())]


class _Cell(NamedTuple):
    """A cell with text, and how many rows and columns it covers."""

    lines: list[TextLine]
    high: int
    wide: int

    @property
    def span(self) -> Span:
        """Where its text is, from left to right."""
        return min(line.left for line in self.lines), max(line.right for line in self.lines)

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    @property
    def positions(self) -> frozenset[int]:
        return frozenset(char.position for line in self.lines for char in line.chars)

    def fills(self, right: float) -> bool:
        """Return whether it is of lines, the last of them full; one line may be of one word."""
        last = self.lines[-1]
        return len(self.lines) > 1 and right - last.right < 1.2 * last.size


def table_tags(page: "PdfPage") -> list[Element]:
    """Return the tables that the tags of a page tell; those in cells of others alone."""
    from pypdfium2 import raw

    tree = raw.FPDF_StructTree_GetForPage(page)
    seen: set[int] = set()
    roots = (
        _element(raw.FPDF_StructTree_GetChildAtIndex(tree, i), seen)
        for i in range(raw.FPDF_StructTree_CountChildren(tree))
    )
    found = [table for root in roots if root for table in root.of_kind("Table")]
    raw.FPDF_StructTree_Close(tree)
    return found


def tagged_tables(
    tags: Sequence[Element], text_page: "PdfTextPage", chars: Sequence[Char]
) -> list[Table]:
    """Return the tables of a page that tags tell.

    Tags tell rows, cells and their spans. Writers leave out empty cells, so that columns are told
    by where cells are on the page.

    Args:
        tags: Of the page's tables.
        text_page: Of PDFium.
        chars: Those of the page that are in no other table.
    """
    from pypdfium2 import raw

    marked: dict[int, list[Char]] = defaultdict(list)
    for char in chars if tags else ():
        item = raw.FPDFText_GetTextObject(text_page, char.position)
        marked[raw.FPDFPageObj_GetMarkedContentID(item)].append(char)
    found = (_table([_cells(row, marked) for row in table.of_kind("TR")]) for table in tags)
    return [table for table in found if table is not None]


def _element(element: Any, seen: set[int], depth: int = 0) -> Element | None:
    """Return an element, unless it has nothing on the page or was seen before."""
    from pypdfium2 import raw

    address = ctypes.cast(element, ctypes.c_void_p).value
    if address is None or address in seen or depth > _DEEPEST:
        return None
    seen.add(address)
    name = ctypes.create_string_buffer(32)
    raw.FPDF_StructElement_GetType(element, name, len(name))
    kind = name.raw.decode("utf-16-le", "replace").partition("\0")[0]
    places = range(raw.FPDF_StructElement_CountChildren(element))
    marks = [raw.FPDF_StructElement_GetChildMarkedContentID(element, i) for i in places]
    inner = (raw.FPDF_StructElement_GetChildAtIndex(element, i) for i in places)
    return Element(
        kind,
        [mark for mark in marks if mark >= 0],
        [child for each in inner if (child := _element(each, seen, depth + 1))],
        (_span(element, b"RowSpan"), _span(element, b"ColSpan"))
        if kind in ("TD", "TH")
        else (1, 1),
    )


def _span(element: Any, name: bytes) -> int:
    from pypdfium2 import raw

    number = ctypes.c_float(1.0)
    for i in range(raw.FPDF_StructElement_GetAttributeCount(element)):
        attribute = raw.FPDF_StructElement_GetAttributeAtIndex(element, i)
        if value := raw.FPDF_StructElement_Attr_GetValue(attribute, name):
            raw.FPDF_StructElement_Attr_GetNumberValue(value, number)
    return int(min(max(number.value, 1.0), 1000.0))


def _cells(row: Element, marked: Mapping[int, list[Char]]) -> list[_Cell]:
    cells = []
    for cell in row.inner:
        chars = [char for mark in cell.all_marks() for char in marked.get(mark, ())]
        if chars and cell.kind in ("TD", "TH"):
            cells.append(_Cell(text_lines(chars), *cell.spans))
    return cells


def _table(told: Sequence[list[_Cell]]) -> Table | None:
    rows = [row for row in told if row]
    columns = _columns(rows)
    n = len(columns)
    if min(len(rows), n) < 2:
        return None
    edges = [columns[0][0], *((a[1] + b[0]) / 2 for a, b in pairwise(columns)), columns[-1][1]]
    placed = list(_placed(rows, edges))
    if len(placed) < sum(map(len, rows)):
        return None
    cells = _slots(placed, len(rows), n)
    texts = {i * n + j: cell.text for i, j, cell in placed}
    ends = {j: cell for i, j, cell in placed if i + cell.high >= len(rows)}
    return Table(
        rows=tuple(tuple(texts.get(cell, "") for cell in line) for line in cells),
        cells=tuple(map(tuple, cells)),
        edges=tuple(edges),
        members=frozenset().union(*(cell.positions for *_, cell in placed)),
        ruled=None,
        last_full=tuple(j in ends and ends[j].fills(columns[j][1]) for j in range(n)),
    )


def _slots(placed: Sequence[tuple[int, int, _Cell]], n_rows: int, n: int) -> list[list[int]]:
    """Return the numbers of cells by row and column: each one's first slot's.

    Empty slots below each other at the left are one: of a label on the page before, perhaps.
    """
    cells = [list(range(at, at + n)) for at in range(n_rows * n, 2 * n_rows * n, n)]
    for i, j, cell in placed:
        for line in cells[i : i + cell.high]:
            line[j : j + cell.wide] = [i * n + j] * len(line[j : j + cell.wide])
    for above, line in pairwise(cells):
        line[0] = above[0] if min(above[0], line[0]) >= n_rows * n else line[0]
    return cells


def _columns(rows: Sequence[list[_Cell]]) -> list[Span]:
    """Return where columns are: what no row fills both of is one (a label over figures)."""
    own = [[cell.span for cell in row if cell.wide == 1] for row in rows]
    columns: list[Span] = []
    for column in union([span for row in own for span in row]):
        both = (columns[-1], column) if columns else ()
        if not both or any(all(any(meet(s, c) for s in row) for c in both) for row in own):
            columns.append(column)
        else:
            columns[-1] = columns[-1][0], column[1]
    return columns


def _placed(
    rows: Sequence[list[_Cell]], edges: Sequence[float]
) -> Iterator[tuple[int, int, _Cell]]:
    """Yield row, column and cell: in the free columns that it is within, or nearest to.

    Until one has no room.
    """
    n = len(edges) - 1
    free_from = [0] * n  # by column, the first row without a cell from above
    for i, row in enumerate(rows):
        first = 0
        for cell in row:
            wide = min(cell.wide, n)
            fits = [j for j in range(first, n - wide + 1) if max(free_from[j : j + wide]) <= i]
            if not fits:
                return
            middle = sum(cell.span) / 2
            outside = {j: max(edges[j] - middle, middle - edges[j + wide], 0.0) for j in fits}
            off = {j: abs(middle - (edges[j] + edges[j + wide]) / 2) for j in fits}
            at = min(fits, key=lambda j: (outside[j], off[j]))
            first = at + wide
            free_from[at:first] = [i + cell.high] * wide
            yield i, at, cell
