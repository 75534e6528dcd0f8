"""The clauses of two documents side by side: by their headings and by how alike they are."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from kgrag.text.numbering import without_numbering
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.words import character_pairs, normalize_name, sentence_spans
from kgrag.types import Heading

# (一)扩大绿色消费规模. in running text: a clause that is no heading of its own.
_INNER = re.compile(
    rf"(?:^|(?<=[。.．；;\n]))\s*(?P<path>[（(][{HAN_SMALL}]{{1,3}}[）)][^。.．；;\n]{{2,40}})[。.．\n]"
)
_SHORTEST = 12  # characters of a clause; what is shorter is a page number, or a heading's rest
_MARKS = " \t\r\n\u3000。；，、：:."  # that a heading leaves to the text behind it
_SEVERAL = 2
_LONGEST_HEADING = 60  # characters; a longer one is a sentence, of which the clause consists
_ALIKE = 0.5  # share of character pairs from which two clauses are one that changed
_ALIKE_OF_LEFT = 0.36  # the same of clauses that have no counterpart under a heading like theirs
_ALIKE_UNDER_ONE_HEADING = 0.05  # the same where their headings agree, or nearly
_LESS = 0.6  # of that share is needed less, the more alike the headings are
_OF_HEADINGS = 0.3  # what headings add to the share where several clauses might be the one
_LIKE_HEADINGS = 0.6  # share of character pairs from which headings count as alike


@dataclass(frozen=True, slots=True)
class Clause:
    """A section of a document without those inside it.

    Attributes:
        start: First character of its text, the heading left out.
        end: Offset after it.
        heading: Its heading without its number; empty before the first heading.
        path: Heading with its number, for people.
        text: Its text.
        pairs: Its character pairs, each as often as it is there.
    """

    start: int
    end: int
    heading: str
    path: str
    text: str
    pairs: Mapping[str, int]


class Aligned(NamedTuple):
    """A clause of each document that are one, or one that only one of them has.

    Attributes:
        old: None where it was added.
        new: None where it was removed.
        alike: Share of the character pairs in both, 0 to 1.
    """

    old: Clause | None
    new: Clause | None
    alike: float


def clauses(text: str, headings: Sequence[Heading]) -> list[Clause]:
    """Return the sections of a text that say something, in text order.

    Args:
        text: Of the document.
        headings: In text order.
    """
    found = []
    ends = [heading.start for heading in headings[1:]] + [len(text)]
    spans = [(0, headings[0].start if headings else len(text), "")]
    for head, end in zip(headings, ends, strict=bool(headings)):
        is_sentence = len(head.text) > _LONGEST_HEADING
        spans.append((head.start if is_sentence else head.end, end, head.text))
    for start, end, path in (inner for span in spans for inner in _inner(text, *span)):
        body = text[start:end]
        first, last = start + len(body) - len(body.lstrip(_MARKS)), start + len(body.rstrip())
        if last - first < _SHORTEST:
            continue
        heading = normalize_name(without_numbering(path))
        piece = text[first:last]
        found.append(Clause(first, last, heading, path, piece, Counter(character_pairs(piece))))
    return found


def _inner(text: str, start: int, end: int, path: str) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of a section that begin with （一）, where there are several."""
    found = list(_INNER.finditer(text, start, end))
    if len(found) < _SEVERAL:
        yield start, end, path
        return
    yield start, found[0].start("path"), path
    for at, match in enumerate(found):
        stop = found[at + 1].start("path") if at + 1 < len(found) else end
        yield match.end("path"), stop, match["path"]


def align(old: Sequence[Clause], new: Sequence[Clause]) -> list[Aligned]:
    """Return clauses that are one side by side, each at most once; then what is left.

    Those that agree word for word come first, then the pairs most alike. Under one heading less
    agreement is enough, and of what is left then, whatever the headings.

    Returns:
        In the order of the new document, what was removed where it stood in the old one.
    """
    shares: dict[tuple[int, int], float] = {}
    alike: dict[tuple[int, int], float] = {}
    left: dict[tuple[int, int], float] = {}
    of_headings = [Counter(character_pairs(clause.heading)) for clause in new]
    for i, a in enumerate(old):
        heading = Counter(character_pairs(a.heading))
        for j, b in enumerate(new):
            share = shares[i, j] = share_of_pairs(a.pairs, b.pairs)
            named = share_of_pairs(heading, of_headings[j])
            named = named if named >= _LIKE_HEADINGS else 0.0
            if share >= max(_ALIKE - named * _LESS, _ALIKE_UNDER_ONE_HEADING):
                alike[i, j] = share + _OF_HEADINGS * named
            elif share >= _ALIKE_OF_LEFT:
                left[i, j] = share
    by_old = _met(alike, left)
    by_new = {j: i for i, j in by_old.items()}
    rows: list[tuple[float, int, Aligned]] = []
    for j, b in enumerate(new):
        i = by_new.get(j, -1)
        share = shares[i, j] if i >= 0 else 0.0
        rows.append((j, 1, Aligned(old[i] if i >= 0 else None, b, share)))
    at = -1
    for i, a in enumerate(old):
        at = by_old.get(i, at)
        if i not in by_old:
            rows.append((at, 2, Aligned(a, None, 0.0)))
    return [aligned for _, _, aligned in sorted(rows, key=lambda row: row[:2])]


def _met(*alike: Mapping[tuple[int, int], float]) -> dict[int, int]:
    """Return which new clause each old one meets, those of the first pairs before the others'."""
    by_old: dict[int, int] = {}
    for found in alike:
        # equal pairs: the nearest by place, so that 保障措施 meets 保障措施 of the same chapter
        for i, j in sorted(found, key=lambda ij: (-found[ij], abs(ij[0] - ij[1]), ij)):
            if i not in by_old and j not in by_old.values():
                by_old[i] = j
    return by_old


def is_same(old: Clause, new: Clause) -> bool:
    """Return whether two clauses have the same words, whatever their marks and blanks."""
    return normalize_name(old.text) == normalize_name(new.text)


def changed_sentences(
    old: Clause, new: Clause
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return (start, end) in the documents of what is gone, and of what came, by sentences."""
    ours, theirs = list(_sentences(old)), list(_sentences(new))
    matcher = SequenceMatcher(
        a=[key for _, _, key in ours], b=[key for _, _, key in theirs], autojunk=False
    )
    gone, come = [], []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            gone += [(start, end) for start, end, _ in ours[a:b]]
            come += [(start, end) for start, end, _ in theirs[c:d]]
    return gone, come


def _sentences(clause: Clause) -> Iterator[tuple[int, int, str]]:
    for start, end in sentence_spans(clause.text):
        key = normalize_name(clause.text[start:end])
        if key:
            yield clause.start + start, clause.start + end, key


def share_of_pairs(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Return the share of character pairs that two texts have in common (Dice, 1945).

    >>> share_of_pairs(Counter(["甲乙", "乙丙"]), Counter(["甲乙"]))
    0.6666666666666666
    """
    if len(one) > len(other):
        one, other = other, one
    total = sum(one.values()) + sum(other.values())
    both = sum(min(n, other[pair]) for pair, n in one.items() if pair in other)
    return 2 * both / total if total else 0.0
