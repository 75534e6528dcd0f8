"""A grammar told by a TOML file: patterns over the spans of a text, lists of words, examples."""

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Any

from kgrag.text.tagged import Alphabet, Span, Tagged, merged
from kgrag.text.terms import Lexicon, statement_terms
from kgrag.text.vocabulary import either

_PIECE = re.compile(r"(?<!\?P)<([a-z_]+)>")
_LIST = re.compile("@([a-z_]+)")


class Grammar:
    """The patterns and words that a kind of statement is read by.

    `[patterns]` by name: {tag} is a span that says so, <name> another pattern, @name a list of
    `vocabulary.toml`. `[words]` are lists
    with blanks between, `[terms]` and `[plain]` the lexicon as `kgrag.text.terms` has it, that of
    all statements where the file has none. `[examples]` are read by the tests: "text => what the
    pattern finds". What else a file has is in `told`.

    Args:
        text: The file.
        tags: The sets of tags of spans that are no words, blanks between the tags of one.
    """

    def __init__(self, text: str, *, tags: Iterable[str] = ()) -> None:
        self.told: dict[str, Any] = tomllib.loads(text)
        self.lexicon = Lexicon.from_toml(text) if "terms" in self.told else statement_terms()
        self._alphabet = Alphabet(
            [*self.lexicon.tag_sets(), *(frozenset(each.split()) for each in tags)]
        )
        self._words = {
            name: tuple(words.split()) for name, words in self.told.get("words", {}).items()
        }
        self.compile = lru_cache(maxsize=None)(self._compile)

    @classmethod
    def load(cls, package: str, file: str, *, tags: Iterable[str] = ()) -> "Grammar":
        """Return the grammar of a file that lies in a package."""
        return cls(resources.files(package).joinpath(file).read_text("utf-8"), tags=tags)

    def pattern(self, name: str) -> re.Pattern[str]:
        """Return a pattern over tagged text by its name."""
        return self.compile(f"<{name}>")

    def _compile(self, pattern: str) -> re.Pattern[str]:
        return self._alphabet.compile(self._whole(pattern))

    def _whole(self, pattern: str) -> str:
        pieces = self.told.get("patterns", {})
        whole = _PIECE.sub(lambda named: f"(?:{self._whole(pieces[named[1]])})", pattern)
        return _LIST.sub(lambda named: f"(?:{either(named[1])})", whole)

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of words, or those of the lexicon that have a tag."""
        return self._words[name] if name in self._words else self.lexicon.words(name)

    def tagged(self, text: str, *layers: Iterable[Span]) -> Tagged:
        """Return a text with its spans; where two overlap, that of the layer before, words last.

        Args:
            text: Any.
            layers: Numbers, times and what else was read in it, each in order.
        """
        terms = (Span(t.start, t.end, t.tags) for t in self.lexicon.terms(text))
        return Tagged(text, merged(*layers, terms), self._alphabet)
