"""Expressions of Cypher, and how large what they give may grow.

No timeout ends a single expression: the server looks at the clock between rows. So what one may do
is bounded before it is sent: lists that it goes through, texts that it joins, patterns that it
matches.
"""

from kgrag.store.neo4j.gate.calls import BOOLEAN, Calls
from kgrag.store.neo4j.gate.cursor import ACCUMULATOR, LABELS, Size, larger, total

_MOST_AFTER = 8  # reads of a property or item, one after the other
_COMPARED = ("=", "<>", "<", ">", "<=", ">=", "IN", "CONTAINS", "STARTS WITH", "ENDS WITH")
_JOINING = ("+", "||", "-")
_OF_NUMBERS = ("*", "/", "%", "^")
_CONSTANTS = ("TRUE", "FALSE", "NULL", "NAN", "INF", "INFINITY")
_QUANTORS = ("ANY", "ALL", "NONE", "SINGLE")
_SUBQUERIES = ("EXISTS", "COUNT", "COLLECT")
_MEASURED = ("SIZE", "HEAD", "LAST", "LENGTH", "ISEMPTY")


class Expressions(Calls):
    """Reads expressions."""

    def expression(self) -> Size:
        """Read an expression and return how large its value may be."""
        joined, term, truth = Size(0), Size(0), False
        start, sign = len(self.out), "AND"
        while True:
            while sign in BOOLEAN and self.take("NOT"):  # elsewhere the server calls a function so
                self.count("NOT")
                truth, start = True, len(self.out)
            while self.one_of("-", "+"):
                pass
            term = larger(term, self._operand())
            sign = self.operator()
            if sign not in _OF_NUMBERS:
                joined = self.grown(total(joined, term))
                term = Size(0)
            if not sign:
                return Size() if truth else joined
            if sign == "=~":
                sign = self.matched(start)
            if not sign:
                return Size()
            if sign in BOOLEAN or sign in _COMPARED:
                truth, start, joined = True, len(self.out), Size(0)

    def map_of_values(self) -> Size:
        """Read a map, as `{size: 256}`."""
        self.expect("{")
        size = Size()
        while not self.sees("}"):
            self.take_name("a key", any_word=True)
            self.expect(":")
            size = self._held(size, self.expression())
            if not self.take(","):
                break
        self.expect("}")
        return size

    def operator(self) -> str:
        """Read the operator that comes next, if one does."""
        while self.take("IS"):
            self.take("NOT")
            self.expect("NULL")
        sign = self.one_of(*BOOLEAN, *_COMPARED[:-2], "=~", *_JOINING, *_OF_NUMBERS)
        for word in ("STARTS", "ENDS"):
            if not sign and self.take(word, "WITH"):
                sign = f"{word} WITH"
        if sign:
            self.count("XOR" if sign == "XOR" else "operators")
        return sign

    def _operand(self) -> Size:
        """Read a value with what is read of it: `r.doc_ids[0]`."""
        bare = bool(self.near().name)
        size = self._value()
        bare = bare and self.near(-1).keyword != ")"
        if bare and self.sees("{"):
            size = self._projection(size)
        for _ in range(_MOST_AFTER):
            if self.take("."):
                self.take_name("a property", any_word=True)
            elif self.sees("["):
                size = self._item(size)
            else:
                break
        if self.sees("[") or self.sees("."):
            raise self.error(f"more than {_MOST_AFTER} reads follow each other: use WITH")
        if bare and self.sees(":"):
            self.count(LABELS)
            self.label_expression(bar=not self.loop)
            size = Size()
        return size

    def _value(self) -> Size:
        token = self.near()
        word = token.keyword
        if token.kind == "text":
            return Size(1 + len(self.take_text()) // 1000)
        if token.kind == "number":
            self.out.append(self.skip().value)
            return Size()
        if word == "(":
            return self._bracket()
        if word == "[":
            return self._list()
        if word == "{":
            return self.map_of_values()
        if word == "CASE":
            return self._case()
        if self.one_of(*_CONSTANTS):
            return Size()
        if word in _SUBQUERIES and self.near(1).keyword == "{":
            return self._nested_query(word)
        return self._named()

    def _named(self) -> Size:
        """Read what begins with a name: a call or a variable."""
        token = self.near()
        if self.near(1).keyword == "(" and token.name:
            word = token.keyword
            if word in _QUANTORS:
                return self.quantor(word)
            if word == "REDUCE":
                return self.reduce()
            if word in ("SHORTESTPATH", "ALLSHORTESTPATHS"):
                raise self.error(
                    f"{token.value} belongs to a pattern: write p = {token.value}(…) in MATCH"
                )
            return self.call(1)
        dots = 1
        while self.near(dots).keyword == "." and self.near(dots + 1).name:
            dots += 2
        if dots > 1 and self.near(dots).keyword == "(":
            return self.call(dots)
        return self._variable()

    def _variable(self) -> Size:
        if not self.near().name:
            raise self.error("a value is expected here")
        before, word = self.near(-1).keyword, self.near(-2).keyword
        size = self.sizes.get(self.take_name("a value"), Size())
        asked = before == "IN" or (before == "(" and word in _MEASURED) or self.sees("[")
        if self.loop == "body" and size.depth and not asked:
            raise self.error("a list is taken whole for each item of another: use UNWIND")
        return size

    def _item(self, size: Size) -> Size:
        """Read what stands in [ ] after a list: one item, or a part."""
        self.expect("[")
        whole = self.sees("..")
        if not whole:
            self.expression()
            whole = self.sees("..")
        if whole:
            self.expect("..")
            if not self.sees("]"):
                self.expression()
            if self.loop == "body" and size.depth:
                raise self.error("a part of a list is taken for each item of another: use UNWIND")
        self.expect("]")
        return size if whole else Size(size.weight, max(size.depth - 1, 0))

    def _bracket(self) -> Size:
        if self.pattern_follows():
            self.no_pattern()
            self.path()
            return Size()
        self.expect("(")
        size = self.expression()
        self.expect(")")
        return size

    def _list(self) -> Size:
        if self.near(1).name and self.near(2).keyword == "IN":
            return self.comprehension()
        named = self.near(1).name and self.near(2).keyword == "="
        if self.pattern_follows(3 if named else 1):
            return self.pattern_comprehension(named=bool(named))
        self.expect("[")
        size = Size()
        while not self.sees("]"):
            size = self._held(size, self.expression())
            if not self.take(","):
                break
        self.expect("]")
        return size

    def _held(self, size: Size, value: Size) -> Size:
        """Return the size of a list or map with one value more."""
        if value.weight >= ACCUMULATOR:
            raise self.error("reduce puts its own result into a list or map: use + instead")
        return self.grown(Size(size.weight + value.weight, max(size.depth, value.depth)))

    def _projection(self, size: Size) -> Size:
        """Read `{.id, size: n.size}` after a name."""
        self.expect("{")
        while not self.sees("}"):
            if self.take("."):
                if not self.take("*"):
                    self.take_name("a property", any_word=True)
            elif self.near(1).keyword == ":":
                self.take_name("a key", any_word=True)
                self.expect(":")
                size = self._held(size, self.expression())
            else:
                size = self._held(size, self._variable())
            if not self.take(","):
                break
        self.expect("}")
        return size

    def _case(self) -> Size:
        self.expect("CASE")
        self.count("CASE")
        if not self.sees("WHEN"):
            self.expression()
        size = Size()
        while self.take("WHEN"):
            self.expression()
            while self.take(","):
                self.expression()
            self.expect("THEN")
            size = larger(size, self.expression())
        if self.take("ELSE"):
            size = larger(size, self.expression())
        self.expect("END")
        return size

    def _nested_query(self, kind: str) -> Size:
        if self.loop:
            raise self.error(
                f"{kind} {{…}} within a list expression is refused: compute it before, in a "
                "clause of its own"
            )
        self.expect(kind, "{")
        size = self.subquery(kind)
        self.expect("}")
        return Size(size.weight, size.depth + 1) if kind == "COLLECT" else Size()
