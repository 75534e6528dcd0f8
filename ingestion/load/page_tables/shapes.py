"""What a page is made of, as far as reading it needs: characters, rulings, lines and tables."""

from dataclasses import dataclass
from typing import Literal

Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Char:
    """A character that is shown; points, x to the right, y upwards, the text upright.

    Attributes:
        index: Where it stands in the page's text; blanks count as well.
        text: The character.
        left: Of its box, which is as wide as the character's advance and as high as its font.
        bottom: Of its box.
        right: Of its box.
        top: Of its box.
    """

    index: int
    text: str
    left: float
    bottom: float
    right: float
    top: float

    @property
    def x(self) -> float:
        """Return the middle of its box across the page."""
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        """Return the middle of its box up the page."""
        return (self.bottom + self.top) / 2

    @property
    def size(self) -> float:
        """Return its height, 1 point at least: about one character's width in Chinese."""
        return max(self.top - self.bottom, 1.0)


@dataclass(frozen=True, slots=True)
class Ruling:
    """A straight line that is drawn across or up a page.

    Attributes:
        across: Whether it is horizontal.
        at: Its height on the page or, where it is vertical, its distance from the left.
        start: Where it begins, to the left or below; `start < end`.
        end: Where it ends.
    """

    across: bool
    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page.

    Attributes:
        text: Without blanks at the ends.
        left: Where its first character begins, in points from the page's left edge.
        right: Where its last character ends.
        height: Of its first character, in points: about one character's width in Chinese.
        stands: `running` where the lines around tell; a paragraph `opens` with it (a note below a
            table), it is one of its own, `alone` (a table's caption), or a table's `row`.
    """

    text: str
    left: float
    right: float
    height: float
    stands: Literal["running", "opens", "alone", "row"] = "running"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of one page.

    Attributes:
        rows: From the top; all of the same length, merged cells repeated. A line break within a
            cell is a line feed.
        cells: By row and column, which cell it is, as a number; merged ones have the same.
        edges: Where the columns begin and end, in points; one more than there are columns.
        members: The characters that stand in it, by index.
        ruled: It has rulings between its columns.
        last_full: By column, whether the last line of the last row's cell fills the cell.
    """

    rows: tuple[Cells, ...]
    cells: tuple[tuple[int, ...], ...]
    edges: tuple[float, ...]
    members: frozenset[int] = frozenset()
    ruled: bool = True
    last_full: tuple[bool, ...] = ()
