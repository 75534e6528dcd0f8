"""Find where a quote that a model gave stands in the text that it was given."""

import bisect
import functools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Match = Literal["exact", "normalised", "near"]

_MARK = re.compile(r"⟦\d+⟧")  # of a part, as `kgrag.ingestion.summarize` writes them
_ELLIPSIS = re.compile(r"…+|\.{3,}|⋯+|。{3,}")
_QUOTATION = frozenset("\"'`“”‘’„‟‚‛「」『』〝〞")
_ALIKE = {**dict.fromkeys("–—―−‐‑-", "-"), **dict.fromkeys("~～〜∼", "~"), "⟦": "[", "⟧": "]"}
_ALIKE |= {"【": "[", "】": "]", "·": "•", "・": "•", "．": "."}
# A quote may be changed in one character of ten, and in six at most ...
_EQUAL = 10
_MOST_CHANGES = 6
_LONGEST = 600  # characters of a quote that is compared character by character
_LEAST_PIECE = 4  # characters of each piece of a shortened quote
_LONGEST_GAP = 400  # characters that an ellipsis stands for
# ... but never in these: they turn a statement into another one.
_TELLING = re.compile(r"\d|[不未无非禁勿]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands: `text[start:end]`.

    Attributes:
        start: First character offset.
        end: Offset after the last character.
        match: `exact`; `normalised`: width, case, blanks and quotation marks aside; `near`:
            shortened, or changed in few characters.
    """

    start: int
    end: int
    match: Match


@dataclass(frozen=True, slots=True)
class _Normal:
    """A text without width, case, blanks and quotation marks, and where its characters stood."""

    text: str
    offsets: tuple[int, ...]

    def place(self, start: int, end: int, match: Match) -> Place:
        return Place(self.offsets[start], self.offsets[end - 1] + 1, match)


def locate(quote: str, text: str, *, after: int = 0) -> Place | None:
    """Return where a quote stands in a text; None where it does not.

    Tried in this order: as it is; normalised; without what an ellipsis (…) left out; with at
    most one character in ten changed, digits and words of negation excepted. A shorter quote
    than four characters is found as it is, or normalised.

    Args:
        quote: As a model gave it.
        text: The text as it is in the document.
        after: Where it is expected: the first of several places from here on is taken, else the
            last before.
    """
    return _locate(quote, text, _normal(text), after)


def locate_all(quotes: Sequence[str], text: str) -> list[Place | None]:
    """Return where each quote stands; quotes are expected in the text's order."""
    normal, after = _normal(text), 0
    places = []
    for quote in quotes:
        place = _locate(quote, text, normal, after)
        after = place.start if place else after
        places.append(place)
    return places


def _locate(quote: str, text: str, normal: _Normal, after: int) -> Place | None:
    quote = _MARK.sub("", quote).strip()
    if not any(map(str.isalnum, quote)):
        return None
    start = _find(quote, text, after)
    if start >= 0:
        return Place(start, start + len(quote), "exact")
    bare = _normal(quote).text
    expected = bisect.bisect_left(normal.offsets, after)
    start = _find(bare, normal.text, expected)
    if start >= 0:
        return normal.place(start, start + len(bare), "normalised")
    span = _shortened(quote, normal.text, expected) or _changed(bare, normal.text)
    return normal.place(*span, "near") if span else None


@functools.lru_cache(maxsize=1 << 14)
def _fold(character: str) -> str:
    """Return what counts of a character: nothing of blanks and quotation marks."""
    folded = unicodedata.normalize("NFKD", character).casefold()
    return "".join(
        _ALIKE.get(c, c)
        for c in folded
        if c not in _QUOTATION and not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf")
    )


def _normal(text: str) -> _Normal:
    parts, offsets = [], []
    for offset, character in enumerate(text):
        folded = _fold(character)
        parts.append(folded)
        offsets.extend([offset] * len(folded))
    return _Normal("".join(parts), tuple(offsets))


def _find(piece: str, text: str, after: int) -> int:
    start = text.find(piece, after)
    return start if start >= 0 else text.rfind(piece, 0, after + len(piece))


def _shortened(quote: str, text: str, after: int) -> tuple[int, int] | None:
    """Return the span of a quote whose pieces around … stand one after the other."""
    pieces = [_normal(piece).text for piece in _ELLIPSIS.split(quote)]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) < 2 and not _ELLIPSIS.search(quote):
        return None
    if not pieces or min(map(len, pieces)) < _LEAST_PIECE:
        return None
    start = _find(pieces[0], text, after)
    end = start + len(pieces[0])
    for piece in pieces[1:] if start >= 0 else ():
        at = text.find(piece, end, end + _LONGEST_GAP + len(piece))
        if at < 0:
            return None
        end = at + len(piece)
    return (start, end) if start >= 0 else None


def _changed(quote: str, text: str) -> tuple[int, int] | None:
    """Return the span that differs least from a quote; None where that is too much."""
    most = min(len(quote) // _EQUAL, _MOST_CHANGES)
    if not most or len(quote) > _LONGEST:
        return None
    end, changes = _best_end(quote, text, most)
    if changes > most:
        return None
    before = text[max(0, end - len(quote) - most) : end]
    length, _ = _best_end(quote[::-1], before[::-1], most, anchored=1)
    span = end - length, end
    same = _TELLING.findall(quote) == _TELLING.findall(text[span[0] : span[1]])
    return span if same else None


def _best_end(
    pattern: str, text: str, most: int, *, anchored: Literal[0, 1] = 0
) -> tuple[int, int]:
    """Return where in a text a pattern ends with the fewest changes, and how many they are.

    Myers 1999, "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming", figure 2: one column of the edit matrix is two integers.

    Args:
        pattern: What is looked for, not empty.
        text: Where.
        most: Changes from which on a place is of no interest.
        anchored: 1 where the match has to begin where the text begins.

    Returns:
        The offset after the first best match, and its changes; more than `most` for none.
    """
    holds: dict[str, int] = {}
    for i, character in enumerate(pattern):
        holds[character] = holds.get(character, 0) | 1 << i
    every, last = (1 << len(pattern)) - 1, 1 << (len(pattern) - 1)
    up, down, changes = every, 0, len(pattern)
    best = (0, most + 1)
    for offset, character in enumerate(text, 1):
        equal = holds.get(character, 0)
        diagonal = equal | down
        level = (((equal & up) + up) ^ up) | equal
        more, less = down | (every & ~(level | up)), up & level
        changes += bool(more & last) - bool(less & last)
        more, less = (more << 1 | anchored) & every, (less << 1) & every
        up, down = less | (every & ~(diagonal | more)), more & diagonal
        if changes < best[1]:
            best = (offset, changes)
    return best
