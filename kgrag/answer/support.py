"""Finding the sentences of a passage that support a sentence of an answer."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kgrag.answer.sentences import is_letterhead, joined_spans
from kgrag.text.in_chinese import in_chinese
from kgrag.text.numerals import in_digits
from kgrag.text.quantities import Date, Quantity, agree, dates, legible, quantities, says_nothing
from kgrag.text.words import character_pairs, has_han, is_latin, normalize, words

NUMBER = re.compile(r"\d[\d.,]*")
NUMBER_MARK = "#"  # begins the name of a number among features, which are pairs or words else
_LATIN = re.compile("[a-z]{2,}")
_BEFORE = 3  # sentences that tell what one is about
_NUMBER_WEIGHT = 2.0  # of a number, against 1 for a pair of characters
ASKED_WEIGHT = 0.3  # of the question's words
_ABOVE_WEIGHT = 0.2  # of the headings around a sentence, and of what stands before it
_GAIN = 0.15  # of the sentence's features, for which a further one is quoted, too
# Share of the wording that a further one must add, or hold beside a number: that alone is chance.
_WORDS, _BESIDE_NUMBER = 0.1, 0.5
_TIE = 2  # decimals in which scores are compared; what stands near then decides
_MOST = 5  # sentences


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of a text.

    Attributes:
        quantities: Those outside dates, and the years of dates.
        dates: Those with a month.
    """

    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]

    @classmethod
    def of(cls, text: str) -> "Numbers":
        """Parse the numbers of a text, without words (统一), list numbers and parts of dates."""
        text = in_digits(legible(text))
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
        """Return names for those that are also in another text, in any notation.

        Names are ordinals of this text's numbers, so that they are comparable between other texts.
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
class Features:
    """What one text may share with another: words or pairs of characters, and numbers.

    Attributes:
        words: Words or pairs.
        numbers: Numbers.
        mark: Begins the names of its numbers.
    """

    words: frozenset[str]
    numbers: Numbers
    mark: str = NUMBER_MARK

    @classmethod
    def of(cls, text: str, mark: str = NUMBER_MARK) -> "Features":
        """Parse a text."""
        return cls(wording(text), Numbers.of(text), mark)

    def held_by(self, other: "Features") -> frozenset[str]:
        """Return those that are also in another text, numbers by name."""
        return (self.words & other.words) | self.numbers.held_by(other.numbers, self.mark)

    def all(self) -> frozenset[str]:
        """Return all of them."""
        return self.held_by(self)


def asked_features(question: str) -> Features:
    """Return the features of a question, whose numbers are told from those of an answer."""
    return Features.of(question, f"{NUMBER_MARK}?")


@dataclass(frozen=True, slots=True)
class Searched:
    """The text of a passage, parsed once for all sentences that cite it.

    Attributes:
        places: (start, end) of its sentences in the document's text; at least one.
        sentences: Features of each.
        whole: Features of all.
        above: Words or pairs of characters of the headings around each, and of the few sentences
            before it.
    """

    places: tuple[tuple[int, int], ...]
    sentences: tuple[Features, ...]
    whole: Features
    above: tuple[frozenset[str], ...]

    @classmethod
    def of(
        cls,
        text: str,
        *,
        offset: int = 0,
        headings: Callable[[int, int], Sequence[str]] = lambda _start, _end: (),
    ) -> "Searched":
        """Parse a passage.

        Args:
            text: Of a passage, as in the document.
            offset: Where it begins in the document.
            headings: Returns those around a span of the document.
        """
        places = _trimmed(text) or [(0, len(text))]
        spans = tuple((offset + start, offset + end) for start, end in places)
        read = tuple(Features.of(text[start:end]) for start, end in places)
        above = (
            wording("\n".join(headings(*span))).union(
                *(r.words for r in read[max(0, i - _BEFORE) : i])
            )
            for i, span in enumerate(spans)
        )
        every = Numbers(
            tuple(q for its in read for q in its.numbers.quantities),
            tuple(d for its in read for d in its.numbers.dates),
        )
        words = frozenset[str]().union(*(its.words for its in read))
        return cls(spans, read, Features(words, every), tuple(above))


def _trimmed(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of sentences without whitespace, marks and letterhead."""
    spans = []
    for start, end in joined_spans(text):
        piece = text[start:end]
        if re.search(r"\w", piece) and not is_letterhead(piece):
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return spans


def wording(text: str) -> frozenset[str]:
    """Return the words or pairs of characters of a text, without its numbers.

    English words are there by their Chinese terms, too, as far as the list of questions has them.
    """
    if is_latin(text):
        read = in_chinese(text)
        told = frozenset(word for word in words(text) if word.isalpha() and len(word) > 1)
        terms = (*read.terms, *read.others) if read else ()
        return told.union(*(_pairs(term) for term in terms if has_han(term)))
    return _pairs(text)


def _pairs(text: str) -> frozenset[str]:
    """Return the pairs of Chinese characters, and the words in Latin letters between them."""
    told = normalize(text)
    parts = NUMBER.split(_LATIN.sub("0", told))
    pairs = (pair for part in parts for pair in character_pairs(part) if len(pair) > 1)
    return frozenset((*pairs, *_LATIN.findall(told)))


@dataclass(frozen=True, slots=True)
class Support:
    """Where a passage supports a sentence.

    Attributes:
        spans: (start, end) in the document's text, in order; at least one.
        share: Weighted share of the sentence's numbers, words and pairs of characters there, in
            [0, 1].
        held: Features of the sentence and the question there.
        above: Words or pairs in the headings around, and in what comes before.
    """

    spans: tuple[tuple[int, int], ...]
    share: float
    held: frozenset[str] = frozenset()
    above: frozenset[str] = frozenset()


def find_support(
    sentence: str, passage: Searched, *, question: str = "", near: int | None = None
) -> Support:
    """Return the sentences of a passage that support a sentence best.

    The best one has most of its numbers (with units, in any notation) and pairs of characters
    (words, in English), counting headings and the sentences before it; ties by distance to the
    last citation, then order. Others are added while each adds enough of what is missing, not only
    numbers. If nothing is shared, it is the first sentence, with a share of 0.

    Args:
        sentence: Of an answer, without [n].
        passage: Where to look.
        question: Helps to place answers of few words (昆明市。).
        near: Offset in the document of the last citation.
    """
    own, of_question = Features.of(sentence), asked_features(question)
    here = [own.held_by(its) | of_question.held_by(its) for its in passage.sentences]
    n = Counter(feature for features in here for feature in features)
    said = Wanted.of(own.all(), n, len(here))
    asked = Wanted.of(of_question.all(), n, len(here))
    in_words = Wanted.of(own.words, n, len(here))

    def likeness(features: frozenset[str]) -> float:
        return said.share(features) + ASKED_WEIGHT * asked.share(features)

    def rank(i: int) -> tuple[float, int, int]:
        new = here[i] - covered
        score = likeness(new) + _ABOVE_WEIGHT * likeness(passage.above[i] - covered - new)
        start, end = passage.places[i]
        distance = 0 if near is None else abs((start + end) // 2 - near)
        return round(score, _TIE), -distance, -i

    quoted: list[int] = []
    covered = frozenset[str]()
    while len(quoted) < min(_MOST, len(here)):
        best = max((i for i in range(len(here)) if i not in quoted), key=rank)
        new = here[best] - covered
        has_number = any(f.startswith(NUMBER_MARK) for f in new & said.weights.keys())
        adds = has_number or said.share(new) >= _GAIN
        tells = in_words.share(new) >= _WORDS
        tells = tells or (has_number and in_words.share(here[best]) >= _BESIDE_NUMBER)
        if quoted and not (adds and tells):
            break
        quoted.append(best)
        covered |= here[best]
    above = frozenset[str]().union(*(passage.above[i] for i in quoted))
    return Support(joined_places(quoted, passage.places), said.share(covered), covered, above)


def joined_places(
    quoted: Iterable[int], places: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Return the spans of sentences by number, in order, neighbours merged."""
    spans: list[tuple[int, int]] = []
    before = None
    for index in sorted(quoted):
        start, end = places[index]
        if before == index - 1:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        before = index
    return tuple(spans)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The features to find, weighted by how few texts have them.

    Attributes:
        weights: By feature; low for wording that no text has.
    """

    weights: dict[str, float]

    @classmethod
    def of(cls, features: frozenset[str], n: Counter[str], of: int) -> "Wanted":
        """Weight features, given how many of so many texts have each."""
        return cls({f: _weight(f, n[f], of) for f in features})

    def share(self, held: frozenset[str]) -> float:
        """Return the weighted share that is held, in [0, 1]."""
        total = math.fsum(self.weights.values())
        got = math.fsum(map(self.weights.__getitem__, self.weights.keys() & held))  # in any order
        return got / total if total else 0.0


def _weight(feature: str, n: int, of: int) -> float:
    """Return the weight of a feature that n sentences have; low for wording that none has."""
    if feature.startswith(NUMBER_MARK):
        return _NUMBER_WEIGHT * math.log(1 + of / max(1, n))
    return math.log(1 + of / (n or of))
