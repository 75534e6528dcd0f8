"""Calls of functions in Cypher, and regular expressions: what they take and may give."""

from abc import abstractmethod

from kgrag.store.neo4j.gate.cursor import Size
from kgrag.store.neo4j.gate.lists import TOO_LARGE, Lists
from kgrag.store.neo4j.gate.regular import MOST_COMPARED, MOST_STEPS, most_steps, too_slow
from kgrag.store.neo4j.gate.tokens import written_text
from kgrag.store.neo4j.gate.vocabulary import FUNCTIONS, SCALAR

_MOST_IN_RANGE = 100_000
_TRIMMED = ("BOTH", "LEADING", "TRAILING")
BOOLEAN = ("AND", "OR", "XOR")
_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


class Calls(Lists):
    """Reads calls."""

    def pattern_follows(self, ahead: int = 0) -> bool:
        """Say whether a bracket opens a pattern, as `(a)-[:CITES]->(b)`."""
        if self.near(ahead).keyword != "(":
            return False
        first, second = self.near(ahead + 1), self.near(ahead + 2).keyword
        if first.keyword not in (")", ":", "{", "(") and not (
            first.name and second in (")", ":", "{", "WHERE", "IS")
        ):
            return False
        after = self.closing(ahead) + 1
        after += self.near(after).keyword == "<"
        return self.near(after).keyword == "-" and self.near(after + 1).keyword in ("-", "[")

    @abstractmethod
    def operator(self) -> str:
        """Read the operator that comes next, if one does."""

    def call(self, parts: int) -> Size:
        """Read the call of a function of so many tokens."""
        names = [self.near(place).name for place in range(0, parts, 2)]
        name = ".".join(part.replace(".", " ") for part in names)
        if name.lower() not in FUNCTIONS:
            raise self.error(
                f"the function {name} is refused: use Neo4j's own functions of the graph"
            )
        for _ in range(parts):
            self.skip()
        self.out.append(name.lower())
        return self._arguments(name.lower())

    def _arguments(self, name: str) -> Size:
        self.expect("(")
        if name == "range":
            return self._range()
        if name == "exists":
            return self._exists()
        if name == "split" and self.loop == "body":
            raise self.error(f"{name}(…) for each item of a list is refused: use UNWIND")
        sizes: list[Size] = []
        if name == "count" and self.take("*"):
            self.expect(")")
            return Size()
        if name == "trim":
            self._trimmed()
        self.take("DISTINCT")
        while not self.sees(")"):
            if name == "replace" and len(sizes) == 2:
                sizes.append(self._replacement(sizes[0]))
            elif name == "normalize" and sizes and self.one_of(*_FORMS):
                pass
            else:
                sizes.append(self.expression())
            if not self.take("FROM" if name == "trim" and self.sees("FROM") else ","):
                break
        self.expect(")")
        return self._given(name, sizes)

    def _given(self, name: str, sizes: list[Size]) -> Size:
        """Return the size of what a function gives for values of these sizes."""
        weight = max([1, *(size.weight for size in sizes)])
        depth = max([0, *(size.depth for size in sizes)])
        if name in SCALAR:
            return Size()
        if name == "collect":
            depth += 1
        elif name in ("split", "nodes", "relationships", "keys", "tostringlist"):
            depth = max(depth, 1)
        elif name in ("head", "last"):
            depth = max(depth - 1, 0)
        return self.grown(Size(weight, depth))

    def _exists(self) -> Size:
        if not self.pattern_follows():
            raise self.error("exists(…) takes a pattern: for a property write IS NOT NULL")
        self.no_pattern()
        self.path()
        self.expect(")")
        return Size()

    def _trimmed(self) -> None:
        if self.one_of(*_TRIMMED):
            self.take("FROM")

    def _replacement(self, size: Size) -> Size:
        """Read what `replace` puts in: every character may become as much."""
        if self.near().kind != "text":
            raise self.error("the third argument of replace must be one text")
        text = self.take_text()
        return self.grown(Size(size.weight * max(1, len(text))))

    def _range(self) -> Size:
        """Read range(first, last, step) up to its end: literals and sizes.

        Raises:
            ValueError: If it may hold too many numbers.
        """
        if self.loop == "body":
            raise self.error("range(…) for each item of a list is refused: use UNWIND")
        first = self._bound()
        self.expect(",")
        last = self._bound()
        if self.take(","):
            self._bound()
        self.expect(")")
        if first is not None and last is not None and abs(last - first) > _MOST_IN_RANGE:
            raise ValueError(f"range(...) holds more than {_MOST_IN_RANGE} numbers: ask for fewer")
        return Size(1, 2)  # the server keeps two numbers for it: lists of it count as nothing

    def _bound(self) -> int | None:
        """Read an end of a range, as `size(r.doc_ids) - 1`; return it where it is written."""
        sign = -1 if self.take("-") else 1
        value: int | None = None
        if self.near().keyword in ("SIZE", "LENGTH") and self.near(1).keyword == "(":
            self._measure()
        else:
            value = sign * self.take_whole("an end of range(...)", _MOST_IN_RANGE)
        if self.one_of("+", "-"):
            self.take_whole("an end of range(...)", _MOST_IN_RANGE)
            value = None
        return value

    def _measure(self) -> None:
        """Read size(a.b) or length(p)."""
        self.out.append(self.skip().value.lower())
        self.expect("(")
        self.take_name("a list")
        while self.take("."):
            self.take_name("a property", any_word=True)
        self.expect(")")

    def matched(self, start: int) -> str:
        """Read the right side of =~; the left side is written from `start` on.

        Returns:
            The operator that follows, if one does.
        """
        self._regex(start)
        sign = self.operator()
        if sign and sign not in BOOLEAN:
            raise self.error("the right side of =~ must be one text: use CONTAINS")
        return sign

    def _regex(self, start: int) -> None:
        if self.loop:
            raise self.error("=~ within a list expression is refused: use CONTAINS, or UNWIND")
        if self.near().kind != "text":
            raise self.error("the right side of =~ must be one text: use CONTAINS for other values")
        sign = self.out.pop()
        raised = f"> {MOST_COMPARED} THEN toString ( date ( {written_text(TOO_LARGE)} ) )"
        self.guard(start, raised, "size ( toStringOrNull ( {} ) )")
        self.out.append(sign)
        pattern = self.take_text()
        self.steps += most_steps(pattern)
        if self.steps > MOST_STEPS:
            raise too_slow(pattern)
