"""A position in a list of tokens, and the statement as it is written anew."""

from collections.abc import Sequence

from kgrag.store.neo4j.gate.tokens import Token, written_name, written_text
from kgrag.store.neo4j.gate.vocabulary import RESERVED

MOST_NESTED = 12
# Measured with Neo4j 5.26: beyond these, planning takes seconds or minutes, and no timeout ends it
# (20 nested COUNT {}: 151 s; 700 times `||` or [0..]: more than 120 s; 60 relationships: 20 s).
LABELS = "| of labels and labels in conditions"
FREE = "relationships without a type"
_MOST_TIMES = {
    "XOR": 8,
    "CASE": 40,
    "NOT": 50,
    "RELATIONSHIP": 16,
    "NODE": 24,
    "SUBQUERY": 12,
    # The planner multiplies (A|B) & (C|D) & ... out: 25 of them filled a heap of 1 GB.
    "& and ! of labels": 8,
    LABELS: 12,
    "| of types": 24,
    # Each multiplies by all that hangs at a node: (a)--(b)--… of ten nodes took 8 minutes.
    FREE: 4,
}
_MOST_OPERATORS = 120
_OPENING = {"(": ")", "[": "]", "{": "}"}
_SHOWN = 40  # characters of the place that an error shows


class Cursor:
    """Reads the tokens of a statement one by one and writes what it has read."""

    def __init__(self, text: str, found: Sequence[Token]) -> None:
        self.text = text
        self.found = found
        self.at = 0
        self.out: list[str] = []
        self.names: list[str] = []
        self._nested = 0
        self._times: dict[str, int] = {}

    def near(self, ahead: int = 0) -> Token:
        """Return the token here, or so many further on."""
        place = self.at + ahead
        end = Token("end", "", len(self.text), len(self.text))
        return self.found[place] if place < len(self.found) else end

    def sees(self, *keywords: str) -> bool:
        """Return whether these words and signs come next."""
        return all(self.near(i).keyword == word for i, word in enumerate(keywords))

    def take(self, *keywords: str) -> bool:
        """Read these words and signs if they come next; return whether they did."""
        if not self.sees(*keywords):
            return False
        for word in keywords:
            self._nest(word)
            self.out.append(word)
        self.at += len(keywords)
        return True

    def expect(self, *keywords: str) -> None:
        """Read these words and signs; refuse anything else."""
        for word in keywords:
            if not self.take(word):
                raise self.error(f"{word} is expected here")

    def one_of(self, *keywords: str) -> str:
        """Read one of these words or signs if it comes next; return it, or an empty text."""
        return next((word for word in keywords if self.take(word)), "")

    def take_name(self, what: str, *, any_word: bool = False) -> str:
        """Read a name and return it.

        Args:
            what: It names, for the error.
            any_word: Whether keywords are allowed, since only a name can follow.
        """
        token = self.near()
        if not token.name:
            raise self.error(f"the name of {what} is expected here")
        if not any_word and token.keyword in RESERVED:
            raise self.refused_word(token)
        self.at += 1
        self.names.append(token.name)
        self.out.append(written_name(token.name))
        return token.name

    def take_text(self) -> str:
        """Read a text and return it."""
        token = self.near()
        if token.kind != "text":
            raise self.error("a text in quotes is expected here")
        self.at += 1
        self.out.append(written_text(token.value))
        return token.value

    def take_whole(self, what: str, most: int, *, least: int = 0) -> int:
        """Read a whole number within limits and return it."""
        token = self.near()
        if token.kind != "number" or not token.value.isdecimal():
            raise self.error(f"{what} must be a whole number, written out, up to {most}")
        if not least <= int(token.value) <= most:
            raise ValueError(f"{what} is {token.value}: give it {least} to {most}")
        self.at += 1
        self.out.append(token.value)
        return int(token.value)

    def skip(self) -> Token:
        """Read a token without writing it."""
        self.at += 1
        return self.near(-1)

    def dotted(self) -> str:
        """Return the name with dots that comes next, without reading it."""
        names = [self.near(place).name for place in range(0, self.dotted_length(), 2)]
        return ".".join(part.replace(".", " ") for part in names)

    def dotted_length(self) -> int:
        """Return how many tokens the name with dots has that comes next."""
        length = 1
        while self.near(length).keyword == "." and self.near(length + 1).name:
            length += 2
        return length

    def take_dotted(self, name: str) -> None:
        """Read a name with dots and write it as it is known."""
        self.at += self.dotted_length()
        self.out.append(name)

    def closing(self, ahead: int = 0) -> int:
        """Return how far ahead the bracket at an offset is closed, or 0."""
        depth = 0
        for place in range(ahead, len(self.found) - self.at):
            sign = self.near(place).keyword
            depth += (sign in _OPENING) - (sign in _OPENING.values())
            if depth == 0:
                return place
        return 0

    def count(self, what: str) -> None:
        """Count what makes the server plan for long; refuse too many."""
        self._times[what] = self._times.get(what, 0) + 1
        most = _MOST_TIMES.get(what, _MOST_OPERATORS)
        if self._times[what] > most:
            raise ValueError(f"it holds {what} more than {most} times: ask for less at once")

    def error(self, why: str) -> ValueError:
        """Return the error of the current token."""
        token = self.near()
        if token.kind == "end":
            return ValueError(f"{why}, but the statement ends")
        where = " ".join(self.text[token.start : token.start + _SHOWN].split())
        return ValueError(f"{why}, at {where!r} (character {token.start + 1})")

    def refused_word(self, word: Token) -> ValueError:
        """Return the error of a keyword that is not allowed here."""
        return self.error(
            f"{word.value} is refused: only reading is allowed; a name is written `{word.value}`"
        )

    def _nest(self, sign: str) -> None:
        if sign in _OPENING:
            self._nested += 1
        elif sign in _OPENING.values():
            self._nested -= 1
        if self._nested > MOST_NESTED:
            raise ValueError(f"its brackets are nested more than {MOST_NESTED} deep: simplify it")
