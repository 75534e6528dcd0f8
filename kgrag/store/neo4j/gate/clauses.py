"""Clauses of Cypher that read, and in what order one statement may have them."""

from kgrag.store.neo4j.gate.cursor import Size
from kgrag.store.neo4j.gate.patterns import Patterns
from kgrag.store.neo4j.gate.vocabulary import FIRST, PROCEDURES

_MOST_ROWS = 1_000_000  # of SKIP and LIMIT
_MOST_FOUND = 10_000  # by a full-text index
_MOST_NEAREST = 1000  # by a vector index, which keeps them all in memory
_MOST_SUBQUERIES = 4  # within each other
_INDEXES = ("db.index.fulltext.queryNodes", "db.index.vector.queryNodes")


class Clauses(Patterns):
    """Reads a statement."""

    def statement(self) -> None:
        """Read all of it.

        Raises:
            ValueError: If something in it is refused; says what, where, and the remedy.
        """
        if self.near().keyword not in FIRST:
            raise ValueError(f"it must begin with one of {', '.join(FIRST)}")
        self._query()
        if self.sees(";"):
            self.skip()
        if self.near().kind != "end":
            raise self._unexpected()

    def subquery(self, kind: str) -> Size:
        """Read what stands between the braces of CALL, EXISTS, COUNT or COLLECT."""
        self.count("SUBQUERY")
        self.subqueries += 1
        if self.subqueries > _MOST_SUBQUERIES:
            raise self.error(f"subqueries are nested more than {_MOST_SUBQUERIES} deep: simplify")
        size = Size()
        if kind in ("EXISTS", "COUNT") and self.near().keyword not in FIRST:
            self.patterns()
            self._where()
        else:
            size = self._query()
        self.subqueries -= 1
        return size

    def _query(self) -> Size:
        size = self._single()
        while self.take("UNION"):
            self.one_of("ALL", "DISTINCT")
            one = self._single()
            size = Size(max(size.weight, one.weight), max(size.depth, one.depth))
        return size

    def _single(self) -> Size:
        """Read clauses up to the end of the statement, of the subquery, or UNION."""
        size = Size()
        while True:
            size = self._clause()
            if self.near().kind == "end" or self.near().keyword in ("}", "UNION", ";"):
                return size

    def _clause(self) -> Size:
        if self.take("MATCH") or self.take("OPTIONAL", "MATCH"):
            self.patterns()
            self._where()
        elif self.take("UNWIND"):
            self._unwind()
        elif self.take("WITH") or self.take("RETURN"):
            return self._projected()
        elif self.take("CALL") or self.take("OPTIONAL", "CALL"):
            self._called()
        else:
            raise self._unexpected()
        return Size()

    def _unexpected(self) -> ValueError:
        """Return the error of what is no clause that may stand here."""
        token = self.near()
        if self.found[self.at - 1 : self.at] and self.near(-1).keyword == ";":
            return ValueError("it holds a ';' before its end: give one statement at a time")
        if token.kind == "word":
            return self.refused_word(token)
        return self.error(f"one of {', '.join(FIRST)} is expected here")

    def _where(self) -> None:
        if self.take("WHERE"):
            self.expression()

    def _unwind(self) -> None:
        word = self.near().keyword
        size = self.expression()
        self.expect("AS")
        name = self.take_name("a row's value")
        self._name(name, Size() if word == "RANGE" else Size(size.weight, max(size.depth - 1, 0)))

    def _name(self, name: str, size: Size) -> None:
        """Record how large a named value may be: as large as any of that name."""
        old = self.sizes.get(name, Size())
        self.sizes[name] = Size(max(old.weight, size.weight), max(old.depth, size.depth))

    def _projected(self) -> Size:
        """Read what follows WITH or RETURN."""
        last = self.out[-1] == "RETURN" and not self.subqueries
        self.take("DISTINCT")
        size = Size()
        if not self.take("*") or self.take(","):
            size = self._items(shown=last)
        if self.take("ORDER", "BY"):
            self._order()
        for what in ("SKIP", "OFFSET", "LIMIT"):
            if self.take(what):
                self.take_whole(what, _MOST_ROWS)
        self._where()
        return size

    def _items(self, *, shown: bool) -> Size:
        weight, depth = 1, 0
        while True:
            size = self._one_item(shown=shown)
            weight, depth = max(weight, size.weight), max(depth, size.depth)
            if not self.take(","):
                return Size(weight, depth)

    def _one_item(self, *, shown: bool) -> Size:
        """Read a value and the name that it gets; an unnamed column is called as it was written."""
        start, first = len(self.out), self.near().start
        size = self.expression()
        if self.take("AS"):
            self._name(self.take_name("a column"), size)
        elif shown:
            self.columns[" ".join(self.out[start:])] = self.text[first : self.near(-1).end]
        return size

    def _order(self) -> None:
        while True:
            self.expression()
            self.one_of("ASC", "ASCENDING", "DESC", "DESCENDING")
            if not self.take(","):
                return

    def _called(self) -> None:
        if self.sees("{"):
            self._called_query()
        elif self.take("("):
            while not self.sees(")"):
                if not self.take("*"):
                    self.take_name("a variable")
                if not self.take(","):
                    break
            self.expect(")")
            self._called_query()
        else:
            self._procedure()

    def _called_query(self) -> None:
        self.expect("{")
        self.subquery("CALL")
        self.expect("}")
        if self.sees("IN"):
            raise self.error("CALL … IN TRANSACTIONS is refused: leave it out")

    def _procedure(self) -> None:
        parts = [self.near().name]
        tokens = 1
        while self.near(tokens).keyword == "." and self.near(tokens + 1).name:
            parts.append(self.near(tokens + 1).name)
            tokens += 2
        name = ".".join(part.replace(".", " ") for part in parts)
        if name not in PROCEDURES:
            raise self.error(
                f"the procedure {name or '?'} is refused; allowed are "
                f"{', '.join(sorted(PROCEDURES))}"
            )
        for _ in range(tokens):
            self.skip()
        self.out.append(name)
        self._given_to(name)
        if self.take("YIELD"):
            self._yielded()

    def _given_to(self, name: str) -> None:
        """Read what a procedure is given."""
        if name not in _INDEXES:
            self.out += ["(", ")"]
            if self.sees("("):
                self.skip()
                self._closed()
            return
        self.expect("(")
        if self.near().kind != "text":
            raise self.error(f"the first argument of {name} is the index's name in quotes")
        self.take_text()
        self.expect(",")
        if name == _INDEXES[1]:
            self.take_whole("the number of nearest vectors", _MOST_NEAREST, least=1)
            self.expect(",")
        self.expression()
        if name == _INDEXES[0] and self.take(","):
            self._options()
        self.expect(")")

    def _closed(self) -> None:
        if not self.sees(")"):
            raise self.error(") is expected here")
        self.skip()

    def _options(self) -> None:
        """Read {limit: 10, skip: 0, analyzer: 'cjk'} of a full-text search."""
        self.expect("{")
        while not self.sees("}"):
            key = self.take_name("an option", any_word=True)
            self.expect(":")
            if key in ("limit", "skip"):
                self.take_whole(key, _MOST_FOUND)
            elif key == "analyzer":
                self.take_text()
            else:
                raise self.error(f"the option {key} is refused: use limit, skip, analyzer")
            if not self.take(","):
                break
        self.expect("}")

    def _yielded(self) -> None:
        if not self.take("*"):
            while True:
                self.take_name("what is yielded")
                if self.take("AS"):
                    self.take_name("a value")
                if not self.take(","):
                    break
        self._where()
