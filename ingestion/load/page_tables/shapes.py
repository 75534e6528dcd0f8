"""Characters, rulings, text lines and tables of a page."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Cells = tuple[str, ...]
_CJK = "\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
# A typesetter's gap between Chinese and digits or letters is no blank.
_GAP = re.compile(rf"(?<=[{_CJK}]) +(?=[0-9A-Za-z%])|(?<=[0-9A-Za-z%]) +(?=[{_CJK}])")
# A short word that is spread over a cell: 合 计.
_SPREAD = re.compile(rf"[{_CJK}](?: +[{_CJK}]){{1,3}}")
# Figures, with signs and units: 1,234.5 -0.3% 约20万吨 — … 12:30 2025/6
_FIGURE = re.compile(
    r"[<>≤≥＜＞≈~±+＋\-−–—约]*[\d０-９][\d０-９,，.．:/~～\-−–—%％‰±×*\s]*"
    r"(?:[（(][^（）()]{1,6}[）)])?[%％‰a-zA-Z\u4e00-\u9fff²³]{0,4}"
    r"|[-−–—…/／—]{1,3}|[NnＮ]/?[AaＡ]"
)
# Blanks wider than this share of a character's height part words.
_WORD_GAP = 0.2
# Figures and minus signs by code point, and what they are as powers.
POWERS = str.maketrans("0123456789-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁻")
# How much smaller a power is than what it stands on, and how much higher its foot.
_SMALLER, _HIGHER = 0.85, 0.2

Box = tuple[float, float, float, float]


class Char(NamedTuple):
    """A visible character of upright text and its position in the page's text.

    Its box is as wide as the character's advance and as high as its font, in points; x to the
    right, y upwards.
    """

    position: int
    text: str
    left: float
    bottom: float
    right: float
    top: float

    @property
    def x(self) -> float:
        """The horizontal middle of its box."""
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        """The vertical middle of its box."""
        return (self.bottom + self.top) / 2

    @property
    def size(self) -> float:
        """Its height, at least 1 point: about one character's width in Chinese."""
        return max(self.top - self.bottom, 1.0)


@dataclass(frozen=True, slots=True)
class Ruling:
    """A straight line on a page.

    Attributes:
        across: Whether it is horizontal.
        at: Its height on the page or, if it is vertical, its distance from the left.
        start: Its lower or left end.
        end: Its upper or right end.
        drawn: Whether it is a line of its own, no side of a shaded box.
    """

    across: bool
    at: float
    start: float
    end: float
    drawn: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page; of one in Markdown a paragraph, whose places are all 0.

    Attributes:
        text: Stripped.
        left: Of its first character, in points from the page's left edge.
        right: Of its last character.
        height: Of its first character, in points: about one character's width in Chinese.
        stands: `running`; `opens` a paragraph (a note below a table); is one, `alone` (a table's
            caption); or is a table's `row`.
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
        rows: From the top, equally long; merged cells repeated, line feeds within cells.
        cells: The number of the cell by row and column.
        edges: Of its columns, in points; one more than there are columns.
        members: Indices of its characters.
        ruled: Whether there are rulings between its columns; None where only their number is known.
        last_full: By column, whether the last line of the last row's cell is full.
        is_sure: Whether rulings, shading or columns of figures show that it is a table.
    """

    rows: tuple[Cells, ...]
    cells: tuple[tuple[int, ...], ...]
    edges: tuple[float, ...]
    members: frozenset[int] = frozenset()
    ruled: bool | None = True
    last_full: tuple[bool, ...] = ()
    is_sure: bool = True

    @classmethod
    def unplaced(cls, rows: Sequence[Cells], cells: Sequence[Sequence[int]]) -> "Table":
        """Return a table of which no edges are known."""
        n = len(rows[0])
        edges = tuple(100.0 * column for column in range(n + 1))
        return cls(tuple(rows), tuple(map(tuple, cells)), edges, ruled=None, last_full=(False,) * n)


@dataclass(frozen=True, slots=True)
class TextLine:
    """Characters at one height, from left to right."""

    chars: tuple[Char, ...]

    @property
    def left(self) -> float:
        """The left edge."""
        return self.chars[0].left

    @property
    def right(self) -> float:
        """The right edge."""
        return max(c.right for c in self.chars)

    @property
    def y(self) -> float:
        """The vertical middle of its tallest character."""
        return max(self.chars, key=lambda c: c.size).y

    @property
    def size(self) -> float:
        """The height of its tallest character."""
        return max(c.size for c in self.chars)

    @property
    def text(self) -> str:
        """The characters, with blanks in gaps."""
        return text_of(self.chars)


def text_lines(chars: Iterable[Char]) -> list[TextLine]:
    """Return the lines of characters, from the top; a raised figure stays in its line."""
    lines: list[tuple[float, float, list[Char]]] = []
    for char in sorted(chars, key=lambda c: (-c.size, -c.y)):
        y = char.y
        line = next((line for at, reach, line in lines if abs(at - y) < reach), None)
        if line is None:
            # Half a character up or down is still the same line; two lines are farther apart.
            lines.append((y, 0.5 * char.size, [char]))
        else:
            line.append(char)
    lines.sort(key=lambda line: -line[0])
    return [TextLine(tuple(sorted(line, key=lambda c: c.left))) for _, _, line in lines]


def text_of(chars: Sequence[Char]) -> str:
    """Return characters of one line as text."""
    out = ""
    power = False
    for i, char in enumerate(chars):
        before = chars[i - 1] if i else char
        code = ord(char.text) if len(char.text) == 1 else 0
        may_be_power = i and code in POWERS and (power or out.endswith(("10", "m")))
        power = bool(may_be_power and (power or is_raised(before[2:], char[2:])))
        if i and not power and _is_apart(before, char):
            out += " "
        out += chr(POWERS[code]) if power else char.text
    out = _GAP.sub("", out.strip())
    return out.replace(" ", "") if _SPREAD.fullmatch(out) else out


def _is_apart(before: Char, char: Char) -> bool:
    """Return whether a blank stands between two characters of a line."""
    is_far = char.left - before.right > _WORD_GAP * min(char.size, before.size)
    is_said = char.position > before.position + 1 and char.left > before.right + 0.5
    return is_far or is_said


def is_raised(before: Box, box: Box) -> bool:
    """Return whether a character is smaller and higher than the one before it."""
    size = before[3] - before[1]
    return box[3] - box[1] < _SMALLER * size and box[1] > before[1] + _HIGHER * size


def is_figure(text: str) -> bool:
    """Return whether a cell is a figure, or a mark for none.

    >>> [is_figure(t) for t in ("1,234.5", "-0.3%", "约20万吨", "—", "2025年", "指标")]
    [True, True, True, True, True, False]
    """
    return _FIGURE.fullmatch(text.strip()) is not None
