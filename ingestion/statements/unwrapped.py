"""Put the lines of a text together that a page's width broke, and remember where they stood."""

import functools
import re
from array import array
from dataclasses import dataclass

from kgrag.text.numbering import item_end
from kgrag.text.quantities import narrow

_PAGE_MARK = re.compile(r"[—–\-]{1,3}\s{0,3}\d{1,4}\s{0,3}[—–\-]{1,3}")
_PAGE_LINE = re.compile(r"[—–\-\s]*+\d{0,4}+[—–\-\s]*+|第\s*+\d++\s*+页.{0,12}")
_BLANKS = re.compile(r"[\s\ufeff\u200b]+")
_COMPLETE = frozenset("。！？；：!?;:」』…|")
_CLOSING = frozenset("）)〕】]］〗")
_OPENING = frozenset("（(〔【[［〖")
_LONGEST_MARK = 40  # characters of a line that is a page mark
_REACH = 200  # characters at a line's end that tell whether its sentence goes on
_WRAPPED = 18  # characters; a shorter line was not broken by the width of a page, ...
_SHARE = 0.7  # ... nor one that is much shorter than most lines of the text
_HELD = 8  # lines that an open bracket may hold together
_UNFINISHED = re.compile(r"[，、][^。；;，、]*+$")  # a heading has no comma
_LABEL = re.compile(r"[^，。；：:\s]{0,6}(?:单位|部门|主体|时限|期限|时间)[：:]")
_IN_HEADING = re.compile(r"[^，。；、]*+$")  # a heading has none of these marks


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A text without blanks, page marks and the line breaks within its sentences.

    Attributes:
        text: What is left, one paragraph a line; full width is narrowed where a rule compares.
        narrowed: The same with full-width letters, digits and signs narrowed.
        offsets: For every character of it the offset in the text that it was made from.
    """

    text: str
    narrowed: str
    offsets: array  # type: ignore[type-arg]  # of unsigned numbers

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where characters from `start` to before `end` (at least one) came from."""
        return self.offsets[start], self.offsets[end - 1] + 1


@functools.lru_cache(maxsize=2)  # all rules read one document after another
def unwrapped(text: str) -> Unwrapped:
    r"""Return the paragraphs of a text, each on one line.

    A line goes on in the next where a bracket is open, or where it is long, no mark ends it and
    the next does not begin with a marker of the nesting. Rows of tables keep their blanks out,
    and their lines.

    >>> unwrapped("（市工信局、\n—7—\n市财政局）\n一、目标").text
    '（市工信局、市财政局）\n一、目标'
    """
    kept: list[str] = []
    offsets = array("Q")
    open_lines = 0  # lines that the open bracket holds already
    at = 0
    previous = ""
    lines = text.splitlines(keepends=True)
    width = _width(lines)
    for line in lines:
        pieces = _pieces(line)
        body = "".join(piece for _, piece in pieces)
        if body:
            if previous and not _goes_on(previous, body, open_lines, width):
                kept.append("\n")
                offsets.append(offsets[-1])
                open_lines = 0
            for start, piece in pieces:
                kept.append(piece)
                offsets.extend(range(at + start, at + start + len(piece)))
            open_lines = open_lines + 1 if _is_open(body, open_lines) else 0
            previous = body
        at += len(line)
    joined = "".join(kept)
    return Unwrapped(joined, narrow(joined), offsets)


def _pieces(line: str) -> list[tuple[int, str]]:
    """Return the (offset, text) of what is kept of a line."""
    if len(line) <= _LONGEST_MARK and _PAGE_LINE.fullmatch(line.strip()):
        return []
    pieces, at = [], 0
    for gap in (*_gaps(line), (len(line), len(line))):
        if gap[0] > at:
            pieces.append((at, line[at : gap[0]]))
        at = max(at, gap[1])
    return pieces


def _gaps(line: str) -> list[tuple[int, int]]:
    gaps = [m.span() for m in _BLANKS.finditer(line)]
    if "—" in line or "–" in line or "-" in line:
        gaps += [m.span() for m in _PAGE_MARK.finditer(line)]
    return sorted(gaps)


def _width(lines: list[str]) -> float:
    """Return the least length of a line that was broken: nine in ten are not much longer."""
    lengths = sorted(len(line) for line in lines if not line.isspace())
    return max(_WRAPPED, _SHARE * lengths[len(lengths) * 9 // 10]) if lengths else _WRAPPED


def _goes_on(previous: str, body: str, open_lines: int, width: float) -> bool:
    if "|" in previous or "|" in body:
        return False
    if 0 < open_lines <= _HELD:
        return True
    if len(previous) < _WRAPPED or previous[-1] in _COMPLETE or previous[-1] in _CLOSING:
        return False
    if _begins(previous) and _IN_HEADING.match(previous, item_end(previous)):
        return False
    if len(previous) < width and not _UNFINISHED.search(previous[-_REACH:]):
        return False
    return not _begins(body)


def _begins(line: str) -> bool:
    """Return whether a line begins an item, a heading, or what a label says."""
    return item_end(line) > 0 or _LABEL.match(line) is not None


def _is_open(body: str, open_lines: int) -> bool:
    """Return whether a bracket is open at the end of a line."""
    depth = 1 if open_lines else 0
    for c in body:
        if c in _OPENING:
            depth += 1
        elif c in _CLOSING and depth:
            depth -= 1
    return depth > 0
