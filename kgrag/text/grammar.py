"""A grammar defined in TOML: patterns over the spans of a text, word lists, examples."""

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
    """Patterns and words for one kind of statement.

    `[patterns]` by name: {tag} matches a span with this tag, <name> another pattern, @name a list
    of `vocabulary.toml`; `[plain_patterns]` are over plain text. `[words]` are lists separated by
    blanks, `[terms]` and `[plain]` the lexicon (`kgrag.text.terms`), by default that of all
    statements. `[examples]` are run by the tests: "text => what the pattern finds". All tables of
    the file are in `told`.

    Args:
        text: Content of the file.
        tags: Tag sets of spans other than words, each a string of tags separated by blanks.
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
        """Load the grammar of a file in a package."""
        return cls(resources.files(package).joinpath(file).read_text("utf-8"), tags=tags)

    def pattern(self, name: str) -> re.Pattern[str]:
        """Return a compiled pattern over tagged text."""
        return self.compile(f"<{name}>")

    def _compile(self, pattern: str) -> re.Pattern[str]:
        return self._alphabet.compile(self._whole(pattern))

    def _whole(self, pattern: str) -> str:
        pieces = self.told.get("patterns", {}) | self.told.get("plain_patterns", {})
        whole = _PIECE.sub(lambda named: f"(?:{self._whole(pieces[named[1]])})", pattern)
        return _LIST.sub(lambda named: f"(?:{either(named[1])})", whole)

    def words(self, name: str) -> tuple[str, ...]:
        """Return a word list, or the words of the lexicon with this tag."""
        return self._words[name] if name in self._words else self.lexicon.words(name)

    def tagged(self, text: str, *layers: Iterable[Span]) -> Tagged:
        """Tag a text with spans; of overlapping ones the earlier layer wins, words come last."""
        terms = (Span(t.start, t.end, t.tags) for t in self.lexicon.terms(text))
        return Tagged(text, merged(*layers, terms), self._alphabet)
