"""Patterns of Cypher: nodes, relationships, paths and how often they repeat."""

from kgrag.store.neo4j.gate.cursor import FREE, LABELS
from kgrag.store.neo4j.gate.expressions import Expressions

_MOST_STEPS = 1000  # that a pattern may ask to repeat
_MOST_PATHS = 1000  # SHORTEST k


class Patterns(Expressions):
    """Reads patterns."""

    def patterns(self) -> None:
        """Read what MATCH looks for."""
        self._pattern()
        while self.take(","):
            self._pattern()

    def path(self) -> None:
        """Read nodes and the relationships between them."""
        self._part()
        while True:
            if self._sees_relationship():
                self._relationship()
                self._quantifier()
                self._part()
            elif self.sees("("):
                self._part()
            else:
                return

    def label_expression(self, *, bar: bool, types: bool = False) -> None:
        """Read labels or types with : before them."""
        self.one_of(":", "IS")
        while True:
            while self.take("!"):
                self.count("& and ! of labels")
            if self.take("("):
                self.label_expression(bar=True, types=types)
                self.expect(")")
            elif not self.take("%"):
                self.take_name("a label or type", any_word=True)
            if bar and self.take("|"):
                self.count("| of types" if types else LABELS)
                self.take(":")
            elif self.one_of("&", ":"):
                self.count("& and ! of labels")
            else:
                return

    def _pattern(self) -> None:
        if self.near().name and self.near(1).keyword == "=":
            self.take_name("a path")
            self.expect("=")
        self._selector()
        if self.one_of("SHORTESTPATH", "ALLSHORTESTPATHS"):
            self.expect("(")
            self.path()
            self.expect(")")
        else:
            self.path()

    def _selector(self) -> None:
        """Read SHORTEST 2, ALL SHORTEST, ANY SHORTEST or ANY before a path."""
        if self.sees("(") or (self.near(1).keyword == "(" and not self.sees("ANY")):
            return
        if self.one_of("ALL", "ANY", "SHORTEST"):
            self.take("SHORTEST")
            if self.near().kind == "number":
                self.take_whole("the number of paths", _MOST_PATHS, least=1)
            self.one_of("PATHS", "PATH")
            self.one_of("GROUPS", "GROUP")

    def _sees_relationship(self) -> bool:
        return self.sees("-") or self.sees("<", "-")

    def _part(self) -> None:
        """Read a node, or several in brackets that repeat."""
        inner = self.near(1)
        if inner.keyword == "(" or (inner.name and self.near(2).keyword == "="):
            self._group()
        else:
            self._node()

    def _group(self) -> None:
        self.expect("(")
        if self.near().name:
            self.take_name("a path")
            self.expect("=")
        self.path()
        if self.take("WHERE"):
            self.expression()
        self.expect(")")
        self._quantifier()

    def _node(self) -> None:
        self.expect("(")
        self.count("NODE")
        self._named_element(":", "IS", "{", "WHERE", ")")
        self._filled()
        self.expect(")")

    def _relationship(self) -> None:
        self.count("RELATIONSHIP")
        self.take("<")
        self.expect("-")
        is_free = True
        if self.take("["):
            self._named_element(":", "IS", "*", "{", "WHERE", "]")
            is_free = not (self.sees(":") or self.sees("IS")) or self.near(1).keyword == "%"
            self._filled(types=True)
            self.expect("]")
        if is_free:
            self.count(FREE)
        self.expect("-")
        self.take(">")

    def _named_element(self, *others: str) -> None:
        if self.near().keyword not in others:
            self.take_name("a node or relationship")

    def _filled(self, *, types: bool = False) -> None:
        """Read labels or types, a length, properties and conditions."""
        if self.sees(":") or self.sees("IS"):
            self.label_expression(bar=True, types=types)
        if self.take("*"):
            self._length()
        if self.sees("{"):
            self.map_of_values()
        if self.take("WHERE"):
            self.expression()

    def _length(self) -> None:
        """Read 1..3 of a relationship of several steps."""
        if self.near().kind == "number":
            self._steps()
        if self.take("..") and self.near().kind == "number":
            self._steps()

    def _quantifier(self) -> None:
        """Read +, * or {1,3} after what repeats."""
        if self.one_of("+", "*") or not self.take("{"):
            return
        if self.near().kind == "number":
            self._steps()
        if self.take(",") and self.near().kind == "number":
            self._steps()
        self.expect("}")

    def _steps(self) -> None:
        self.take_whole("the number of steps", _MOST_STEPS)
