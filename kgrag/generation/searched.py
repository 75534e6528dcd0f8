"""Read the text of a passage for looking up sentences: its words, numbers and places."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgrag.generation.sentences import is_letterhead, joined_spans
from kgrag.text.quantities import Date, Quantity, agree, dates, quantities, says_nothing
from kgrag.text.words import character_pairs, is_latin, normalize, words

NUMBER = re.compile(r"\d[\d.,]*")
NUMBER_MARK = "#"  # begins the name of a number among features, which are pairs or words else
_BEFORE = 3  # sentences that tell what one is about


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a text says in numbers.

    Attributes:
        quantities: Those outside dates, and the years of dates.
        dates: Those with a month.
    """

    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]

    @classmethod
    def of(cls, text: str) -> "Numbers":
        """Return what a text says; no words (统一), numbers of lines, or parts of dates."""
        found = tuple(dates(text))
        inside = [(date.start, date.end) for date in found]
        return cls(
            tuple(
                q
                for q in quantities(text)
                if not says_nothing(text, q)
                and not (q.is_word and max(q.values) <= 1)
                and not (q.unit != "年" and any(s <= q.start < e for s, e in inside))
            ),
            found,
        )

    def held_by(self, other: "Numbers", mark: str = NUMBER_MARK) -> frozenset[str]:
        """Return names for those that stand in another text, too, in whatever writing.

        Names count the numbers of this text, so that they mean the same for every other one.
        """
        return frozenset(
            [
                f"{mark}{i}"
                for i, mine in enumerate(self.quantities)
                if any(
                    mine.values & its.values and agree(mine.unit, its.unit)
                    for its in other.quantities
                )
            ]
            + [
                f"{mark}d{i}"
                for i, mine in enumerate(self.dates)
                if any((mine.month, mine.day) == (its.month, its.day) for its in other.dates)
            ]
        )


@dataclass(frozen=True, slots=True)
class Searched:
    """The text of a passage, read once for all sentences that cite it.

    Attributes:
        places: (start, end) of its sentences in the document's text; at least one.
        words: The words or pairs of characters of each.
        all_words: Of all.
        numbers: Of each.
        all_numbers: Of all.
        above: The words or pairs of characters of the headings around each, and of the few
            sentences before it: they name what it is about.
    """

    places: tuple[tuple[int, int], ...]
    words: tuple[frozenset[str], ...]
    all_words: frozenset[str]
    numbers: tuple[Numbers, ...]
    all_numbers: Numbers
    above: tuple[frozenset[str], ...]

    @classmethod
    def of(
        cls,
        text: str,
        *,
        offset: int = 0,
        seen: str | None = None,
        headings: Callable[[int, int], Sequence[str]] = lambda _start, _end: (),
    ) -> "Searched":
        """Return a text read.

        Args:
            text: Of a passage, as in the document.
            offset: Where it begins in the document.
            seen: The text as it was shown, where it was compressed: what was not shown supports
                nothing.
            headings: Gives those around a span of the document.
        """
        places = _trimmed(text)
        if seen is not None:
            places = [p for p in places if text[p[0] : p[1]] in seen] or places
        places = places or [(0, len(text))]
        texts = [text[start:end] for start, end in places]
        spans = tuple((offset + start, offset + end) for start, end in places)
        in_words = tuple(map(wording, texts))
        above = (
            wording("\n".join(headings(*span))).union(*in_words[max(0, i - _BEFORE) : i])
            for i, span in enumerate(spans)
        )
        every = frozenset[str]().union(*in_words)
        numbers = tuple(map(Numbers.of, texts))
        every_number = Numbers(
            tuple(q for its in numbers for q in its.quantities),
            tuple(d for its in numbers for d in its.dates),
        )
        return cls(spans, in_words, every, numbers, every_number, tuple(above))


def _trimmed(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of sentences without blanks around; marks and letterhead do not count."""
    spans = []
    for start, end in joined_spans(text):
        piece = text[start:end]
        if re.search(r"\w", piece) and not is_letterhead(piece):
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return spans


def wording(text: str) -> frozenset[str]:
    """Return the words or pairs of characters of a text, without its numbers."""
    if is_latin(text):
        return frozenset(word for word in words(text) if not word[0].isdigit())
    parts = NUMBER.split(normalize(text))
    return frozenset(pair for part in parts for pair in character_pairs(part) if len(pair) > 1)
