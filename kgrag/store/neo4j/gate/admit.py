"""Check Cypher that others wrote before the server sees it: only what reads, within bounds, passes.

It allows rather than forbids. A statement is read loosely and written anew from what was
understood: every name in backticks, every text with its own escapes, every bare word from a list of
keywords and functions that holds none that writes, loads a file or shows a setting. So a word that
is taken for a name here cannot be anything else on the server. Whether it is Cypher is for EXPLAIN
to say, and `plan` looks at the operators that it shows.

What an expression costs does not show there, and no timeout ends one: the server looks at the clock
between rows. So lists that it makes, values that it joins and patterns that it matches are bounded
here. No list expression may be within another, match a pattern or hold a subquery, and the server
itself stops where a list gets too long.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce

from kgrag.store.neo4j.gate.cursor import FREE, LABELS, Cursor
from kgrag.store.neo4j.gate.regular import compared
from kgrag.store.neo4j.gate.tokens import UNICODE_ESCAPE, Token, tokens, written_text
from kgrag.store.neo4j.gate.vocabulary import FIRST, FUNCTIONS, PROCEDURES, SCALAR

_MOST_CHARACTERS = 4000
_MOST_TOKENS = 1200
MOST_LISTED = 1000  # items of a list that is made of rows, or that an expression goes through
# What the server says where a bound is crossed while a statement runs: see `_guard`.
TOO_LARGE = "kgrag: too large for one expression"
MOST_REDUCED = 100  # of them, by reduce: each step copies what there is of a text
_ACCUMULATOR = 10**9  # the weight by which the accumulator of reduce is known again
_MOST_WEIGHT = 10_000  # stored values: 20 MB
_MOST_IN_LOOP = 10
_MOST_SUBQUERIES = 4  # within each other
_MOST_AFTER = 8  # reads of a property or item, one after the other
_MOST_STEPS = 1000  # that a pattern may ask to repeat
_MOST_PATHS = 1000  # SHORTEST k
_MOST_IN_RANGE = 100_000
_MOST_ROWS = 1_000_000  # of SKIP and LIMIT
_MOST_FOUND = 10_000  # by a full-text index
_MOST_NEAREST = 1000  # by a vector index, which keeps them all in memory
_FULLTEXT, _VECTOR = "db.index.fulltext.queryNodes", "db.index.vector.queryNodes"
_BOOLEAN = ("AND", "OR", "XOR")
_COMPARED = ("=", "<>", "<", ">", "<=", ">=", "IN", "CONTAINS", "STARTS WITH", "ENDS WITH")
_SIGNS = (*_BOOLEAN, *_COMPARED[:-2], "=~", "+", "||", "-", "*", "/", "%", "^")
_CONSTANTS = ("TRUE", "FALSE", "NULL", "NAN", "INF", "INFINITY")
_QUANTORS = ("ANY", "ALL", "NONE", "SINGLE")
_SUBQUERIES = ("EXISTS", "COUNT", "COLLECT")
_SHORTEST = ("SHORTESTPATH", "ALLSHORTESTPATHS")
_MEASURED = ("SIZE", "HEAD", "LAST", "LENGTH", "ISEMPTY")
_TRIMMED = ("BOTH", "LEADING", "TRAILING")


@dataclass(frozen=True, slots=True)
class Admitted:
    """A statement that may be sent.

    Attributes:
        text: As it is sent: names in backticks, no comments.
        columns: What unnamed columns were called, by what the server calls them.
        names: Of variables, labels, types, properties.
    """

    text: str
    columns: Mapping[str, str] = field(default_factory=dict)
    names: frozenset[str] = frozenset()


def admit(text: str) -> Admitted:
    """Return a statement as it may be sent.

    Raises:
        ValueError: If it is refused; says why, where, and the remedy.

    >>> admit("match (n) return n.end // all").text
    'MATCH ( `n` ) RETURN `n` . `end`'
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"it has {len(text)} characters: at most {_MOST_CHARACTERS} are allowed")
    found = tokens(text)
    if len(found) > _MOST_TOKENS:
        raise ValueError(f"it has {len(found)} words and signs: at most {_MOST_TOKENS} are allowed")
    reader = _Reader(text, found)
    reader.statement()
    written = " ".join(reader.out)
    if UNICODE_ESCAPE.search(written):
        raise ValueError("it holds a backslash before a u: leave it out")
    return Admitted(written, reader.columns, frozenset(reader.names))


@dataclass(frozen=True, slots=True)
class Size:
    """How large a value may be, in stored values: the text of a chunk is 1, two of them joined 2.

    Attributes:
        weight: Of all of it.
        each: Of an item, if it is a list.
    """

    weight: int = 1
    each: int = 1

    def __add__(self, other: "Size") -> "Size":
        """Return the size of two values joined."""
        return Size(self.weight + other.weight, self.each + other.each)

    def larger(self, other: "Size") -> "Size":
        """Return the size of one of two values, nobody knows which."""
        return Size(max(self.weight, other.weight), max(self.each, other.each))

    def item(self) -> "Size":
        """Return the size of an item of a list."""
        return Size(self.each, self.each)

    def listed(self, most: int = MOST_LISTED) -> "Size":
        """Return the size of a list of so many such values."""
        return Size(self.weight * most, self.weight)

    @property
    def is_long(self) -> bool:
        """Whether it may be a list of many items."""
        return self.weight % _ACCUMULATOR >= MOST_LISTED


class _Reader(Cursor):
    """Reads a statement; `columns` is what unnamed ones were called, by the server's name."""

    def __init__(self, text: str, found: list[Token]) -> None:
        super().__init__(text, found)
        self.columns: dict[str, str] = {}
        self._sizes: dict[str, Size] = {}
        self._loop = ""  # within a list expression: "source" of its items, or "body"
        self._made = False  # whether the value read last is a list that was made of rows
        self._subqueries = 0  # around this place
        self._length_of_path = 1
        self._steps = 0  # that regular expressions may take for a row

    def statement(self) -> None:
        """Read all of it.

        Raises:
            ValueError: If something in it is refused; says what, where, and the remedy.
        """
        if self.near().keyword not in FIRST:
            raise ValueError(f"it must begin with one of {', '.join(FIRST)}")
        self._clauses()
        if self.sees(";"):
            self.skip()
            if self.near().kind != "end":
                raise ValueError("it holds a ';' before its end: give one statement at a time")
        if self.near().kind != "end":
            raise self._unexpected()

    # Clauses

    def _clauses(self) -> Size:
        """Read clauses to the end of the statement or subquery; return the size of its values."""
        largest = size = Size()
        while self.near().kind != "end" and self.near().keyword not in ("}", ";"):
            if self.take("UNION"):
                self.one_of("ALL", "DISTINCT")
                largest = largest.larger(size)
            size = self._clause()
        return largest.larger(size)

    def _clause(self) -> Size:
        self.take("OPTIONAL")
        if self.take("MATCH"):
            self._patterns()
        elif self.take("UNWIND"):
            self._unwind()
        elif self.take("WITH") or self.take("RETURN"):
            return self._projected()
        elif self.take("CALL"):
            self._called()
        else:
            raise self._unexpected()
        self._where()
        return Size()

    def _unexpected(self) -> ValueError:
        if self.near().kind == "word":
            return self.refused_word(self.near())
        return self.error(f"one of {', '.join(FIRST)} is expected here")

    def _where(self) -> None:
        if self.take("WHERE"):
            self._expression()

    def _unwind(self) -> None:
        size = self._expression()
        self.expect("AS")
        self._name(self.take_name("a row's value"), size.item())

    def _name(self, name: str, size: Size) -> None:
        """Record how large a named value may be: as large as any of that name."""
        self._sizes[name] = self._sizes.get(name, Size()).larger(size)

    def _projected(self) -> Size:
        last = self.out[-1] == "RETURN" and not self._subqueries
        self.take("DISTINCT")
        size = Size()
        if not self.take("*") or self.take(","):
            size = self._items(shown=last)
        if self.take("ORDER", "BY"):
            self._items(shown=False)
        for what in ("SKIP", "OFFSET", "LIMIT"):
            if self.take(what):
                self.take_whole(what, _MOST_ROWS)
        self._where()
        return size

    def _items(self, *, shown: bool) -> Size:
        """Read values and their names; with `shown`, an unnamed one is called as it was written."""
        largest = Size()
        while True:
            start, first = len(self.out), self.near().start
            size = self._expression()
            largest = largest.larger(size)
            if self.take("AS"):
                self._name(self.take_name("a column"), size)
            elif shown:
                self.columns[" ".join(self.out[start:])] = self.text[first : self.near(-1).end]
            self.one_of("ASC", "ASCENDING", "DESC", "DESCENDING")
            if not self.take(","):
                return largest

    def _called(self) -> None:
        if self.take("("):
            while not self.take(")"):
                if not self.one_of("*", ","):
                    self.take_name("a variable")
        elif not self.sees("{"):
            self._procedure()
            return
        self._subquery("CALL")
        if self.sees("IN"):
            raise self.error("CALL … IN TRANSACTIONS is refused: leave it out")

    def _subquery(self, kind: str) -> Size:
        if self._loop:
            raise self.error(
                f"{kind} {{…}} within a list expression is refused: compute it before, in a "
                "clause of its own"
            )
        self.expect("{")
        self.count("SUBQUERY")
        self._subqueries += 1
        if self._subqueries > _MOST_SUBQUERIES:
            raise self.error(f"subqueries are nested more than {_MOST_SUBQUERIES} deep: simplify")
        size = Size()
        if kind in ("EXISTS", "COUNT") and self.near().keyword not in FIRST:
            self._patterns()
            self._where()
        else:
            size = self._clauses()
        self._subqueries -= 1
        self.expect("}")
        self._made = kind == "COLLECT"
        return self._grown(size.listed()) if self._made else Size()

    def _procedure(self) -> None:
        name = self.dotted()
        if name not in PROCEDURES:
            raise self.error(
                f"the procedure {name or '?'} is refused; allowed are "
                f"{', '.join(sorted(PROCEDURES))}"
            )
        self.take_dotted(name)
        if name in (_FULLTEXT, _VECTOR):
            self._indexed(name)
        elif self.take("("):
            self.expect(")")
        else:
            self.out += ["(", ")"]
        if self.take("YIELD") and not self.take("*"):
            self._items(shown=False)

    def _indexed(self, name: str) -> None:
        """Read what an index is asked for."""
        self.expect("(")
        if self.near().kind != "text":
            raise self.error(f"the first argument of {name} is the index's name in quotes")
        self.take_text()
        self.expect(",")
        if name == _VECTOR:
            self.take_whole("the number of nearest vectors", _MOST_NEAREST, least=1)
            self.expect(",")
        self._expression()
        if name == _FULLTEXT and self.take(","):
            self._options()
        self.expect(")")

    def _options(self) -> None:
        """Read {limit: 10, skip: 0, analyzer: 'cjk'} of a full-text search."""
        self.expect("{")
        while not self.take("}"):
            key = self.near().name
            if key not in ("limit", "skip", "analyzer"):
                raise self.error(f"the option {key} is refused: use limit, skip, analyzer")
            self.take_name("an option", any_word=True)
            self.expect(":")
            if key == "analyzer":
                self.take_text()
            else:
                self.take_whole(key, _MOST_FOUND)
            self.take(",")

    # Patterns

    def _patterns(self) -> None:
        """Read what MATCH looks for."""
        while True:
            path, self._length_of_path = "", 1
            if self.near().name and self.near(1).keyword == "=":
                path = self.take_name("a path")
                self.expect("=")
            if self.one_of("ALL", "ANY", "SHORTEST"):
                self.take("SHORTEST")
                if self.near().kind == "number":
                    self.take_whole("the number of paths", _MOST_PATHS, least=1)
                self.one_of("PATHS", "PATH")
                self.one_of("GROUPS", "GROUP")
            bracketed = self.one_of(*_SHORTEST) and self.take("(")
            self._path()
            if bracketed:
                self.expect(")")
            self._name(path, Size(self._length_of_path, 1))
            if not self.take(","):
                return

    def _path(self) -> None:
        """Read nodes and the relationships between them."""
        self._part()
        while True:
            if self.sees("-") or self.sees("<", "-"):
                self._relationship()
                self._quantifier()
            elif not self.sees("("):
                return
            self._part()

    def _part(self) -> None:
        """Read a node, or several in brackets that repeat."""
        inner, first = self.near(1), len(self.names)
        self.expect("(")
        if inner.keyword == "(" or (inner.name and self.near(1).keyword == "="):
            if inner.name:
                self.take_name("a path")
                self.expect("=")
            self._path()
            self._where()
            self.expect(")")
            steps = self._quantifier()
            for name in self.names[first:]:
                self._name(name, Size(steps, 1))
        else:
            self.count("NODE")
            self._element(types=False)
            self.expect(")")

    def _relationship(self) -> None:
        self.count("RELATIONSHIP")
        self.take("<")
        self.expect("-")
        typed = False
        if self.take("["):
            typed = self._element(types=True)
            self.expect("]")
        if not typed:
            self.count(FREE)
        self.expect("-")
        self.take(">")

    def _element(self, *, types: bool) -> bool:
        """Read name, labels, length, properties, conditions; return whether labels bound it."""
        name = ""
        if self.near().keyword not in (":", "IS", "*", "{", "WHERE", ")", "]"):
            name = self.take_name("a node or relationship")
        labelled = self.sees(":") or self.sees("IS")
        bound = labelled and self.near(1).keyword != "%"
        if labelled:
            self._label_expression(bar=True, types=types)
        if self.take("*"):
            self._name(name, Size(self._length(".."), 1))
        if self.sees("{"):
            self._values("{", "}")
        self._where()
        return bound

    def _length(self, sign: str) -> int:
        """Read 1..3 of a relationship of several steps, or 1,3 of a quantifier; return the most."""
        most = MOST_LISTED
        for _ in range(2):
            if self.near().kind == "number":
                most = self.take_whole("the number of steps", _MOST_STEPS)
            if self.take(sign):
                most = MOST_LISTED
        self._length_of_path += most
        return most

    def _quantifier(self) -> int:
        """Read +, * or {1,3} after what repeats; return how often it may."""
        if self.one_of("+", "*"):
            self._length_of_path += MOST_LISTED
            return MOST_LISTED
        if not self.take("{"):
            return 1
        most = self._length(",")
        self.expect("}")
        return most

    def _label_expression(self, *, bar: bool, types: bool = False) -> None:
        """Read labels or types with : before them; with `bar`, they may be parted by |."""
        self.one_of(":", "IS")
        while True:
            while self.take("!"):
                self.count("& and ! of labels")
            if self.take("("):
                self._label_expression(bar=True, types=types)
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

    def _pattern_follows(self, ahead: int = 0) -> bool:
        """Return whether a bracket opens a pattern, as `(a)-[:CITES]->(b)`."""
        if self.near(ahead).keyword != "(":
            return False
        after = self.closing(ahead) + 1
        after += self.near(after).keyword == "<"
        return self.near(after).keyword == "-" and self.near(after + 1).keyword in ("-", "[")

    def _no_pattern(self) -> None:
        if self._loop:
            raise self.error(
                "a pattern within a list expression is refused: look for it before, in a clause of "
                "its own"
            )

    # Expressions

    def _expression(self) -> Size:
        """Read values and operators; return how large what they give may be."""
        joined, truth, start, sign = Size(0, 0), False, len(self.out), "AND"
        while True:
            while sign in _BOOLEAN and self.take("NOT"):  # elsewhere it would name a function
                self.count("NOT")
                truth, start = True, len(self.out)
            while self.one_of("-", "+"):
                pass
            joined = self._grown(joined + self._operand())
            sign = self._operator()
            if sign == "=~":
                self._regex(start)
                truth, sign = True, self._operator()
                if sign and sign not in _BOOLEAN:
                    raise self.error("the right side of =~ must be one text: use CONTAINS")
            if not sign:
                return Size() if truth else joined
            if sign in _BOOLEAN or sign in _COMPARED:
                truth, start, joined = True, len(self.out), Size(0, 0)

    def _operator(self) -> str:
        """Read the operator that comes next, if one does, and return it."""
        while self.take("IS"):
            self.take("NOT")
            self.expect("NULL")
        sign = self.one_of(*_SIGNS)
        for word in ("STARTS", "ENDS"):
            if not sign and self.take(word, "WITH"):
                sign = f"{word} WITH"
        if sign:
            self.count("XOR" if sign == "XOR" else "operators")
        return sign

    def _grown(self, size: Size) -> Size:
        """Return a size that is still small enough.

        Raises:
            ValueError: If it is not.
        """
        weight = size.weight % _ACCUMULATOR
        if weight > (_MOST_IN_LOOP if self._loop == "body" else _MOST_WEIGHT):
            raise self.error(
                "a value may grow too large here: join or repeat fewer values, and return a row "
                "for each list rather than a list of lists"
            )
        return size

    def _operand(self) -> Size:
        """Read a value with what is read of it: `r.doc_ids[0]`."""
        bare, start = bool(self.near().name), len(self.out)
        measured = self.near(-1).keyword == "(" and self.near(-2).keyword in _MEASURED
        self._made = False
        size = self._value()
        made, self._made = self._made and not measured, False
        bare = bare and self.near(-1).keyword != ")"
        if bare and self.sees("{"):
            size = self._values("{", "}", size)
        n_reads = 0
        while self.sees(".") or self.sees("["):
            n_reads += 1
            if n_reads > _MOST_AFTER:
                raise self.error(f"more than {_MOST_AFTER} reads follow each other: use WITH")
            if self.take("."):
                self.take_name("a property", any_word=True)
            else:
                size = self._item(size)
        if made and size.is_long:
            self._guard_list(start)
        if bare and self.sees(":"):
            self.count(LABELS)
            self._label_expression(bar=not self._loop)
            size = Size()
        return size

    def _value(self) -> Size:
        token = self.near()
        if token.kind == "text":
            return Size(1 + len(self.take_text()) // 1000)
        if token.kind == "number":
            self.out.append(self.skip().value)
            return Size()
        if self._pattern_follows():
            self._no_pattern()
            self._path()
            return Size()
        if token.keyword == "(":
            return self._values("(", ")")
        if token.keyword == "{":
            return self._values("{", "}")
        if token.keyword == "[":
            return self._list()
        if self.take("CASE"):
            return self._case()
        if self.one_of(*_CONSTANTS):
            return Size()
        return self._named()

    def _named(self) -> Size:
        """Read what begins with a name: a subquery, a call or a variable."""
        token = self.near()
        word, following = token.keyword, self.near(1).keyword
        if word in _SUBQUERIES and following == "{":
            self.take(word)
            return self._subquery(word)
        if word in _QUANTORS and following == "(":
            return self._quantor(word)
        if word == "REDUCE" and following == "(":
            return self._reduce()
        if word in _SHORTEST and following == "(":
            raise self.error(
                f"{token.value} belongs to a pattern: write p = {token.value}(…) in MATCH"
            )
        if self.near(self.dotted_length()).keyword == "(" and token.name:
            return self._call()
        if not token.name:
            raise self.error("a value is expected here")
        return self._variable()

    def _variable(self) -> Size:
        """Read the name of a variable; within a loop, of a list only what is one item."""
        before, word = self.near(-1).keyword, self.near(-2).keyword
        size = self._sizes.get(self.take_name("a value"), Size())
        asked = before == "IN" or (before == "(" and word in _MEASURED)
        if self._loop != "body" or not size.is_long or self.sees("["):
            return size
        if not asked:
            raise self.error("a list is taken whole for each item of another: use UNWIND")
        return size.item()

    def _item(self, size: Size) -> Size:
        """Read the [ ] after a list: one item, or a part."""
        self.expect("[")
        if not self.sees(".."):
            self._expression()
        part = self.take("..")
        if part and not self.sees("]"):
            self._expression()
        if part and self._loop == "body" and size.is_long:
            raise self.error("a part of a list is taken for each item of another: use UNWIND")
        self.expect("]")
        return size if part else size.item()

    def _values(self, opening: str, closing: str, size: Size | None = None) -> Size:
        """Read a list, a map, what is read of a node (as `{.id, size: n.size}`), or brackets."""
        self.expect(opening)
        size = size or Size(0, 0)
        while opening == "(" or not self.take(closing):
            if opening == "{" and self.take("."):
                if not self.take("*"):
                    self.take_name("a property", any_word=True)
            else:
                if opening == "{" and self.near(1).keyword == ":":
                    self.take_name("a key", any_word=True)
                    self.expect(":")
                value = self._expression()
                if value.weight >= _ACCUMULATOR and opening != "(":
                    raise self.error("reduce puts its own result into a list or map: use + instead")
                size = self._grown(size + value)
            if not self.take(","):
                self.expect(closing)
                break
        return size.larger(Size())

    def _case(self) -> Size:
        self.count("CASE")
        self.take("WHEN")
        size = Size()
        while True:
            size = size.larger(self._expression())
            if self.take("END"):
                return size
            if not self.one_of("WHEN", "THEN", "ELSE", ","):
                raise self.error("END is expected here")

    # Lists and their loops

    def _list(self) -> Size:
        named = bool(self.near(1).name) and self.near(2).keyword == "="
        if self.near(1).name and self.near(2).keyword == "IN":
            self._begin_loop()
            self.expect("[")
            size, most = self._source()
            if self.take("|"):
                size = self._expression()
        elif self._pattern_follows(3 if named else 1):
            self._no_pattern()
            self._loop, most = "body", MOST_LISTED + 1
            self.expect("[")
            if named:
                self.take_name("a path")
                self.expect("=")
            self._path()
            self._where()
            self.expect("|")
            size = self._expression()
        else:
            return self._values("[", "]")
        self.expect("]")
        self._made, self._loop = most > MOST_LISTED, ""
        return self._grown(size.listed(min(most, MOST_LISTED)))

    def _quantor(self, word: str) -> Size:
        """Read `any(x IN list WHERE condition)` and its like."""
        self._begin_loop()
        self.expect(word, "(")
        self._source()
        self.expect(")")
        self._loop = ""
        return Size()

    def _reduce(self) -> Size:
        """Read `reduce(sum = 0, x IN list | sum + x)`."""
        self._begin_loop()
        self.expect("REDUCE", "(")
        name = self.take_name("a value")
        self.expect("=")
        first = self._expression()
        self.expect(",")
        _, most = self._source(MOST_REDUCED)
        self.expect("|")
        before, self._sizes[name] = self._sizes.get(name, Size()), Size(_ACCUMULATOR)
        body = self._expression()
        self.expect(")")
        self._loop = ""
        self._sizes[name] = before
        if body.weight // _ACCUMULATOR > 1:
            raise self.error(f"reduce joins {name} with itself: use it once")
        weight = first.weight + 10 * most * (body.weight % _ACCUMULATOR) ** 2
        return self._grown(Size(weight, weight))

    def _begin_loop(self) -> None:
        if self._loop:
            raise self.error(
                "a list expression within another is refused: compute the inner one before, by "
                "WITH, or use UNWIND"
            )
        self._loop = "source"

    def _source(self, most: int = MOST_LISTED) -> tuple[Size, int]:
        """Read `x IN list WHERE condition`; return the size of x, and how many there may be."""
        name = self.take_name("an item")
        self.expect("IN")
        start, word = len(self.out), self.near().keyword
        of_path = word in ("NODES", "RELATIONSHIPS") and self.near(3).keyword == ")"
        size = self._expression()
        if size.weight >= most or "." in self.out[start:]:
            self._guard_list(start, most)
        self._name(name, size.item())
        self._loop = "body"
        self._where()
        return size.item(), min(size.weight, most) if of_path else most

    def _guard_list(self, start: int, most: int = MOST_LISTED) -> None:
        self._guard(start, f"> {most} THEN [ date ( {written_text(TOO_LARGE)} ) ]")

    def _guard(self, start: int, rest: str, measured: str = "size ( {} )") -> None:
        """Have the server stop with an error where the value written last is too large."""
        value = " ".join(self.out[start:])
        if len(self.out) > start + 1 or not value.startswith("CASE WHEN") or rest[:6] not in value:
            self.out[start:] = [f"CASE WHEN {measured.format(value)} {rest} ELSE {value} END"]

    # Calls

    def _call(self) -> Size:
        name = self.dotted()
        if name.lower() not in FUNCTIONS:
            raise self.error(
                f"the function {name} is refused: use Neo4j's own functions of the graph"
            )
        name = name.lower()
        self.take_dotted(name)
        self.expect("(")
        if name == "range":
            return self._range()
        if name == "exists" and not self._pattern_follows():
            raise self.error("exists(…) takes a pattern: for a property write IS NOT NULL")
        if name == "split" and self._loop == "body":
            raise self.error(f"{name}(…) for each item of a list is refused: use UNWIND")
        sizes = self._arguments(name)
        if name in SCALAR:
            return Size()
        size = reduce(Size.larger, sizes, Size())
        if name in ("collect", "split"):
            self._made = name == "collect"
            size = size.listed()
        elif name in ("head", "last"):
            size = size.item()
        return self._grown(size)

    def _arguments(self, name: str) -> list[Size]:
        sizes: list[Size] = []
        self.one_of("*", "DISTINCT")
        while not self.take(")"):
            if name == "replace" and len(sizes) == 2:
                sizes.append(self._replacement(sizes[0]))
            elif name != "trim" or not self.one_of(*_TRIMMED):
                sizes.append(self._expression())
            if not self.one_of(",", "FROM") and not self.sees(")") and self.out[-1] not in _TRIMMED:
                raise self.error(") is expected here")
        return sizes

    def _replacement(self, size: Size) -> Size:
        """Read what `replace` puts in: every character may become as much."""
        if self.near().kind != "text":
            raise self.error("the third argument of replace must be one text")
        text = self.take_text()
        return self._grown(size.listed(max(1, len(text))))

    def _range(self) -> Size:
        """Read range(first, last, step) up to its end: whole numbers and sizes of lists."""
        if self._loop == "body":
            raise self.error("range(…) for each item of a list is refused: use UNWIND")
        self._bound()
        self.expect(",")
        self._bound()
        if self.take(","):
            self._bound()
        self.expect(")")
        return Size(MOST_LISTED, 1)

    def _bound(self) -> None:
        """Read an end of a range, as `size(r.doc_ids) - 1`."""
        self.take("-")
        if not self._measure():
            self.take_whole("an end of range(...)", _MOST_IN_RANGE)
        if self.one_of("+", "-"):
            self.take_whole("an end of range(...)", _MOST_IN_RANGE)

    def _measure(self) -> bool:
        """Read size(a.b) or length(p) if one comes next; return whether it did."""
        if not self.one_of("SIZE", "LENGTH"):
            return False
        self.expect("(")
        self.take_name("a list")
        while self.take("."):
            self.take_name("a property", any_word=True)
        self.expect(")")
        return True

    def _regex(self, start: int) -> None:
        """Read the right side of =~; the left side is written from `start` on."""
        if self._loop:
            raise self.error("=~ within a list expression is refused: use CONTAINS, or UNWIND")
        if self.near().kind != "text":
            raise self.error("the right side of =~ must be one text: use CONTAINS for other values")
        sign, pattern = self.out.pop(), self.near().value
        most, self._steps = compared(pattern, self._steps)
        raised = f"> {most} THEN toString ( date ( {written_text(TOO_LARGE)} ) )"
        self._guard(start, raised, "size ( toStringOrNull ( {} ) )")
        self.out.append(sign)
        self.take_text()
