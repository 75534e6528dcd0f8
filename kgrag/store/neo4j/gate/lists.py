"""List expressions of Cypher: comprehensions, any, all, none, single, reduce.

No timeout ends one: the server looks at the clock between rows. So none may stand within another,
match a pattern or hold a subquery, and the server itself stops where a list is too long.
"""

from abc import ABC, abstractmethod

from kgrag.store.neo4j.gate.cursor import ACCUMULATOR, MOST_LOOPED, Cursor, Size, larger
from kgrag.store.neo4j.gate.tokens import written_text

# What the server says where a bound is crossed while a statement runs: see `guard`.
TOO_LARGE = "kgrag: too large for one expression"


class Lists(Cursor, ABC):
    """Reads list expressions."""

    @abstractmethod
    def expression(self) -> Size:
        """Read an expression and return how large its value may be."""

    @abstractmethod
    def path(self) -> None:
        """Read the pattern of a path."""

    @abstractmethod
    def label_expression(self, *, bar: bool, types: bool = False) -> None:
        """Read labels; with `bar`, they may be parted by |."""

    @abstractmethod
    def subquery(self, kind: str) -> Size:
        """Read what stands between the braces of EXISTS, COUNT or COLLECT."""

    def no_pattern(self) -> None:
        """Refuse a pattern within a list expression, which the server would match for each item."""
        if self.loop:
            raise self.error(
                "a pattern within a list expression is refused: look for it before, in a clause of "
                "its own"
            )

    def pattern_comprehension(self, *, named: bool) -> Size:
        """Read `[(d)-[:CITES]->(x) | x.title]`; with `named`, a path has a name."""
        self.no_pattern()
        self.expect("[")
        if named:
            self.take_name("a path")
            self.expect("=")
        self.loop = "body"
        self.path()
        if self.take("WHERE"):
            self.expression()
        self.expect("|")
        size = self.expression()
        self.expect("]")
        self.loop = ""
        return self.grown(Size(size.weight, size.depth + 1))

    def comprehension(self) -> Size:
        """Read `[x IN list WHERE condition | value]`."""
        self._begin_loop()
        self.expect("[")
        item = self._source()
        if self.take("WHERE"):
            self.expression()
        size = self.expression() if self.take("|") else item
        self.expect("]")
        self.loop = ""
        return self.grown(Size(size.weight, size.depth + 1))

    def quantor(self, word: str) -> Size:
        """Read `any(x IN list WHERE condition)` and its like."""
        self._begin_loop()
        self.expect(word, "(")
        self._source()
        self.expect("WHERE")
        self.expression()
        self.expect(")")
        self.loop = ""
        return Size()

    def reduce(self) -> Size:
        """Read `reduce(sum = 0, x IN list | sum + x)`."""
        self._begin_loop()
        self.expect("REDUCE", "(")
        name = self.take_name("a value")
        self.expect("=")
        first = self.expression()
        self.expect(",")
        self._source()
        self.expect("|")
        before, self.sizes[name] = self.sizes.get(name, Size()), Size(ACCUMULATOR)
        body = self.expression()
        self.expect(")")
        self.loop = ""
        self.sizes[name] = before
        if body.weight // ACCUMULATOR > 1:
            raise self.error(f"reduce joins {name} with itself: use it once")
        weight = first.weight + MOST_LOOPED * (body.weight % ACCUMULATOR)
        return self.grown(Size(weight, max(first.depth, body.depth, 1)))

    def _begin_loop(self) -> None:
        if self.loop:
            raise self.error(
                "a list expression within another is refused: compute the inner one before, by "
                "WITH, or use UNWIND"
            )
        self.loop = "source"

    def _source(self) -> Size:
        """Read `x IN list` of a list expression and return the size of x."""
        name = self.take_name("an item")
        self.expect("IN")
        start, word = len(self.out), self.near().keyword
        simple = word in ("NODES", "RELATIONSHIPS") and self.near(3).keyword == ")"
        size = self.expression()
        if size.depth and not simple:
            self.guard(start, f"> {MOST_LOOPED} THEN [ date ( {written_text(TOO_LARGE)} ) ]")
        item = Size() if word == "RANGE" else Size(size.weight, max(size.depth - 1, 0))
        self.sizes[name] = larger(self.sizes.get(name, Size()), item)
        self.loop = "body"
        return item

    def guard(self, start: int, rest: str, measured: str = "size ( {} )") -> None:
        """Have the server stop with an error where the value written last is too large."""
        value = " ".join(self.out[start:])
        self.out[start:] = [f"CASE WHEN {measured.format(value)} {rest} ELSE {value} END"]
