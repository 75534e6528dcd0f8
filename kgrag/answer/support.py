"""Finding the sentences of a passage that support a sentence of an answer."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgrag.answer.sentences import is_letterhead, joined_spans
from kgrag.text.quantities import Date, Quantity, agree, dates, quantities, says_nothing
from kgrag.text.words import character_pairs, is_latin, normalize, words

NUMBER = re.compile(r"\d[\d.,]*")
NUMBER_MARK = "#"  # begins the name of a number among features, which are pairs or words else
_BEFORE = 3  # sentences that tell what one is about
_OF_QUESTION = f"{NUMBER_MARK}?"  # begins the name of a number of the question
_NUMBER_WEIGHT = 3.0  # of a number, against 1 for a pair of characters
_ASKED_WEIGHT = 0.3  # of the question's words
_ABOVE_WEIGHT = 0.2  # of the headings around a sentence, and of what stands before it
_GAIN = 0.15  # of the sentence's features, for which a neighbour is quoted, too
_GAIN_ELSEWHERE = 0.2  # the same for sentences that stand apart
_WORDS_ELSEWHERE = 0.1  # share of the wording that those must have: a number alone is chance
_TIE = 2  # decimals in which scores are compared; what stands near then decides
_MOST_SPANS = 3  # quotes from one passage for one sentence
_MOST = 5  # sentences in a quote
_CLAUSE = re.compile(r"[，、；：;:]|,(?!\d)")
_FEW_WORDS = 4  # a clause with fewer (2030年12%) speaks of what the one before it says
_OF_CLAUSE = 0.5  # share of a clause's wording that the sentence with its number must have
_MOST_NUMBERS = 3  # further sentences quoted for single numbers


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
class Searched:
    """The text of a passage, parsed once for all sentences that cite it.

    Attributes:
        places: (start, end) of its sentences in the document's text; at least one.
        words: Words or pairs of characters of each.
        all_words: Of all.
        numbers: Of each.
        all_numbers: Of all.
        above: Words or pairs of characters of the headings around each, and of the few sentences
            before it.
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
        """Parse a passage.

        Args:
            text: Of a passage, as in the document.
            offset: Where it begins in the document.
            seen: The text as the model saw it, if compressed: only that supports anything.
            headings: Returns those around a span of the document.
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
    """Return (start, end) of sentences without whitespace, marks and letterhead."""
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


@dataclass(frozen=True, slots=True)
class Support:
    """Where a passage supports a sentence.

    Attributes:
        spans: (start, end) in the document's text, in order; at least one.
        share: Weighted share of the sentence's numbers, words and pairs of characters there, in
            [0, 1].
        held: Features of the sentence and the question there, named as by `said_features` and
            `asked_features`, and others.
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
    last citation, then order. Neighbours are added while each adds enough of what is missing, then
    sentences elsewhere that add more, not only numbers, and last those with a clause's number in
    its words. If nothing is shared, it is the first sentence, with a share of 0.

    Args:
        sentence: Of an answer, without [n].
        passage: Where to look.
        question: Helps to place answers of few words (昆明市。).
        near: Offset in the document of the last citation.
    """
    search = _Search.of(sentence, question, passage, near)
    found: list[tuple[int, int]] = []
    covered = frozenset[str]()
    while len(found) < _MOST_SPANS:
        first, last = search.widened(covered)
        held = search.held(first, last)
        gain = search.said.share(covered | held) - search.said.share(covered)
        if found and (gain < _GAIN_ELSEWHERE or search.worded(held - covered) < _WORDS_ELSEWHERE):
            break
        found.append((first, last))
        covered |= held
    quoted = {i for first, last in found for i in range(first, last + 1)}
    quoted.update(_for_numbers(sentence, search, quoted))
    held = frozenset[str]().union(*(search.here[i] for i in quoted))
    above = frozenset[str]().union(*(passage.above[i] for i in quoted))
    return Support(_joined(sorted(quoted), passage), search.said.share(held), held, above)


def said_features(sentence: str) -> frozenset[str]:
    """Return the words or pairs of characters of a sentence, and names of its numbers."""
    numbers = Numbers.of(sentence)
    return wording(sentence) | numbers.held_by(numbers)


def asked_features(question: str) -> frozenset[str]:
    """Return the words or pairs of characters of a question, and names of its numbers."""
    numbers = Numbers.of(question)
    return wording(question) | numbers.held_by(numbers, _OF_QUESTION)


def features_held(sentence: str, question: str, passage: Searched) -> frozenset[str]:
    """Return the features of a sentence and a question that are in a passage."""
    of_sentence, of_question = Numbers.of(sentence), Numbers.of(question)
    return (
        (passage.all_words & (wording(sentence) | wording(question)))
        | of_sentence.held_by(passage.all_numbers)
        | of_question.held_by(passage.all_numbers, _OF_QUESTION)
    )


def _joined(quoted: Sequence[int], passage: Searched) -> tuple[tuple[int, int], ...]:
    """Return the spans of sentences, neighbours merged."""
    spans: list[tuple[int, int]] = []
    before = None
    for index in quoted:
        start, end = passage.places[index]
        if before == index - 1:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        before = index
    return tuple(spans)


def _for_numbers(sentence: str, search: "_Search", quoted: set[int]) -> list[int]:
    """Return the sentences with a clause's words for a number that is not quoted yet.

    A sentence that sums up ten targets is supported by more places than its wording shows.
    """
    more: list[int] = []
    numbers = search.passage.numbers
    for clause in _clauses(sentence):
        mine = Numbers.of(clause)
        wanted = mine.held_by(mine)
        if any(wanted <= mine.held_by(numbers[i]) for i in (*quoted, *more)):
            continue
        words_only = {f: w for f, w in search.said.weights.items() if f in wording(clause)}
        said = _Wanted(words_only)
        held = {
            i: (len(mine.held_by(its)), said.share(search.passage.words[i]), -search.distance(i))
            for i, its in enumerate(numbers)
            if i not in quoted and mine.held_by(its)
        }
        best = max(held, key=lambda i: held[i], default=None)
        if best is not None and best not in more and held[best][1] >= _OF_CLAUSE:
            more.append(best)
    return more[:_MOST_NUMBERS]


def _clauses(sentence: str) -> list[str]:
    """Return the clauses with a number, short ones with those before them."""
    found: list[str] = []
    topic = ""
    for clause in _CLAUSE.split(sentence):
        whole = clause if len(wording(clause)) >= _FEW_WORDS else f"{topic}，{clause}"
        if _has_numbers(clause):
            found.append(whole)
        topic = NUMBER.sub("，", whole)
    return found


def _has_numbers(text: str) -> bool:
    numbers = Numbers.of(text)
    return bool(numbers.quantities or numbers.dates)


@dataclass(frozen=True, slots=True)
class _Search:
    """A sentence looked for in a passage."""

    said: "_Wanted"
    asked: "_Wanted"
    here: list[frozenset[str]]
    passage: Searched
    near: int | None

    @classmethod
    def of(cls, sentence: str, question: str, passage: Searched, near: int | None) -> "_Search":
        numbers, of_question = Numbers.of(sentence), Numbers.of(question)
        here = [
            in_words | numbers.held_by(its) | of_question.held_by(its, _OF_QUESTION)
            for in_words, its in zip(passage.words, passage.numbers, strict=True)
        ]
        n = Counter(feature for features in here for feature in features)
        said = _Wanted.of(said_features(sentence), n, len(here))
        wanted = _Wanted.of(asked_features(question), n, len(here))
        return cls(said, wanted, here, passage, near)

    def held(self, first: int, last: int) -> frozenset[str]:
        return frozenset[str]().union(*self.here[first : last + 1])

    def worded(self, held: frozenset[str]) -> float:
        """Return the share of the sentence's words that are covered."""
        words_only = _Wanted({f: w for f, w in self.said.weights.items() if f[0] != NUMBER_MARK})
        if not words_only.weights:
            return 1.0
        return words_only.share(held)

    def bears(self, index: int, held: frozenset[str]) -> bool:
        """Return whether a neighbour adds words, or is too short to be about something else."""
        its = self.passage.words[index]
        return len(its) < _FEW_WORDS or any(f in its for f in self.said.weights.keys() - held)

    def score(self, first: int, last: int, covered: frozenset[str]) -> float:
        held = self.held(first, last)
        above = self.passage.above[first] - held
        return (
            self.said.share(held | covered)
            + _ASKED_WEIGHT * self.asked.share(held)
            + _ABOVE_WEIGHT * (self.said.share(above) + _ASKED_WEIGHT * self.asked.share(above))
        )

    def distance(self, index: int) -> int:
        start, end = self.passage.places[index]
        return 0 if self.near is None else abs((start + end) // 2 - self.near)

    def widened(self, covered: frozenset[str]) -> tuple[int, int]:
        """Return (first, last) of the neighbouring sentences that add most to what is covered."""
        first = last = max(
            range(len(self.here)),
            key=lambda i: (round(self.score(i, i, covered), _TIE), -self.distance(i), -i),
        )
        while last - first + 1 < _MOST:
            held = self.held(first, last)
            around = ((first - 1, last), (first, last + 1))
            wider = [
                (f, z)
                for f, z in around
                if f >= 0 and z < len(self.here) and self.bears(f if f < first else z, held)
            ]
            before = self.score(first, last, covered)
            gains = [(self.score(f, z, covered) - before, -f, z) for f, z in wider]
            if not gains or max(gains)[0] < _GAIN:
                break
            _, minus_first, last = max(gains)
            first = -minus_first
        return first, last


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The features to find, weighted by how few sentences have them."""

    weights: dict[str, float]

    @classmethod
    def of(cls, features: frozenset[str], n: Counter[str], of: int) -> "_Wanted":
        return cls({f: _weight(f, n[f], of) for f in features})

    def share(self, held: frozenset[str]) -> float:
        total = math.fsum(self.weights.values())
        got = math.fsum(map(self.weights.__getitem__, self.weights.keys() & held))  # in any order
        return got / total if total else 0.0


def _weight(feature: str, n: int, of: int) -> float:
    """Return the weight of a feature that n sentences have; low for wording that none has."""
    if feature.startswith(NUMBER_MARK):
        return _NUMBER_WEIGHT * math.log(1 + of / max(1, n))
    return math.log(1 + of / (n or of))
