"""Two documents beside each other, paragraph by paragraph, with what differs marked."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from kgrag.statements.digest import Clause, align, clauses, share_of_pairs
from kgrag.text.leading_region import leading_region
from kgrag.text.title_keys import title_keys, without_edition
from kgrag.text.words import character_pairs
from kgrag.types import Document, Heading

_MOST_COMPARED = 120_000  # pairs of clauses: two seconds
_MOST_CHARACTERS = 30_000_000  # pairs of characters in changed paragraphs: some seconds
_ALIKE = 0.35  # share of character pairs from which a paragraph is one that changed
_AHEAD = 20  # paragraphs in which the counterpart of one is looked for
_SHORTEST = 2  # characters that stay between two changes; fewer count as changed

Pieces = tuple[tuple[str, bool], ...]  # of a text, and whether each is on this side only


class Side(NamedTuple):
    """A paragraph of one of the documents.

    Attributes:
        start: Offset in its text.
        end: Offset after it.
        pieces: Its text.
    """

    start: int
    end: int
    pieces: Pieces


class Paragraphs(NamedTuple):
    """A paragraph with its counterpart.

    Attributes:
        old: None where it was added.
        new: None where it was removed.
    """

    old: Side | None
    new: Side | None

    @property
    def is_same(self) -> bool:
        """Whether nothing differs but blanks."""
        pieces = [piece for side in self for piece in (side.pieces if side else (("", True),))]
        return not any(differs for _, differs in pieces)


class Section(NamedTuple):
    """A clause of each document, one of which may be missing.

    Attributes:
        old: Its heading in the old document; empty before the first.
        new: Its heading in the new document.
        paragraphs: At least one.
    """

    old: str
    new: str
    paragraphs: tuple[Paragraphs, ...]

    @property
    def is_same(self) -> bool:
        """Whether nothing differs in it."""
        return all(paragraph.is_same for paragraph in self.paragraphs)


def beside(
    old: Document, new: Document, headings: Mapping[str, Sequence[Heading]]
) -> tuple[list[Section], bool, int]:
    """Return the sections of two documents, whether all are compared, and how many are left out.

    Left out are those of a few characters.

    Clauses are aligned by heading and text as for a digest; of very long documents the first ones
    only, and changed paragraphs are marked as a whole once a bound of work is reached.

    Args:
        old: With its text.
        new: With its text.
        headings: By document.
    """
    ours, theirs = (clauses(d.text, headings.get(d.doc_id, ())) for d in (old, new))
    short = (
        sum(len(clauses(d.text, headings.get(d.doc_id, ()), shortest=1)) for d in (old, new))
        - len(ours)
        - len(theirs)
    )
    share = min(1.0, (_MOST_COMPARED / max(1, len(ours) * len(theirs))) ** 0.5)
    kept = [of[: max(1, int(len(of) * share))] for of in (ours, theirs)]
    left = [_MOST_CHARACTERS]
    sections = [
        Section(
            pair.old.path if pair.old else "",
            pair.new.path if pair.new else "",
            tuple(_paragraphs(pair.old, pair.new, left)),
        )
        for pair in align(*kept)
    ]
    return sections, share == 1, short


def _paragraphs(old: Clause | None, new: Clause | None, left: list[int]) -> Iterator[Paragraphs]:
    ours, theirs = list(_lines(old)), list(_lines(new))
    keys = [["".join(text.split()) for _, text in lines] for lines in (ours, theirs)]
    matcher = SequenceMatcher(a=keys[0], b=keys[1], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(ours[a:b], theirs[c:d], strict=True)
            yield from (Paragraphs(_side(x, False), _side(y, False)) for x, y in pairs)
        else:
            yield from _changed(ours[a:b], theirs[c:d], left)


def _lines(clause: Clause | None) -> Iterator[tuple[int, str]]:
    """Yield offset and text of the lines that are not blank."""
    start = clause.start if clause else 0
    for line in clause.text.splitlines(keepends=True) if clause else ():
        if text := line.strip():
            yield start + line.index(text[0]), text
        start += len(line)


def _side(line: tuple[int, str], differs: bool) -> Side:
    start, text = line
    return Side(start, start + len(text), ((text, differs),))


def _changed(
    old: Sequence[tuple[int, str]], new: Sequence[tuple[int, str]], left: list[int]
) -> Iterator[Paragraphs]:
    """Yield paragraphs that differ: those alike beside each other, the others alone."""
    pairs = [Counter(character_pairs(text)) for _, text in new]
    at = 0
    for line in old:
        own = Counter(character_pairs(line[1]))
        ahead = range(at, min(len(new), at + _AHEAD))
        found = next((j for j in ahead if share_of_pairs(own, pairs[j]) >= _ALIKE), None)
        if found is None:
            yield Paragraphs(_side(line, True), None)
            continue
        yield from (Paragraphs(None, _side(added, True)) for added in new[at:found])
        yield _marked(line, new[found], left)
        at = found + 1
    yield from (Paragraphs(None, _side(added, True)) for added in new[at:])


def _marked(old: tuple[int, str], new: tuple[int, str], left: list[int]) -> Paragraphs:
    """Return two paragraphs with the characters that differ; all of them if that is too much."""
    (i, a), (j, b) = old, new
    left[0] -= len(a) * len(b)
    if left[0] < 0:
        return Paragraphs(_side(old, True), _side(new, True))
    ours: list[tuple[str, bool]] = []
    theirs: list[tuple[str, bool]] = []
    for tag, p, q, r, s in SequenceMatcher(a=a, b=b, autojunk=False).get_opcodes():
        inner = p > 0 and q < len(a)
        differs = tag != "equal" or (inner and q - p < _SHORTEST)
        ours.append((a[p:q], differs))
        theirs.append((b[r:s], differs))
    return Paragraphs(Side(i, i + len(a), _joined(ours)), Side(j, j + len(b), _joined(theirs)))


def _joined(pieces: Sequence[tuple[str, bool]]) -> Pieces:
    """Return pieces without empty ones, neighbours of a kind as one."""
    made: list[tuple[str, bool]] = []
    for text, differs in pieces:
        if text and made and made[-1][1] == differs:
            made[-1] = (made[-1][0] + text, differs)
        elif text:
            made.append((text, differs))
    return tuple(made)


def alike(card: Document, cards: Sequence[Document]) -> list[Document]:
    """Return the other documents with a document's title, but for place, issuer and edition."""
    keys = _keys(card)
    return [other for other in cards if other.doc_id != card.doc_id and keys & _keys(other)]


def _keys(card: Document) -> set[str]:
    keys = title_keys(without_edition(card.title))
    return {key[leading_region(key)[1] :] for key in keys}
