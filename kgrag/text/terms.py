"""Find the words of a lexicon in a text: one pass, longest match from the left."""

import functools
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

import ahocorasick_rs

from kgrag.text.words import WordEnds

Tags = frozenset[str]
HALF = re.compile("[\ud800-\udfff]")  # halves of characters, which no decoded text has
_LETTER = re.compile("[a-z]", re.IGNORECASE)


_MOVES = frozenset(("up", "down"))
_TO = frozenset("至到为")


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the lexicon in a text.

    Attributes:
        start: Offset of its first character.
        end: Offset after the last.
        tags: Its tags.
    """

    start: int
    end: int
    tags: Tags


class Lexicon:
    """Words with their tags.

    Args:
        tags: Tags of each word; a word without any masks the words inside it: 建成区 is not 建成.
    """

    def __init__(self, tags: Mapping[str, Tags]) -> None:
        self._words = list(tags)
        self._tags = list(tags.values())
        self._automaton = ahocorasick_rs.AhoCorasick(
            self._words, matchkind=ahocorasick_rs.MatchKind.LeftmostLongest
        )

    @classmethod
    def from_toml(cls, text: str, *, table: str = "terms") -> "Lexicon":
        """Parse a lexicon: a table of words by tag, `[plain]` masking words.

        Words are separated by blanks; _ stands for a blank in one.
        """
        told = tomllib.loads(text)
        tags: dict[str, set[str]] = defaultdict(set)
        for tag, words in told[table].items():
            for word in words.split():
                tags[word.replace("_", " ")].add(tag)
        for word in told["plain"]["words"].split():
            tags.setdefault(word, set())
        return cls({word: frozenset(found) for word, found in tags.items()})

    def tag_sets(self) -> frozenset[Tags]:
        """Return the distinct tag sets of the words."""
        return frozenset(filter(None, self._tags))

    def words(self, tag: str) -> tuple[str, ...]:
        """Return the words that have a tag."""
        return tuple(w for w, tags in zip(self._words, self._tags, strict=True) if tag in tags)

    def terms(self, text: str) -> Iterator[Term]:
        """Yield the words in a text, in order, without overlap."""
        text = HALF.sub("\ufffd", text)
        words = WordEnds(text)
        for number, start, end in self._automaton.find_matches_as_indexes(text):
            if not self._tags[number]:
                continue
            if text[start].isalpha() and text[start].isascii():  # no part of another word
                if _LETTER.match(text, max(0, start - 1), start) or _LETTER.match(text, end):
                    continue
            elif end - start == 1 and not text[start].isascii():
                begins, ends = words.around(start)
                after = text[end : end + 1]  # a segmenter reads 占|比降|至, where 降 is meant
                moves = after in _TO and _MOVES & self._tags[number]
                if not moves and (not ends or not (begins or after.isdigit())):
                    continue
            yield Term(start, end, self._tags[number])


@functools.cache
def statement_terms() -> Lexicon:
    """Return the lexicon of statements (`terms.toml`)."""
    return Lexicon.from_toml(
        resources.files("kgrag.text").joinpath("terms.toml").read_text(encoding="utf-8")
    )
