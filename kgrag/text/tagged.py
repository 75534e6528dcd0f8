"""Regular expressions over tagged spans.

As in NLTK's chunk grammars and TokensRegex, each span becomes one character that encodes its tags,
a pattern over tags one over characters, which `re` then matches.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgrag.text.terms import HALF, Tags

# Halves of characters, which no decoded text has; a font's own marks stand in the private planes.
_FIRST, _LAST = 0xD800, 0xDFFF
_TAG = re.compile(r"\{([a-z_]+(?:\|[a-z_]+)*)\}")


@dataclass(frozen=True, slots=True)
class Span:
    """A tagged span of a text.

    Attributes:
        start: Offset of its first character.
        end: Offset after the last.
        tags: Its tags.
        value: Its parsed value; None for a word.
    """

    start: int
    end: int
    tags: Tags
    value: object = None


class Alphabet:
    """One character for each set of tags that a span may have.

    Args:
        sets: All of them.

    Raises:
        ValueError: If there are more sets than private-use characters.
    """

    def __init__(self, sets: Iterable[Tags]) -> None:
        ordered = sorted(frozenset(sets), key=sorted)
        if len(ordered) > _LAST - _FIRST:
            raise ValueError(f"at most {_LAST - _FIRST} sets of tags, got {len(ordered)}")
        self._characters = {tags: chr(_FIRST + i) for i, tags in enumerate(ordered)}

    def character(self, tags: Tags) -> str:
        """Return the character of a set of tags."""
        return self._characters[tags]

    def compile(self, pattern: str) -> re.Pattern[str]:
        """Compile a pattern over tagged text: {up|down} is a span that has one of these tags.

        Raises:
            ValueError: If no span has a tag of the pattern.
        """
        return re.compile(_TAG.sub(lambda named: self._any(named[1].split("|")), pattern))

    def _any(self, wanted: Sequence[str]) -> str:
        known = {tag for tags in self._characters for tag in tags}
        if missing := set(wanted) - known:
            raise ValueError(f"no span has the tag {', '.join(sorted(missing))}")
        found = [c for tags, c in self._characters.items() if tags.intersection(wanted)]
        return f"[{''.join(found)}]"


class Tagged:
    """A text encoded by its spans.

    Args:
        text: Any; lone surrogates match no pattern.
        spans: In order, without overlap.
        alphabet: Of their tags.

    Attributes:
        text: As given.
        code: The same with one character for each span.
        at: Offset in `text` for every character of `code`, and for its end.
        spans: By their offset in `code`.
    """

    def __init__(self, text: str, spans: Sequence[Span], alphabet: Alphabet) -> None:
        self.text = text
        plain = HALF.sub("\ufffd", text)
        self.spans: dict[int, Span] = {}
        pieces: list[str] = []
        self.at: list[int] = []
        last = 0
        for span in spans:
            pieces.append(plain[last : span.start])
            self.at.extend(range(last, span.start))
            self.spans[len(self.at)] = span
            pieces.append(alphabet.character(span.tags))
            self.at.append(span.start)
            last = span.end
        pieces.append(plain[last:])
        self.at.extend(range(last, len(text) + 1))
        self.code = "".join(pieces)

    def words(self, start: int, end: int) -> str:
        """Return the text of `code[start:end]`."""
        return self.text[self.at[start] : self.at[end]]


def merged(*layers: Iterable[Span]) -> list[Span]:
    """Merge layers of spans in order; of overlapping spans the earlier layer wins."""
    taken: list[Span] = []
    for layer in layers:
        free: list[Span] = []
        i = 0
        for span in layer:
            while i < len(taken) and taken[i].end <= span.start:
                i += 1
            if i == len(taken) or span.end <= taken[i].start:
                free.append(span)
        taken = sorted([*taken, *free], key=lambda span: span.start)
    return taken
