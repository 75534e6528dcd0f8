"""Characters put together into the lines of a cell."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgrag.ingestion.load.page_tables.shapes import Char

_CJK = "\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
# A typesetter's gap between Chinese and digits or letters is no blank.
_GAP = re.compile(rf"(?<=[{_CJK}]) +(?=[0-9A-Za-z%])|(?<=[0-9A-Za-z%]) +(?=[{_CJK}])")
# A short word that is spread over a cell: 合 计.
_SPREAD = re.compile(rf"[{_CJK}](?: +[{_CJK}]){{1,3}}")
# Figures, with signs and units: 1,234.5 -0.3% 约20万吨 — … 12:30 2025/6
FIGURE = re.compile(
    r"[<>≤≥＜＞≈~±+＋\-−–—约]*[\d０-９][\d０-９,，.．:/~～\-−–—%％‰±×*\s]*"
    r"(?:[（(][^（）()]{1,6}[）)])?[%％‰a-zA-Z\u4e00-\u9fff²³]{0,4}"
    r"|[-−–—…/／—]{1,3}|[NnＮ]/?[AaＡ]"
)
# Blanks wider than this share of a character's height part words.
_WORD_GAP = 0.2
# Figures and minus signs by code point, and what they are as powers.
POWERS = {ord(a): ord(b) for a, b in zip("0123456789-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁻", strict=True)}
# How much smaller a power is than what it stands on, and how much higher its foot.
_SMALLER, _HIGHER = 0.85, 0.2

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class TextLine:
    """Characters on one height, from left to right."""

    chars: tuple[Char, ...]

    @property
    def left(self) -> float:
        """Return where it begins."""
        return self.chars[0].left

    @property
    def right(self) -> float:
        """Return where it ends."""
        return max(c.right for c in self.chars)

    @property
    def y(self) -> float:
        """Return the height of its tallest character's middle."""
        return max(self.chars, key=lambda c: c.size).y

    @property
    def size(self) -> float:
        """Return its tallest character's height."""
        return max(c.size for c in self.chars)

    @property
    def text(self) -> str:
        """Return the characters, with blanks where they stand apart."""
        return text_of(self.chars)


def text_lines(chars: Iterable[Char]) -> list[TextLine]:
    """Return the lines that characters form, from the top; a raised figure stays in its line."""
    lines: list[list[Char]] = []
    heights: list[float] = []
    for char in sorted(chars, key=lambda c: (-c.size, -c.y)):
        for i, line in enumerate(lines):
            # Half a character up or down is still the same line; two lines are farther apart.
            if abs(heights[i] - char.y) < 0.5 * line[0].size:
                line.append(char)
                break
        else:
            lines.append([char])
            heights.append(char.y)
    order = sorted(range(len(lines)), key=lambda i: -heights[i])
    return [TextLine(tuple(sorted(lines[i], key=lambda c: c.left))) for i in order]


def text_of(chars: Sequence[Char]) -> str:
    """Return characters of one line as text."""
    out = ""
    power = False
    for i, char in enumerate(chars):
        before = chars[i - 1] if i else char
        code = ord(char.text) if len(char.text) == 1 else 0
        if i and code in POWERS and (power or out.endswith(("10", "m"))):
            power = power or is_raised(
                (before.left, before.bottom, before.right, before.top),
                (char.left, char.bottom, char.right, char.top),
            )
        else:
            power = False
        if i and not power:
            apart = char.left - before.right > _WORD_GAP * min(char.size, before.size)
            said = char.index > before.index + 1 and char.left > before.right + 0.5
            if apart or said:
                out += " "
        out += chr(POWERS[code]) if power else char.text
    out = _GAP.sub("", out.strip())
    return out.replace(" ", "") if _SPREAD.fullmatch(out) else out


def is_raised(before: Box, box: Box) -> bool:
    """Say whether a character is smaller than the one before it, and stands higher.

    Args:
        before: Left, bottom, right and top, in points.
        box: Of the character.
    """
    size = before[3] - before[1]
    return box[3] - box[1] < _SMALLER * size and box[1] > before[1] + _HIGHER * size


def is_figure(text: str) -> bool:
    """Say whether a cell holds a figure, or a mark that there is none.

    >>> [is_figure(t) for t in ("1,234.5", "-0.3%", "约20万吨", "—", "2025年", "指标")]
    [True, True, True, True, True, False]
    """
    return FIGURE.fullmatch(text.strip()) is not None
