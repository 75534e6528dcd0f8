"""The result of text recognition: pieces of text and tables of a page, with confidences."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kgrag.ingestion.load.page_tables import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic import TypeAdapter

    Picture: TypeAlias = NDArray[np.uint8]

DOUBT = 0.8  # below this mean confidence a line is read with doubt
# Of a character in a number: one wrong digit is a wrong figure, and the mean hides it.
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
        """Return whether a point is inside."""
        return self.left <= point[0] < self.right and self.top <= point[1] < self.bottom


@dataclass(frozen=True, slots=True)
class Piece:
    """A line of text, or a part of one between gaps or rulings.

    Attributes:
        text: Stripped, not empty.
        box: On the upright page.
        confidence: Mean over its characters, from 0 to 1.
        doubtful: Numbers in it with a character of low confidence.
    """

    text: str
    box: Box
    confidence: float
    doubtful: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageText:
    """A recognised page, upright.

    Attributes:
        pieces: In no order.
        tables: Of them, by their indices; edges in pixels.
        turned: Quarter turns clockwise that put it upright, 0 to 3.
        skew: Degrees by which it was straightened, counter-clockwise positive.
        n_seals: Seals and stamps that were removed.
    """

    pieces: tuple[Piece, ...]
    tables: tuple[Table, ...] = ()
    turned: int = 0
    skew: float = 0.0
    n_seals: int = 0

    def to_json(self) -> str:
        """Return it as JSON."""
        return _adapter().dump_json(self).decode()

    @classmethod
    def from_json(cls, text: bytes | str) -> "PageText":
        """Return what `to_json` wrote.

        Raises:
            ValueError: If it is anything else.
        """
        return _adapter().validate_json(text)


@cache
def _adapter() -> "TypeAdapter[PageText]":
    from pydantic import TypeAdapter

    return TypeAdapter(PageText)
