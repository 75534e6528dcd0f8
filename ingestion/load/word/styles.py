"""Styles and lists of a Word file: heading levels, and the numbers of automatic lists."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgrag.ingestion.load.word.package import OFF, W, property_value
from kgrag.text.numerals import HAN_DIGITS, chinese_number, roman_number

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

# Word keeps the name in English whatever language it shows; other programs and users do not.
_NAME = re.compile(
    r"(?:heading|标题|標題|見出し|제목|überschrift|titre|título|titolo|заголовок)\s*([1-9])",
    re.IGNORECASE,
)
_BODY = 10  # what outlineLvl 9, "body text", comes to
_STEMS, _BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
_N_LEVELS = 9


def circled(n: int) -> str | None:
    """Return ① to ⑳; None for other numbers."""
    return chr(0x2460 + n - 1) if 0 < n <= 20 else None


def _letters(n: int) -> str:
    # Word goes on with aa, bb, not with aa, ab.
    return chr(ord("a") + (n - 1) % 26) * ((n - 1) // 26 + 1) if n > 0 else str(n)


_FORMATS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": lambda n: f"{n:02d}",
    **dict.fromkeys(
        ("decimalFullWidth", "decimalFullWidth2"), lambda n: str(n).translate(_FULL_WIDTH)
    ),
    **dict.fromkeys(
        ("decimalEnclosedCircle", "decimalEnclosedCircleChinese"), lambda n: circled(n) or str(n)
    ),
    **dict.fromkeys(
        (
            *("chineseCounting", "chineseCountingThousand", "taiwaneseCounting"),
            *("taiwaneseCountingThousand", "japaneseCounting", "japaneseDigitalTenThousand"),
        ),
        chinese_number,
    ),
    "ideographDigital": lambda n: "".join("〇" if d == "0" else HAN_DIGITS[int(d)] for d in str(n)),
    "ideographTraditional": lambda n: _STEMS[(n - 1) % 10],
    "ideographZodiac": lambda n: _BRANCHES[(n - 1) % 12],
    "upperLetter": lambda n: _letters(n).upper(),
    "lowerLetter": _letters,
    "upperRoman": lambda n: roman_number(n).upper(),
    "lowerRoman": roman_number,
}


@dataclass(frozen=True, slots=True)
class WordStyles:
    """The paragraph styles of a file.

    Attributes:
        levels: Heading level from 1 to 9 by style id; other styles are left out.
        contents: Ids of the styles of a generated table of contents.
        scripts: `raised` or `lowered` by id of a style that raises or lowers text.
        known: Ids of all styles.
        hidden: Ids of those that hide their text.
    """

    levels: Mapping[str, int]
    contents: frozenset[str]
    scripts: Mapping[str, str]
    known: frozenset[str]
    hidden: frozenset[str] = frozenset()

    def level(self, paragraph: "Element") -> int:
        """Return a paragraph's heading level, from 1 to 9, or 0 for other text."""
        if own := _outline(paragraph):
            return own % _BODY
        style = style_of(paragraph) or ""
        if style in self.known:
            return self.levels.get(style, 0)
        named = _NAME.fullmatch(style)  # a file without styles.xml
        return int(named[1]) if named else 0


def style_of(paragraph: "Element") -> str | None:
    """Return the style id that a paragraph names, if any."""
    return property_value(paragraph, "pPr/pStyle")


def read_styles(root: "Element | None") -> WordStyles:
    """Return the styles of styles.xml; a style inherits from the one that it is based on.

    Args:
        root: `w:styles`, or None where the file has none.
    """
    styles = _by_id(root)
    levels = {key: level for key in styles if (level := _inherited(styles, key))}
    contents = {key for key, style in styles.items() if _name(style).lower().startswith("toc ")}
    scripts = {key: script for key, style in styles.items() if (script := script_of(style))}
    hidden = frozenset(key for key in styles if _hides(styles, key))
    return WordStyles(levels, frozenset(contents), scripts, frozenset(styles), hidden)


def _hides(styles: "Mapping[str, Element]", key: str) -> bool:
    told = (property_value(style, "rPr/vanish", "1") for _, style in _with_bases(styles, key))
    return next(filter(None, told), "0") not in OFF


def script_of(element: "Element") -> str:
    """Return `raised` or `lowered` if a run's or style's own properties say so, else ""."""
    align = property_value(element, "rPr/vertAlign") or ""
    return {"superscript": "raised", "subscript": "lowered"}.get(align, "")


def _by_id(root: "Element | None") -> "dict[str, Element]":
    return {} if root is None else {s.get(W + "styleId", ""): s for s in root.findall(W + "style")}


def _with_bases(styles: "Mapping[str, Element]", key: str) -> "Iterator[tuple[str, Element]]":
    """Yield a style and those that it is based on, with their ids."""
    seen = set[str]()
    while key in styles and key not in seen:
        seen.add(key)
        yield key, styles[key]
        key = property_value(styles[key], "basedOn") or ""


def _inherited(styles: "Mapping[str, Element]", key: str) -> int:
    for _, style in _with_bases(styles, key):
        if level := _outline(style):
            return level % _BODY
        if named := _NAME.fullmatch(_name(style)):
            return int(named[1])
    return 0


def _outline(element: "Element") -> int:
    """Return the outline level that an element states, from 1; 10 for body text, 0 for none."""
    level = property_value(element, "pPr/outlineLvl") or ""
    return int(level) + 1 if re.fullmatch(r"\d", level) else 0


def _name(style: "Element") -> str:
    return (property_value(style, "name") or "").strip()


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
        lists: (definition, its levels) by numId; lists of one definition continue each other's
            count, except where a list restarts.
        restarts: By numId the levels that restart, each once.
        styles: (numId, level) of paragraphs by style id.
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
        style_id, style_level = self.styles.get(style or "", (None, 0))
        num_id = style_id if num_id is None else num_id
        level = style_level if level is None else level
        if num_id is None or num_id not in self.lists or not 0 <= level < _N_LEVELS:
            return ""
        definition, levels = self.lists[num_id]
        counts = self._counts.setdefault(definition, [None] * _N_LEVELS)
        shape, current = levels.get(level, Level()), counts[level]
        following = shape.start if current is None else current + 1
        counts[level] = self.restarts.get(num_id, {}).pop(level, following)
        counts[level + 1 :] = [None] * (_N_LEVELS - level - 1)
        if shape.number_format in ("bullet", "none"):
            return ""
        out = shape.text
        for i, count in enumerate(counts):
            if f"%{i + 1}" in out:
                outer = levels.get(i, Level())
                n = outer.start if count is None else count
                out = out.replace(f"%{i + 1}", self._number(n, outer, shape.legal))
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
    abstracts = {a.get(W + "abstractNumId", ""): a for a in root.findall(W + "abstractNum")}
    lists: dict[str, tuple[str, dict[int, Level]]] = {}
    restarts: dict[str, dict[int, int]] = {}
    by_style: dict[tuple[str, str], int] = {}
    for num in root.findall(W + "num"):
        num_id = num.get(W + "numId", "")
        abstract_id = property_value(num, "abstractNumId") or ""
        if num_id == "0" or abstract_id not in abstracts:
            continue
        levels = {}
        for lvl in abstracts[abstract_id].findall(W + "lvl"):
            i = _integer(lvl.get(W + "ilvl"), 0)
            levels[i] = _level(lvl)
            by_style[num_id, property_value(lvl, "pStyle") or ""] = i
        restarts[num_id] = _overrides(num, levels)
        lists[num_id] = (abstract_id, levels)
    return Numbering(lists, restarts, _style_numbers(_by_id(styles), by_style))


def _overrides(num: "Element", levels: dict[int, Level]) -> dict[int, int]:
    """Apply a list's own levels in place and return where each overridden level restarts."""
    restarts = {}
    for override in num.findall(W + "lvlOverride"):
        i = _integer(override.get(W + "ilvl"), 0)
        own = override.find(W + "lvl")
        if own is not None:
            levels[i] = _level(own)
        start = property_value(override, "startOverride")
        if start is not None:
            restarts[i] = _integer(start, 1)
    return restarts


def _level(lvl: "Element") -> Level:
    return Level(
        start=_integer(property_value(lvl, "start"), 1),
        number_format=property_value(lvl, "numFmt") or "decimal",
        text=property_value(lvl, "lvlText") or "",
        legal=lvl.find(W + "isLgl") is not None,
    )


def _style_numbers(
    styles: "Mapping[str, Element]", by_style: Mapping[tuple[str, str], int]
) -> dict[str, tuple[str, int]]:
    """Return the list and level of every style, inherited from the style it is based on."""
    found = {}
    for style_id in styles:
        for base_id, style in _with_bases(styles, style_id):
            num_id, level = paragraph_number(style)
            if num_id is not None:
                if level is None:
                    level = by_style.get((num_id, style_id), by_style.get((num_id, base_id), 0))
                found[style_id] = (num_id, level)
                break
    return found


def paragraph_number(element: "Element") -> tuple[str | None, int | None]:
    """Return (numId, level) that a paragraph or style states itself; None for what it does not."""
    level = property_value(element, "pPr/numPr/ilvl")
    return property_value(element, "pPr/numPr/numId"), None if level is None else _integer(level, 0)


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() else default
