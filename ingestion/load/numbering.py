"""The numbers of Word's automatic lists: they stand in numbering.xml, not in the text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgrag.text.numerals import HAN_DIGITS, chinese_number, roman_number

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STEMS, _BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_N_LEVELS = 9


def _letters(n: int) -> str:
    # Word goes on with aa, bb, not with aa, ab.
    return chr(ord("a") + (n - 1) % 26) * ((n - 1) // 26 + 1) if n > 0 else str(n)


def _circled(n: int) -> str:
    return chr(0x2460 + n - 1) if 0 < n <= 20 else str(n)


def _full_width(n: int) -> str:
    return str(n).translate({ord("0") + i: 0xFF10 + i for i in range(10)})


_FORMATS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": lambda n: f"{n:02d}",
    "decimalFullWidth": _full_width,
    "decimalFullWidth2": _full_width,
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "chineseCounting": chinese_number,
    "chineseCountingThousand": chinese_number,
    "taiwaneseCounting": chinese_number,
    "taiwaneseCountingThousand": chinese_number,
    "japaneseCounting": chinese_number,
    "ideographDigital": lambda n: "".join("〇" if d == "0" else HAN_DIGITS[int(d)] for d in str(n)),
    "japaneseDigitalTenThousand": chinese_number,
    "ideographTraditional": lambda n: _STEMS[(n - 1) % 10],
    "ideographZodiac": lambda n: _BRANCHES[(n - 1) % 12],
    "upperLetter": lambda n: _letters(n).upper(),
    "lowerLetter": _letters,
    "upperRoman": lambda n: roman_number(n).upper(),
    "lowerRoman": roman_number,
}


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list is written.

    Attributes:
        start: The first number.
        number_format: Word's name, e.g. `decimal`, `chineseCounting`, `bullet`.
        text: The pattern, e.g. `%1、` or `（%2）`.
        legal: Whether the numbers of outer levels are written in digits.
    """

    start: int = 1
    number_format: str = "decimal"
    text: str = ""
    legal: bool = False


@dataclass(slots=True)
class Numbering:
    """The lists of one Word file and how far each has counted.

    Attributes:
        lists: numId to (the definition counted with, its levels); lists of one definition count
            on, except from where a list restarts.
        restarts: numId to the levels that begin anew, each once.
        styles: Style id to the (numId, level) that its paragraphs have.
        unknown: Number formats met that are written as digits for want of a rule.
    """

    lists: Mapping[str, tuple[str, Mapping[int, Level]]]
    restarts: dict[str, dict[int, int]]
    styles: Mapping[str, tuple[str, int]]
    unknown: set[str] = field(default_factory=set)
    _counts: dict[str, list[int | None]] = field(default_factory=dict)

    def label(self, num_id: str | None, level: int | None, style: str | None) -> str:
        """Count one paragraph and return its number as shown, empty for none or a bullet.

        Args:
            num_id: The paragraph's own numId, if it has one; "0" takes the style's number away.
            level: Its own level, from 0.
            style: Its style's id.
        """
        by_style = self.styles.get(style or "")
        num_id = num_id if num_id is not None else (by_style[0] if by_style else None)
        level = level if level is not None else (by_style[1] if by_style else 0)
        if num_id is None or num_id not in self.lists or not 0 <= level < _N_LEVELS:
            return ""
        definition, levels = self.lists[num_id]
        self._count(num_id, definition, levels, level)
        return self._written(definition, levels, level)

    def _count(self, num_id: str, definition: str, levels: Mapping[int, Level], level: int) -> None:
        counts = self._counts.setdefault(definition, [None] * _N_LEVELS)
        restart = self.restarts.get(num_id, {}).pop(level, None)
        start = levels.get(level, Level()).start
        current = counts[level]
        if restart is not None:
            counts[level] = restart
        else:
            counts[level] = start if current is None else current + 1
        counts[level + 1 :] = [None] * (_N_LEVELS - level - 1)

    def _written(self, definition: str, levels: Mapping[int, Level], level: int) -> str:
        shape = levels.get(level, Level())
        if shape.number_format in ("bullet", "none"):
            return ""
        counts = self._counts[definition]
        out = shape.text
        for i in range(_N_LEVELS):
            place = f"%{i + 1}"
            if place in out:
                inner = levels.get(i, Level())
                count = counts[i]
                number = inner.start if count is None else count
                out = out.replace(place, self._number(number, inner, shape.legal))
        return out

    def _number(self, n: int, level: Level, legal: bool) -> str:
        if level.number_format not in _FORMATS:
            self.unknown.add(level.number_format)
        write = str if legal else _FORMATS.get(level.number_format, str)
        return write(n)


def read_numbering(root: "Element | None", styles: "Element | None") -> Numbering:
    """Return the lists that a Word file defines; without any, every label is empty.

    Args:
        root: `w:numbering`, or None where the file has none.
        styles: `w:styles`, likewise.
    """
    if root is None:
        return Numbering({}, {}, {})
    abstracts = {a.get(_W + "abstractNumId", ""): a for a in root.findall(_W + "abstractNum")}
    lists: dict[str, tuple[str, dict[int, Level]]] = {}
    restarts: dict[str, dict[int, int]] = {}
    by_style: dict[tuple[str, str], int] = {}
    for num in root.findall(_W + "num"):
        num_id = num.get(_W + "numId", "")
        abstract_id = _value(num, "abstractNumId") or ""
        if num_id == "0" or abstract_id not in abstracts:
            continue
        levels = {}
        for lvl in abstracts[abstract_id].findall(_W + "lvl"):
            i = _integer(lvl.get(_W + "ilvl"), 0)
            levels[i] = _level(lvl)
            by_style[num_id, _value(lvl, "pStyle") or ""] = i
        restarts[num_id] = _overrides(num, levels)
        lists[num_id] = (abstract_id, levels)
    return Numbering(lists, restarts, _style_numbers(styles, by_style))


def _overrides(num: "Element", levels: dict[int, Level]) -> dict[int, int]:
    """Apply a list's own levels in place and return where each overridden level restarts."""
    restarts = {}
    for override in num.findall(_W + "lvlOverride"):
        i = _integer(override.get(_W + "ilvl"), 0)
        own = override.find(_W + "lvl")
        if own is not None:
            levels[i] = _level(own)
        start = _value(override, "startOverride")
        if start is not None:
            restarts[i] = _integer(start, 1)
    return restarts


def _level(lvl: "Element") -> Level:
    return Level(
        start=_integer(_value(lvl, "start"), 1),
        number_format=_value(lvl, "numFmt") or "decimal",
        text=_value(lvl, "lvlText") or "",
        legal=lvl.find(_W + "isLgl") is not None,
    )


def _style_numbers(
    root: "Element | None", by_style: Mapping[tuple[str, str], int]
) -> dict[str, tuple[str, int]]:
    """Return the list and level of every style, inherited from the style it is based on."""
    if root is None:
        return {}
    styles = {s.get(_W + "styleId", ""): s for s in root.findall(_W + "style")}
    found = {}
    for style_id in styles:
        at, seen = style_id, set[str]()
        while at in styles and at not in seen:
            seen.add(at)
            num_id, level = paragraph_number(styles[at])
            if num_id is not None:
                if level is None:
                    level = by_style.get((num_id, style_id), by_style.get((num_id, at), 0))
                found[style_id] = (num_id, level)
                break
            at = _value(styles[at], "basedOn") or ""
    return found


def paragraph_number(element: "Element") -> tuple[str | None, int | None]:
    """Return (numId, level) that a paragraph or style states itself; None for what it does not."""
    properties = element.find(f"{_W}pPr/{_W}numPr")
    if properties is None:
        return None, None
    level = _value(properties, "ilvl")
    return _value(properties, "numId"), None if level is None else _integer(level, 0)


def _value(element: "Element", tag: str) -> str | None:
    child = element.find(_W + tag)
    return None if child is None else child.get(_W + "val")


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() else default
