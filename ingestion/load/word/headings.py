"""Which paragraphs of a Word file are headings, and of which level: styles and outline levels."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgrag.ingestion.load.word.package import W

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

# Word keeps the name in English whatever language it shows; other programs and users do not.
_NAME = re.compile(
    r"(?:heading|标题|標題|見出し|제목|überschrift|titre|título|titolo|заголовок)\s*([1-9])",
    re.IGNORECASE,
)
_BODY = 10  # what outlineLvl 9, "body text", comes to


@dataclass(frozen=True, slots=True)
class WordStyles:
    """The paragraph styles of a file.

    Attributes:
        levels: Style id to its heading level from 1 to 9; styles of other text are left out.
        contents: Ids of the styles of a generated table of contents.
        scripts: Ids of the styles that raise or lower text, with `raised` or `lowered`.
        known: Ids of all styles.
    """

    levels: Mapping[str, int]
    contents: frozenset[str]
    scripts: Mapping[str, str]
    known: frozenset[str]

    def level(self, paragraph: "Element") -> int:
        """Return a paragraph's heading level, from 1 to 9, or 0 for other text."""
        own = _outline(paragraph)
        if own:
            return own % _BODY
        style = style_of(paragraph) or ""
        if style in self.known:
            return self.levels.get(style, 0)
        named = _NAME.fullmatch(style)  # a file without styles.xml
        return int(named[1]) if named else 0


def style_of(paragraph: "Element") -> str | None:
    """Return the style id that a paragraph names; None if it names none."""
    style = paragraph.find(f"{W}pPr/{W}pStyle")
    return None if style is None else style.get(W + "val")


def read_styles(root: "Element | None") -> WordStyles:
    """Return what styles.xml says; a style inherits from the styles that it is based on.

    Args:
        root: `w:styles`, or None where the file has none.
    """
    styles = (
        {} if root is None else {s.get(W + "styleId", ""): s for s in root.findall(W + "style")}
    )
    levels = {key: level for key in styles if (level := _inherited(styles, key))}
    contents = {key for key, style in styles.items() if _name(style).lower().startswith("toc ")}
    scripts = {key: script for key, style in styles.items() if (script := script_of(style))}
    return WordStyles(levels, frozenset(contents), scripts, frozenset(styles))


def script_of(element: "Element") -> str:
    """Return `raised` or `lowered` if a run's or style's own properties say so, else nothing."""
    align = element.find(f"{W}rPr/{W}vertAlign")
    value = None if align is None else align.get(W + "val")
    return {"superscript": "raised", "subscript": "lowered"}.get(value or "", "")


def _inherited(styles: "Mapping[str, Element]", key: str) -> int:
    seen = set[str]()
    while key in styles and key not in seen:
        seen.add(key)
        level = _outline(styles[key])
        if level:
            return level % _BODY
        named = _NAME.fullmatch(_name(styles[key]))
        if named:
            return int(named[1])
        base = styles[key].find(W + "basedOn")
        key = "" if base is None else base.get(W + "val", "")
    return 0


def _outline(element: "Element") -> int:
    """Return the outline level that an element states, from 1; 10 for body text, 0 for none."""
    outline = element.find(f"{W}pPr/{W}outlineLvl")
    value = "" if outline is None else outline.get(W + "val", "")
    return int(value) + 1 if re.fullmatch(r"\d", value) else 0


def _name(style: "Element") -> str:
    name = style.find(W + "name")
    return "" if name is None else name.get(W + "val", "").strip()
