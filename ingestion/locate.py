"""Find where a quote that a model gave stands in the text that it was given."""

import bisect
import functools
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

_BACK = 30.0  # of a place before the last one: as much as 900 characters ahead
_AGAIN = 1_000.0  # of the very place of the last: only where there is no other
_FIRST = 0.5  # of the way from the beginning: a model may begin anywhere
_FARTHEST = 400  # characters: a name that is farther away tells nothing


class Span(Protocol):
    """A stretch of a text."""

    @property
    def start(self) -> int:
        """Return its first character offset."""
        ...

    @property
    def end(self) -> int:
        """Return the offset after its last character."""
        ...


S = TypeVar("S", bound=Span)


def nearest(candidates: Sequence[Sequence[S]], named: Sequence[Sequence[int]]) -> list[S]:
    """Return one place for each quote, such that the ways between them are short.

    The cost of a way grows with the root of its length, so that a place close to one neighbour
    is better than one halfway between two; ways back cost more. The cheapest path through all is
    found by dynamic programming (Viterbi 1967).

    Args:
        candidates: The places of each quote, at least one, in the order of the quotes.
        named: For each quote, where the names stand that are stated by it, ascending.
    """
    costs: list[list[float]] = []
    came: list[list[int]] = []
    for i, places in enumerate(candidates):
        own = [math.sqrt(_to_name(p, named[i])) for p in places]
        best = [(_FIRST * math.sqrt(p.start), 0) for p in places]
        if i:
            last = list(enumerate(candidates[i - 1]))
            best = [min((costs[-1][k] + _way(q, p), k) for k, q in last) for p in places]
        costs.append([cost + o for (cost, _), o in zip(best, own, strict=True)])
        came.append([k for _, k in best])
    return _path(candidates, costs, came)


def _path(
    candidates: Sequence[Sequence[S]], costs: Sequence[Sequence[float]], came: Sequence[list[int]]
) -> list[S]:
    if not candidates:
        return []
    at = min(range(len(costs[-1])), key=lambda k: costs[-1][k])
    path = []
    for i in range(len(candidates) - 1, -1, -1):
        path.append(candidates[i][at])
        at = came[i][at]
    return path[::-1]


def _way(last: Span, place: Span) -> float:
    if (last.start, last.end) == (place.start, place.end):
        return _AGAIN
    if place.start >= last.start:
        return math.sqrt(max(0, place.start - last.end))
    return _BACK + math.sqrt(last.start - place.start)


def _to_name(place: Span, starts: Sequence[int]) -> int:
    """Return the characters from the nearest name outside a place to it, 400 at most."""
    after = bisect.bisect_left(starts, place.end)
    before = bisect.bisect_left(starts, place.start)
    ways = [starts[after] - place.end] if after < len(starts) else []
    ways += [place.start - starts[before - 1]] if before else []
    return min([_FARTHEST, *ways])


Match = Literal["exact", "normalised", "near"]

_MARK = re.compile(r"⟦\d+⟧")  # of a part, as `kgrag.ingestion.summarize` writes them
# Of a page, on a line of its own or between dashes: —17—, - 6 -, 第 6 页 共 20 页, 6.
_PAGE_MARK = re.compile(
    r"(?<=\n)[ \t\u3000]*(?:[-—–―－]{0,3}[ \t\u3000]*\d{1,4}[ \t\u3000]*[-—–―－]{0,3}"
    r"|第[ ]*\d{1,4}[ ]*页(?:[^\n]{0,3}共[ ]*\d{1,4}[ ]*页)?)[ \t\u3000]*(?=\n)"
    r"|(?<![\d年月])[—–―]{1,3}[ ]{0,3}\d{1,4}[ ]{0,3}[—–―]{1,3}(?!\d)"
)
_MOST_PLACES = 60  # of a quote that are looked at
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


def locate(quote: str, text: str) -> Place | None:
    """Return where a quote stands first in a text; None where it does not.

    Tried in this order: as it is, or normalised; without what an ellipsis (…) left out; with at
    most one character in ten changed, digits and words of negation excepted. The mark of a page
    between two lines counts for nothing: 无⏎——6——⏎锡 is 无锡. A shorter quote than four characters
    is found as it is, or normalised.

    Args:
        quote: As a model gave it.
        text: The text as it is in the document.
    """
    return next(iter(_Text.of(text).places(quote)), None)


def locate_all(
    quotes: Sequence[str], text: str, *, names: Sequence[Sequence[str]] = ()
) -> list[Place | None]:
    """Return where each quote stands; quotes are expected in the text's order.

    Of several places of a quote that one counts which is near those of its neighbours, and near
    where the names stand that are stated by it: "牵头单位：甲局" of the fourth item is not that of
    the first. Two quotes that are equal are at two places where there are as many.

    Args:
        quotes: As a model gave them.
        text: The text as it is in the document.
        names: For each quote, what is named in the statements that were taken from it; none for
            an empty sequence.
    """
    read = _Text.of(text)
    candidates = [read.places(quote) for quote in quotes]
    known = [i for i, places in enumerate(candidates) if places]
    named = [read.starts(names[i]) if i < len(names) else [] for i in known]
    chosen = nearest([candidates[i] for i in known], named)
    found: list[Place | None] = [None] * len(quotes)
    for i, place in zip(known, chosen, strict=True):
        found[i] = place
    return found


@dataclass(frozen=True, slots=True)
class _Text:
    """A text in the forms in which quotes are looked for."""

    text: str
    normal: _Normal
    unmarked: _Normal

    @classmethod
    def of(cls, text: str) -> "_Text":
        normal = _normal(text)
        marks = [m.span() for m in _PAGE_MARK.finditer(text)]
        return cls(text, normal, _without(normal, marks) if marks else normal)

    def places(self, quote: str) -> list[Place]:
        """Return every place of a quote, in the text's order; the likeliest where it is near."""
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
        exact = self.text.find(quote)  # in the middle of a character that is folded to several
        if exact >= 0:
            return [Place(exact, exact + len(quote), "exact")]
        span = _shortened(quote, self.unmarked.text) or _changed(unmarked, self.unmarked.text)
        return [self.unmarked.place(*span, "near")] if span else []

    def starts(self, names: Sequence[str]) -> list[int]:
        """Return where names stand in the text as they are written; the document's own nowhere."""
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
    """Return where a normalised quote stands in a normalised text, at most 60 times."""
    found: list[int] = []
    at = normal.text.find(wanted) if wanted else -1
    while at >= 0 and len(found) < _MOST_PLACES:
        found.append(at)
        at = normal.text.find(wanted, at + len(wanted))
    return found


def _without(normal: _Normal, marks: Sequence[tuple[int, int]]) -> _Normal:
    """Return a text without what stands in the marks of pages."""
    inside = {at for start, end in marks for at in range(start, end)}
    kept = [(c, at) for c, at in zip(normal.text, normal.offsets, strict=True) if at not in inside]
    return _Normal("".join(c for c, _ in kept), tuple(at for _, at in kept))


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


def _shortened(quote: str, text: str) -> tuple[int, int] | None:
    """Return the span of a quote whose pieces around … stand one after the other."""
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
