"""What made documents are made of: tables whose cells are known, prose, what is no table."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text, how many rows and columns it covers, from 1, and a table within it."""

    text: str
    row_span: int = 1
    col_span: int = 1
    inner: "Table | None" = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it is to be written.

    Attributes:
        kind: As of a `Plan`.
        layout: `ruled`, `shaded` (header filled, rules between rows), `banded` (header and every
            second row filled, no rules), `headed` (header filled), `three-line` or `borderless`.
        rows: Its cells as HTML has them: what a span from above or from the left covers is absent.
        n_header: How many of the rows are header.
        widths: Of each column, as shares of the width of the text.
        right: Columns whose figures are aligned to the right.
        centred: Columns that are centred, and their header.
        caption, unit: Lines above, notes: lines below; empty for none.
        repeats_header: Whether each page begins with the header.
        middle: Whether text stands in the middle of a cell's height, else at its top.
        font_pt: Size of the characters in points.
    """

    kind: str
    layout: str
    rows: tuple[tuple[Cell, ...], ...]
    n_header: int
    widths: tuple[float, ...]
    right: frozenset[int] = frozenset()
    centred: frozenset[int] = frozenset()
    caption: str = ""
    unit: str = ""
    notes: tuple[str, ...] = ()
    repeats_header: bool = True
    middle: bool = False
    font_pt: float = 10.5

    def slots(self) -> list[list[str]]:
        """Return every row and column with the text of the cell that covers it."""
        slots = [[""] * len(self.widths) for _ in self.rows]
        for top, left, cell in self.placed():
            for i in range(top, top + cell.row_span):
                slots[i][left : left + cell.col_span] = [cell.text] * cell.col_span
        return slots

    def placed(self) -> list[tuple[int, int, Cell]]:
        """Return each cell with its row and column, from 0.

        >>> table = Table("amounts", "ruled", ((Cell("甲", 2), Cell("1")), (Cell("2"),)), 0, (1, 1))
        >>> [(row, column) for row, column, _ in table.placed()]
        [(0, 0), (0, 1), (1, 1)]
        """
        taken: set[tuple[int, int]] = set()
        placed = []
        for i, row in enumerate(self.rows):
            j = 0
            for cell in row:
                while (i, j) in taken:
                    j += 1
                placed.append((i, j, cell))
                covered = range(cell.row_span), range(cell.col_span)
                taken |= {(i + down, j + along) for down in covered[0] for along in covered[1]}
        return placed

    def as_read(self) -> list[list[str]]:
        """Return its rows as a label has them: header rows joined into one, spans repeated."""
        slots = self.slots()
        columns = zip(*slots[: self.n_header], strict=True)
        header = ["".join(dict.fromkeys(column)) for column in columns]
        return [header, *slots[self.n_header :]]


@dataclass(frozen=True, slots=True)
class Box:
    """Lines in a frame (专栏): one column, so no table."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Letterhead:
    """An organ's name above a rule, with the number of the document."""

    organ: str
    number: str


@dataclass(frozen=True, slots=True)
class Signatures:
    """Two signatures side by side, each of as many lines."""

    left: tuple[str, ...]
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """Titles with dot leaders and page numbers."""

    entries: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class TwoColumns:
    """Paragraphs set in two columns."""

    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that are no paragraphs, such as lists of attachments and of contacts."""

    lines: tuple[str, ...]


Block = str | Table | Box | Letterhead | Signatures | Contents | TwoColumns | Lines


@dataclass(frozen=True, slots=True)
class MadeDocument:
    """A document to be written.

    Attributes:
        name: Of the file, without its ending.
        media: `docx`, `html` or `xlsx`, of the file that is written.
        printed: Whether it is only written to be printed as PDF.
        half: `tune` or `test`.
        title: Its first line.
        blocks: What follows, from top to bottom.
        landscape: Whether its pages lie on their long side.
    """

    name: str
    media: str
    printed: bool
    half: str
    title: str
    blocks: tuple[Block, ...] = field(default=())
    landscape: bool = False

    @property
    def tables(self) -> list[Table]:
        """Return its tables in their order, those within cells after theirs."""
        outer = [block for block in self.blocks if isinstance(block, Table)]
        return [
            table
            for block in outer
            for table in (block, *(c.inner for _, _, c in block.placed() if c.inner))
        ]

    @property
    def file(self) -> str:
        """Return its place below the folder of all."""
        return f"pdf/{self.name}.pdf" if self.printed else f"{self.media}/{self.name}.{self.media}"
