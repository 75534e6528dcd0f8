"""Locate quotes of a model in the text that it was given."""

import bisect
import functools
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

_BACK = 30.0  # cost of going back: as much as 900 characters ahead
_AGAIN = 1_000.0  # cost of the same place again: only where there is no other
_FIRST = 0.5  # weight of the distance from the start: a model may begin anywhere
_FARTHEST = 400  # characters; names farther away are ignored

Match = Literal["exact", "normalised", "near"]

_MARK = re.compile(r"⟦\d+⟧")  # of a part, as `kgrag.ingestion.summarize` writes them
# Page number, on a separate line or between dashes: —17—, - 6 -, 第 6 页 共 20 页, 6.
_PAGE_MARK = re.compile(
    r"(?<=\n)[ \t\u3000]*(?:[-—–―－]{0,3}[ \t\u3000]*\d{1,4}[ \t\u3000]*[-—–―－]{0,3}"
    r"|第[ ]*\d{1,4}[ ]*页(?:[^\n]{0,3}共[ ]*\d{1,4}[ ]*页)?)[ \t\u3000]*(?=\n)"
    r"|(?<![\d年月])[—–―]{1,3}[ ]{0,3}\d{1,4}[ ]{0,3}[—–―]{1,3}(?!\d)"
)
_MOST_PLACES = 60  # considered for a quote
_ELLIPSIS = re.compile(r"…+|\.{3,}|⋯+|。{3,}")
_QUOTATION = frozenset("\"'`“”‘’„‟‚‛「」『』〝〞")
_ALIKE = {**dict.fromkeys("–—―−‐‑-", "-"), **dict.fromkeys("~～〜∼", "~"), "⟦": "[", "⟧": "]"}
_ALIKE |= {"【": "[", "】": "]", "·": "•", "・": "•", "．": "."}
# One character of ten may differ, and six at most ...
_EQUAL = 10
_MOST_CHANGES = 6
_LONGEST = 600  # characters of a quote that is matched approximately
_LEAST_PIECE = 4  # characters of each piece of a shortened quote
_LONGEST_GAP = 400  # characters that an ellipsis stands for
# ... but not these, which change the meaning.
_TELLING = re.compile(r"\d|[不未无非禁勿]")


@dataclass(frozen=True, slots=True)
class Place:
    """The span of a quote: `text[start:end]`.

    Matches are `exact`; `normalised`, ignoring width, case, blanks and quotation marks; or `near`,
    shortened or with few characters changed.
    """

    start: int
    end: int
    match: Match


@dataclass(frozen=True, slots=True)
class _Normal:
    """A normalised text with the original offset of each character."""

    text: str
    offsets: tuple[int, ...]

    def place(self, start: int, end: int, match: Match) -> Place:
        return Place(self.offsets[start], self.offsets[end - 1] + 1, match)


def locate(quote: str, text: str) -> Place | None:
    """Return the first place of a quote in a text; None for none.

    Tried in this order: exactly, or normalised; with an ellipsis (…) matching any text; with at
    most one character in ten changed, except digits and negations. Page numbers between two lines
    are ignored: 无⏎——6——⏎锡 is 无锡. A quote below four characters is matched exactly or
    normalised only.
    """
    return next(iter(_Text.of(text).places(quote)), None)


def locate_all(
    quotes: Sequence[str], text: str, *, names: Sequence[Sequence[str]] = ()
) -> list[Place | None]:
    """Return the place of each quote; quotes are expected in the text's order.

    Of several places, the one near those of its neighbours and near the `names` in its statements
    is chosen: "牵头单位：甲局" of the fourth item is not that of the first. Equal quotes get
    different places where possible.
    """
    read = _Text.of(text)
    candidates = [read.places(quote) for quote in quotes]
    known = [i for i, places in enumerate(candidates) if places]
    named = [read.starts(names[i]) if i < len(names) else [] for i in known]
    chosen = _nearest([candidates[i] for i in known], named)
    found: list[Place | None] = [None] * len(quotes)
    for i, place in zip(known, chosen, strict=True):
        found[i] = place
    return found


def _nearest(candidates: Sequence[Sequence[Place]], named: Sequence[Sequence[int]]) -> list[Place]:
    """Return one place for each quote, such that the distances between them are short.

    The cost of a step grows with the square root of its length, so that a place close to one
    neighbour beats one halfway between two; steps back cost more. The cheapest path is found by
    dynamic programming (Viterbi 1967). `candidates` are the places of each quote, at least one,
    `named` the offsets of the names in its statements, ascending.
    """
    paths: list[tuple[float, tuple[Place, ...]]] = []
    for places, starts in zip(candidates, named, strict=True):
        before = paths
        paths = []
        for p in places:
            begun = ((cost + _way(path[-1], p), path) for cost, path in before)
            cost, path = min(begun, key=itemgetter(0), default=(_FIRST * math.sqrt(p.start), ()))
            paths.append((cost + math.sqrt(_to_name(p, starts)), (*path, p)))
    return list(min(paths, key=itemgetter(0), default=(0.0, ()))[1])


def _way(last: Place, place: Place) -> float:
    if (last.start, last.end) == (place.start, place.end):
        return _AGAIN
    if place.start >= last.start:
        return math.sqrt(max(0, place.start - last.end))
    return _BACK + math.sqrt(last.start - place.start)


def _to_name(place: Place, starts: Sequence[int]) -> int:
    """Return the distance in characters to the nearest name outside a place, 400 at most."""
    after = bisect.bisect_left(starts, place.end)
    before = bisect.bisect_left(starts, place.start)
    ways = [starts[after] - place.end] if after < len(starts) else []
    ways += [place.start - starts[before - 1]] if before else []
    return min([_FARTHEST, *ways])


@dataclass(frozen=True, slots=True)
class _Text:
    """A text in the forms that quotes are matched against."""

    text: str
    normal: _Normal
    unmarked: _Normal

    @classmethod
    def of(cls, text: str) -> "_Text":
        normal = _normal(text)
        marks = [m.span() for m in _PAGE_MARK.finditer(text)]
        return cls(text, normal, _without(normal, marks) if marks else normal)

    def places(self, quote: str) -> list[Place]:
        """Return every place of a quote in text order; the best only for a near match."""
        quote = _MARK.sub("", quote).strip()
        if not any(map(str.isalnum, quote)):
            return []
        bare = _normal(quote).text
        unmarked = _normal(_PAGE_MARK.sub("", f"\n{quote}\n")).text
        for normal, wanted in ((self.normal, bare), (self.unmarked, unmarked or bare)):
            if found := [
                self._place(normal, at, len(wanted), quote) for at in _all(wanted, normal)
            ]:
                return found
        exact = self.text.find(quote)  # within a character that normalises to several
        if exact >= 0:
            return [Place(exact, exact + len(quote), "exact")]
        span = _shortened(quote, self.unmarked.text) or _changed(unmarked, self.unmarked.text)
        return [self.unmarked.place(*span, "near")] if span else []

    def starts(self, names: Sequence[str]) -> list[int]:
        """Return the offsets of exact occurrences of names."""
        found = {at for name in names if len(name) > 1 for at in self._starts(name)}
        return sorted(found)

    def _starts(self, name: str) -> Iterator[int]:
        at = self.text.find(name)
        while at >= 0:
            yield at
            at = self.text.find(name, at + len(name))

    def _place(self, normal: _Normal, at: int, length: int, quote: str) -> Place:
        place = normal.place(at, at + length, "normalised")
        exact = self.text.find(quote, place.start, place.end)
        return Place(exact, exact + len(quote), "exact") if exact >= 0 else place


def _all(wanted: str, normal: _Normal) -> list[int]:
    """Return the offsets of a normalised quote in a normalised text, at most 60."""
    found: list[int] = []
    at = normal.text.find(wanted) if wanted else -1
    while at >= 0 and len(found) < _MOST_PLACES:
        found.append(at)
        at = normal.text.find(wanted, at + len(wanted))
    return found


def _without(normal: _Normal, marks: Sequence[tuple[int, int]]) -> _Normal:
    """Return a text without page numbers."""
    inside = {at for start, end in marks for at in range(start, end)}
    kept = [(c, at) for c, at in zip(normal.text, normal.offsets, strict=True) if at not in inside]
    return _Normal("".join(c for c, _ in kept), tuple(at for _, at in kept))


@functools.lru_cache(maxsize=1 << 14)
def _fold(character: str) -> str:
    """Return the normal form of a character: empty for blanks and quotation marks."""
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


def _shortened(quote: str, text: str) -> tuple[int, int] | None:
    """Return the span of a quote whose pieces around … follow each other in the text."""
    pieces = [_normal(piece).text for piece in _ELLIPSIS.split(quote)]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) < 2 and not _ELLIPSIS.search(quote):
        return None
    if not pieces or min(map(len, pieces)) < _LEAST_PIECE:
        return None
    start = text.find(pieces[0])
    end = start + len(pieces[0])
    for piece in pieces[1:] if start >= 0 else ():
        at = text.find(piece, end, end + _LONGEST_GAP + len(piece))
        if at < 0:
            return None
        end = at + len(piece)
    return (start, end) if start >= 0 else None


def _changed(quote: str, text: str) -> tuple[int, int] | None:
    """Return the span most similar to a quote; None if it differs too much."""
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
    """Return where in a text the best match of a pattern ends, and its number of changes.

    Myers 1999, "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming", figure 2: one column of the edit matrix is two integers. The pattern is not
    empty; with `anchored` 1 the match has to start at the start of the text. No match with at most
    `most` changes gives more than `most`.
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
