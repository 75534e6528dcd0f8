"""Find the sentences of a passage that support a sentence of an answer."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.generation.sentences import joined_spans
from kgrag.text import character_pairs, is_latin, normalize, words

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NUMBER_WEIGHT = 3.0  # of a number, against 1 for a pair of characters
_ASKED_WEIGHT = 0.3  # of the question's words
_GAIN = 0.15  # of the sentence's features, for which a neighbour is quoted, too
_GAIN_ELSEWHERE = 0.2  # the same for sentences that stand apart
_MOST_SPANS = 3  # quotes from one passage for one sentence
_MOST = 5  # sentences in a quote


@dataclass(frozen=True, slots=True)
class Support:
    """Where a passage supports a sentence.

    Attributes:
        spans: (start, end) in the document's text, in its order; at least one.
        share: Of the sentence's numbers, words and pairs of characters that stand there, the
            rare ones counting more, in [0, 1].
    """

    spans: tuple[tuple[int, int], ...]
    share: float


def find_support(
    sentence: str, text: str, *, question: str = "", offset: int = 0, seen: str | None = None
) -> Support:
    """Return the sentences of a text that support a sentence best.

    The best one is found by the numbers and the pairs of characters (words, in English) that it
    shares; neighbours are added while each brings enough of what is still missing, then
    sentences elsewhere that bring more yet. Where nothing is shared, it is the first sentence,
    with a share of 0.

    Args:
        sentence: Of an answer, without [n].
        text: Of a passage, as in the document.
        question: What was asked; tells where an answer of few words (昆明市。) stands.
        offset: Where the text begins in the document.
        seen: The text as it was shown, where it was compressed: what was not shown supports
            nothing.
    """
    places = _trimmed(text)
    if seen is not None:
        places = [p for p in places if text[p[0] : p[1]] in seen] or places
    if not places:
        return Support(((offset, offset + len(text)),), 0.0)
    here = [_features(text[start:end]) for start, end in places]
    said, asked = _Wanted.of(sentence, here), _Wanted.of(question, here)
    found: list[tuple[int, int]] = []
    covered = frozenset[str]()
    while len(found) < _MOST_SPANS:
        first, last = _widened(here, said, asked, covered)
        new = covered.union(*here[first : last + 1])
        if found and said.share(new) - said.share(covered) < _GAIN_ELSEWHERE:
            break
        found.append((first, last))
        covered = new
    spans = tuple(
        (offset + places[first][0], offset + places[last][1]) for first, last in sorted(found)
    )
    return Support(spans, said.share(covered))


def _widened(
    here: Sequence[frozenset[str]], said: "_Wanted", asked: "_Wanted", covered: frozenset[str]
) -> tuple[int, int]:
    """Return (first, last) of the neighbouring sentences that add most to what is covered."""

    def score(first: int, last: int) -> float:
        held = frozenset[str]().union(*here[first : last + 1])
        return said.share(held | covered) + _ASKED_WEIGHT * asked.share(held)

    best = max(range(len(here)), key=lambda i: (score(i, i), -i))
    first = last = best
    while last - first + 1 < _MOST:
        around = ((first - 1, last), (first, last + 1))
        wider = [(f, z) for f, z in around if f >= 0 and z < len(here)]
        gains = [(score(f, z) - score(first, last), -f, z) for f, z in wider]
        if not gains or max(gains)[0] < _GAIN:
            break
        _, minus_first, last = max(gains)
        first = -minus_first
    return first, last


def _trimmed(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of sentences without the blanks around them; bare marks are none."""
    spans = []
    for start, end in joined_spans(text):
        piece = text[start:end]
        if re.search(r"\w", piece):
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return spans


def _features(text: str) -> frozenset[str]:
    """Return the numbers (marked #) and the words or pairs of characters of a text."""
    parts = words(text) if is_latin(text) else character_pairs(text)
    return frozenset(parts) | {f"#{number}" for number in _NUMBER.findall(normalize(text))}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The features that are looked for, and what each counts: more where few sentences have it."""

    weights: dict[str, float]

    @classmethod
    def of(cls, text: str, here: Sequence[frozenset[str]]) -> "_Wanted":
        n = Counter(feature for features in here for feature in features)
        return cls({f: _weight(f, n[f], len(here)) for f in _features(text)})

    def share(self, held: frozenset[str]) -> float:
        total = sum(self.weights.values())
        return sum(w for f, w in self.weights.items() if f in held) / total if total else 0.0


def _weight(feature: str, n: int, of: int) -> float:
    """Return what a feature counts that n sentences have; wording that none has counts little."""
    if feature.startswith("#"):
        return _NUMBER_WEIGHT * math.log(1 + of / max(1, n))
    return math.log(1 + of / (n or of))
