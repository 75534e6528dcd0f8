"""The result of a format's reader, and steps that readers share."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import NamedTuple

from kgrag.text.messages import message
from kgrag.text.table_rows import CELL_MARK
from kgrag.types import Segment, SegmentKind

_LINE = re.compile(r"[^\r\n]+|\r\n|\r|\n")
# 云政发〔2022〕3号, also where only a header has it.
DOCUMENT_NUMBER = re.compile(r"[^，。《》：:\[\]【】]{2,24}[〔\[（(]\d{4}[〕\]）)]第?\d{1,5}号")
# Marks that are not seen: soft hyphens, zero width, and which way text runs.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
# Two bytes of a mark of GBK that were read as one code of UTF-16: U+A3AC for ，. Texts in Yi, which
# these codes belong to, have them side by side.
_AS_WIDE = re.compile(r"[\ua1a1-\ua1fe\ua3a1-\ua3fe](?<![\ua000-\ua4cf].)(?![\ua000-\ua4cf])")
_UNUSABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document's text before it has an id.

    Attributes:
        text: The whole text.
        title: That of the format or the text.
        segments: Pages, paragraphs or lines in text order.
        warnings: What was guessed or left out.
        properties: Further metadata by name.
    """

    text: str
    title: str
    segments: tuple[Segment, ...] = ()
    warnings: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)


class Block(NamedTuple):
    """A line of text and its heading level; 0 for other text."""

    text: str
    level: int = 0


def visible(text: str) -> str:
    r"""Return text without characters that nobody sees, which would part words.

    >>> visible("节\u200b能\u202e办\u00ad法")
    '节能办法'
    """
    return _INVISIBLE.sub("", text)


def replace_unusable(text: str) -> tuple[str, list[str]]:
    r"""Return text with NUL characters and lone surrogates as U+FFFD, and a warning if any were.

    Offsets do not change; no store could hold the originals. Marks of GBK that were read as UTF-16
    are those that were meant.

    >>> replace_unusable("a\x00b")
    ('a�b', ['unusable characters (NUL or lone surrogate) replaced by U+FFFD: 1'])
    """
    clean, n = _UNUSABLE.subn("\ufffd", _AS_WIDE.sub(_of_gbk, text))
    if not n:
        return clean, []
    said = message("unusable characters (NUL or lone surrogate) replaced by U+FFFD: {n}", n=n)
    return clean, [said]


def _of_gbk(match: re.Match[str]) -> str:
    mark = match[0].encode("utf-16-be").decode("gbk", "ignore")
    return mark if len(mark) == 1 else match[0]


def numbered_lines(text: str) -> Iterator[tuple[int, int, int]]:
    r"""Yield (number from 1, start, end) of every line that is not blank, without its break.

    Only CR, LF and CRLF break lines, as in editors.

    >>> list(numbered_lines("a\r\n\nb"))
    [(1, 0, 1), (3, 4, 5)]
    """
    number = 1
    for match in _LINE.finditer(text):
        if match[0][0] in "\r\n":
            number += 1
        elif match[0].strip():
            yield number, match.start(), match.end()


def line_segments(text: str) -> tuple[Segment, ...]:
    """Return a segment for every line that is not blank."""
    return tuple(Segment(a, b, "line", n) for n, a, b in numbered_lines(text))


def join_blocks(
    blocks: Iterable[str], kind: SegmentKind, levels: Iterable[int] = ()
) -> tuple[str, tuple[Segment, ...]]:
    r"""Return the blocks that are not blank on lines of their own, and a segment for each.

    Args:
        blocks: In order.
        kind: What the segments are.
        levels: The heading level of each block, as the format states it; 0 is none.

    >>> join_blocks(["甲", " ", "乙"], "paragraph")[0]
    '甲\n乙'
    """
    parts: list[str] = []
    segments: list[Segment] = []
    start = 0
    for block, level in zip(blocks, chain(levels, repeat(0)), strict=False):
        part = block.strip()
        if part:
            segments.append(Segment(start, start + len(part), kind, len(parts) + 1, level))
            parts.append(part)
            start += len(part) + 1
    return "\n".join(parts), tuple(segments)


def join_cells(cells: Iterable[str]) -> str:
    """Return a table row as one line, empty cells included; "" if all are empty.

    >>> join_cells(["指标", "", "2025年"])
    '指标 |  | 2025年'
    """
    row = [" ".join(cell.split()) for cell in cells]
    return CELL_MARK.join(row).strip() if any(row) else ""
