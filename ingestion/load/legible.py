"""Whether a text can be read, measured without a model: its characters, and its words."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from kgrag.text.messages import Message, message
from kgrag.text.words import word_boundaries
from kgrag.types import Segment

_FEWEST = 50  # characters that are judged
_MOST = 100_000  # of a text without pages
_ODD = {"Co", "Cn", "Cs"}
_MOST_OF_ONE = 20  # of one odd character that count: a contents page has hundreds of one dot
_MOST_ODD = 0.05  # share; on 228 pages of 34 PDF files and in 255 texts 0.004 at most
_GARBAGE_ODD = 0.35
# Rare characters are 0.04 of those of a page at most (7,489 pages and parts of texts; 0.11 of 28 in
# a table), pairs of marks 0.09 (7,819; of pages with templates). Where a map is wrong 0.6 and 0.2.
_MOST_RARE, _MOST_MARKS = 0.25, 0.15
_FEWEST_HAN = 20
_MARK_PAIR = re.compile(r"([!-/:-@\[-`{-~])(?!\1)(?=[!-/:-@\[-`{-~])")
_RUN = re.compile("[\u4e00-\u9fff]{5,}")  # shorter ones are names and figures of lists and tables
_FEWEST_IN_RUNS = 100
# Share of Chinese characters in words of two or more: on the same pages 0.81 and more; with 20 % of
# the characters exchanged 0.49 to 0.68, with 30 % 0.59 and less. Where a map has exchanged all of
# them 0.21 and less on 99 of 100 pages; names of persons without anything between them 0.24.
_LEAST_IN_WORDS = 0.6
_GARBAGE_IN_WORDS = 0.2
# The dictionary has few words in traditional characters: such text is known by these.
_TRADITIONAL = frozenset("為與國學會對這說來時個們過發經現實後點從關開應當體業產")
_MOST_TRADITIONAL = 0.03
# What stands in a number and only its font knows: a point, a minus.
_IN_NUMBER = re.compile(r"(?<=\d)[\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff](?=\d)")
_DIGITS = re.compile(r"\d+")
_AROUND = 4  # digits of a number that are shown before and after the character
# Templates of warnings, which problems of their own kind are made of.
_CHARACTERS = (
    "text not readable on {pages}: up to {percent} % of the characters are private-use, "
    "unassigned or replacement characters; {remedy}"
)
_WORDS = (
    "text not readable on {pages}: only {percent} % of the Chinese characters are in words, in "
    "other documents 80 % and more; {remedy}"
)
_NUMBERS = (
    "numbers with an unknown character ({signs}), which only the font shows, such as {number}: "
    "{n}; compare them with the original"
)
ILLEGIBLE = (_CHARACTERS, _WORDS, _NUMBERS)
_REMEDY = message("compare it with the original; export that anew, or scan it at 300 dpi")


@dataclass(frozen=True, slots=True)
class Legibility:
    """How well a text can be read, as shares from 0 to 1.

    Attributes:
        odd: Private-use, unassigned, replacement and control characters among the visible ones.
        in_words: Chinese characters in words of two or more; 1 where there are too few to judge, 0
            where the characters are not those of any text.
    """

    odd: float = 0.0
    in_words: float = 1.0

    @classmethod
    def of(cls, text: str) -> "Legibility":
        """Measure a text; less than 50 characters are always legible."""
        shown = [c for c in text if not c.isspace()]
        if len(shown) < _FEWEST:
            return cls()
        odd = Counter(
            c for c in shown if c == "\ufffd" or c < " " or unicodedata.category(c) in _ODD
        )
        in_words = 0.0 if _is_strange(text) else _in_words(text)
        return cls(sum(min(n, _MOST_OF_ONE) for n in odd.values()) / len(shown), in_words)

    @property
    def is_garbage(self) -> bool:
        """Whether nothing of it can be read; poor OCR is not garbage."""
        return self.odd > _GARBAGE_ODD or self.in_words < _GARBAGE_IN_WORDS


def illegible(text: str, segments: Iterable[Segment], remedy: str = "") -> list[Message]:
    """Return warnings about pages that cannot be read, and about numbers with unknown characters.

    Args:
        text: Of a document.
        segments: Its pages, if it has any.
        remedy: Instead of looking at the original.
    """
    pages = [(s.number, text[s.start : s.end]) for s in segments if s.kind == "page"]
    measured = [(n, Legibility.of(part)) for n, part in pages or [(0, text[:_MOST])]]
    found = []
    odd = {n: each.odd for n, each in measured if each.odd > _MOST_ODD}
    if odd:
        found.append(_warning(_CHARACTERS, odd, max(odd.values()), remedy))
    strange = {n: m.in_words for n, m in measured if m.in_words < _LEAST_IN_WORDS and n not in odd}
    if strange:
        found.append(_warning(_WORDS, strange, min(strange.values()), remedy))
    return found + _numbers(text)


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers of pages, neighbours together.

    >>> ranges([1, 3, 4, 5, 9])
    '1, 3-5, 9'
    """
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][-1] == number - 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number])
    return ", ".join("-".join(map(str, one)) for one in found)


def _warning(said: str, pages: Iterable[int], share: float, remedy: str) -> Message:
    numbers = [page for page in pages if page]
    shown = message("pages {pages}", pages=ranges(numbers)) if numbers else message("all pages")
    values = {"pages": shown, "percent": round(100 * share), "remedy": remedy or _REMEDY}
    return Message(said, values)


def _numbers(text: str) -> list[Message]:
    """Return a warning about numbers with a character that only their font knows."""
    places = [match.start() for match in _IN_NUMBER.finditer(text)]
    if not places:
        return []
    first, sign = places[0], text[places[0]]
    before = _DIGITS.findall(text[max(0, first - _AROUND) : first])[-1]
    behind = _DIGITS.findall(text[first + 1 : first + 1 + _AROUND])[0]
    return [
        message(
            _NUMBERS,
            signs=", ".join(sorted({f"U+{ord(text[at]):04X}" for at in places})),
            number=f"{before}⟨U+{ord(sign):04X}⟩{behind}",
            n=len(places),
        )
    ]


def _is_strange(text: str) -> bool:
    """Return whether Chinese characters are rare ones, or marks of ASCII follow each other.

    So look fonts whose map has letters as rare characters (犐犆犛), or Chinese as codes (!"#$).
    """
    counts = {c: n for c, n in Counter(text).items() if "\u4e00" <= c <= "\u9fff"}
    n_rare = sum(n for character, n in counts.items() if not _is_common(character))
    if n_rare > _MOST_RARE * max(_FEWEST_HAN, sum(counts.values())):
        return True
    n_shown = sum(map(len, text.split()))
    return n_shown >= _FEWEST and len(_MARK_PAIR.findall(text)) > _MOST_MARKS * n_shown


@lru_cache(maxsize=30_000)
def _is_common(character: str) -> bool:
    """Return whether a character is of the first level of GB/T 2312 or of Big5: the common ones."""
    for encoding, first, last in (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6)):
        code = character.encode(encoding, "ignore")
        if code and first <= code[0] <= last:
            return True
    return False


def _in_words(text: str) -> float:
    """Return the share of Chinese characters that are in a word of two or more."""
    runs = "\n".join(_RUN.findall(text))
    n = len(runs) - runs.count("\n")
    if n < _FEWEST_IN_RUNS or sum(c in _TRADITIONAL for c in runs) > _MOST_TRADITIONAL * n:
        return 1.0
    lengths: Sequence[int] = [b - a for a, b in pairwise(sorted(word_boundaries(runs)))]
    return sum(length for length in lengths if length > 1) / n
