"""What text recognition makes of a page picture: pieces of text, tables, and how sure it is."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Picture: TypeAlias = NDArray[np.uint8]

DOUBT = 0.8  # below this mean confidence a line is read with doubt
# A number is in doubt sooner: one wrong digit is a wrong figure, and the mean hides it.
NUMBER_DOUBT = 0.7


class Quad(NamedTuple):
    """The corners of a line of text as (x, y) in pixels, from the top left clockwise."""

    top_left: tuple[float, float]
    top_right: tuple[float, float]
    bottom_right: tuple[float, float]
    bottom_left: tuple[float, float]

    @property
    def box(self) -> "Box":
        """The upright rectangle around it."""
        xs, ys = zip(*self, strict=True)
        return Box(min(xs), min(ys), max(xs), max(ys))


class Box(NamedTuple):
    """An upright rectangle in pixels from the page's top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    @property
    def middle(self) -> tuple[float, float]:
        """(x, y) of the centre."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def holds(self, point: tuple[float, float]) -> bool:
        """Return whether a point lies in it."""
        return self.left <= point[0] < self.right and self.top <= point[1] < self.bottom


@dataclass(frozen=True, slots=True)
class Piece:
    """A line of text, or the part of one between two gaps or ruling lines.

    Attributes:
        text: Without blanks at the ends; not empty.
        box: Where it stands on the upright page.
        confidence: Mean over its characters, from 0 to 1.
        doubtful: Numbers in it of which a character is read with doubt.
    """

    text: str
    box: Box
    confidence: float
    doubtful: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuledCell:
    """A cell between ruling lines.

    Attributes:
        row: The first row that it covers, from 0.
        column: The first column.
        row_span: Rows that it covers.
        col_span: Columns that it covers.
        pieces: What stands in it, in reading order.
    """

    row: int
    column: int
    row_span: int
    col_span: int
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A table rebuilt from its ruling lines: its place on the page and its cells, row by row."""

    box: Box
    cells: tuple[RuledCell, ...]


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as it was read, turned upright.

    Attributes:
        blocks: Rows of pieces, and tables, in reading order; the pieces of a row from left to
            right.
        width: Of the upright page in pixels.
        height: Of the upright page in pixels.
        turned: Quarter turns clockwise that put it upright, 0 to 3.
        skew: Degrees by which it was straightened, counter-clockwise positive.
        n_seals: Seals and stamps that were taken out.
    """

    blocks: tuple[tuple[Piece, ...] | RuledTable, ...]
    width: int
    height: int
    turned: int = 0
    skew: float = 0.0
    n_seals: int = 0

    def pieces(self) -> Iterator[Piece]:
        """Yield every piece of text in reading order."""
        for block in self.blocks:
            if isinstance(block, RuledTable):
                for cell in block.cells:
                    yield from cell.pieces
            else:
                yield from block

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return asdict(self)

    @classmethod
    def from_json(cls, told: Any) -> "PageText":
        """Return what `to_json` gave.

        Raises:
            KeyError: If a field is missing.
            TypeError: If one is of another kind.
            ValueError: If a list is of another length.
        """
        blocks = tuple(_block(block) for block in told["blocks"])
        return cls(**{**told, "blocks": blocks})


def _block(told: Any) -> tuple[Piece, ...] | RuledTable:
    if isinstance(told, list):
        return tuple(map(_piece, told))
    cells = tuple(
        RuledCell(**{**cell, "pieces": tuple(map(_piece, cell["pieces"]))})
        for cell in told["cells"]
    )
    return RuledTable(Box(*told["box"]), cells)


def _piece(told: Any) -> Piece:
    return Piece(told["text"], Box(*told["box"]), told["confidence"], tuple(told["doubtful"]))
