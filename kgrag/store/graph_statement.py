"""The statement of a form, in Cypher or SQL, and the rows that it gives.

What a caller writes reaches a database as a parameter only. All else in a statement is a fragment
of `cypher/form.cypher` or `sqlite/sql/form.sql`, or a name of the closed tables of
`kgrag.store.graph_query`. Both stores give the same rows.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, NamedTuple

from kgrag.errors import OutOfRangeError
from kgrag.store.graph_query import OF_DOCUMENTS, RELATIONS, Column, GraphQuery, Hop, Op, Path

Value = str | float | None
Parameters = Mapping[str, str | float | list[str]]
Spot = tuple[str, int, int]  # document, start, end
FORM_S = 20.0  # seconds that the statement of a form may take
_PLACE = re.compile(r"<(\w+)>")
# Relations that are statements by themselves, as their places are called; the others are of a
# figure or task.
_STATING: Mapping[str, str] = {
    "names": "names", "related": "related", **dict.fromkeys(("cites", *OF_DOCUMENTS), "cites"),
}  # fmt: skip
_OF_SEVERAL = frozenset({"organ", "entity", "related"})  # whose places are of several documents


class GraphRow(NamedTuple):
    """A row.

    Attributes:
        cells: In the order of the columns.
        spots: The places that state it, in order.
    """

    cells: tuple[Value, ...]
    spots: tuple[Spot, ...]


class GraphRows(NamedTuple):
    """Rows with their columns, and the statement with its values in it, to be shown."""

    columns: tuple[Column, ...]
    rows: tuple[GraphRow, ...]
    statement: str = ""


class Dialect(NamedTuple):
    """A language of statements.

    Attributes:
        fragment: Returns a fragment by name.
        names: What `start` (a type where paths begin), `type` and `relation` are called in it.
        quote: Returns a text as a literal.
        listed: Returns ids as a parameter.
        has_tables: Whether tables that a statement reads are defined before it.
    """

    fragment: Callable[[str], str]
    names: Mapping[str, Mapping[str, str]]
    quote: Callable[[str], str]
    listed: Callable[[list[str]], str | list[str]] = list
    has_tables: bool = False


@dataclass(frozen=True, slots=True)
class Compiled:
    """A statement.

    Attributes:
        columns: Of its rows, which have the places that state them behind.
        text: With parameters `$p0`, `$p1`, …, `$within`, `$most`.
        parameters: By name; `within` are the documents that are looked at.
        quote: Of the dialect.
        tables: What stands before the text, where the language needs tables to be defined.
    """

    columns: tuple[Column, ...]
    text: str
    parameters: Parameters
    quote: Callable[[str], str]
    tables: str = ""

    def rows(self, found: Iterable[Sequence[Any]]) -> GraphRows:
        """Return the rows of a database: numbers as both stores give them."""
        rows = (
            GraphRow(tuple(map(_same, cells)), tuple(sorted(set(_spots(places)))))
            for *cells, places in found
        )
        return GraphRows(self.columns, tuple(rows), self._inline())

    def _inline(self) -> str:
        """Return the text on one line, with literals in place of its parameters."""

        def literal(found: re.Match[str]) -> str:
            value = self.parameters[found[1]]
            if isinstance(value, list):
                return f"[{', '.join(map(self.quote, value))}]"
            return self.quote(value) if isinstance(value, str) else str(value)

        return re.sub(r"\$(\w+)", literal, " ".join(self.text.split()))


def _same(value: Any) -> Value:
    """Return a value as both databases give it: 24.0 is 24, and sums have no 16th digit."""
    if isinstance(value, float):
        value = float(f"{value:.12g}")
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    return value or None if isinstance(value, str) else value


def _spots(places: Any) -> Iterator[Spot]:
    """Yield the places within lists of lists of places."""
    if isinstance(places, list | tuple):
        if len(places) == 3 and isinstance(places[0], str):
            yield places[0], places[1], places[2]
        else:
            for one in places:
                yield from _spots(one)


class _Writer:
    """Writes the statement of a path."""

    def __init__(self, path: Path, dialect: Dialect, doc_ids: Collection[str] | None) -> None:
        self.path = path
        self.dialect = dialect
        self.parameters: dict[str, str | float | list[str]] = {}
        self.conditions = [
            (of, op, [self._parameter(value) for value in values])
            for of, op, values in path.conditions()
        ]
        self.is_limited = doc_ids is not None
        if doc_ids is not None:
            self.parameters["within"] = dialect.listed(sorted(doc_ids))

    def _parameter(self, value: str | float) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"

    def filled(self, name: str, **places: str) -> str:
        """Return a fragment with its places filled: of names of ours, and of other fragments."""
        return _PLACE.sub(lambda found: places[found[1]], self.dialect.fragment(f"form_{name}"))

    def value(self, of: Column, element: str = "") -> str:
        """Return the expression of a field; `element` is a hop of the same step in its place."""
        n = element or of.element
        special = f"{of.kind}_{of.field}"
        return self.filled(special, n=n) if self._has(special) else f"{n}.{of.field}"

    def _has(self, name: str) -> bool:
        try:
            return bool(self.dialect.fragment(f"form_{name}"))
        except KeyError:
            return False

    def _test(self, of: Column, op: Op, values: Sequence[str], element: str) -> str:
        if op in ("stated", "unstated"):
            return self.filled(op, x=self.value(of, element))
        plain = {"!=": "=", "in": "="}.get(op, op)
        names = {"contains": "contains", "starts": "starts", "ends": "ends"}
        name = names.get(plain, "compared")
        x = self.value(of, element)
        one = self.filled("one") if of.is_list else x
        tests = [self.filled(name, x=one, op=plain, value=value) for value in values]
        if of.is_list:
            tests = [self.filled("any", x=x, test=test) for test in tests]
        text = f"({' OR '.join(tests)})"
        return self.filled("not", test=text) if op == "!=" else text

    def _where(self, hops: Sequence[Hop]) -> str:
        tests = []
        for of, op, values in self.conditions:
            also = [e for _, e, _, _ in hops if e.startswith(f"{of.element}_via")]
            tests += [self._test(of, op, values, one) for one in (of.element, *also)]
        tests += [self._test_of_place(*one) for one in self._stating(hops) if self.is_limited]
        return "\n  AND ".join(tests) or self.filled("always")

    def _stating(self, hops: Sequence[Hop]) -> list[tuple[str, str]]:
        """Return the elements that state what a path has, with their kinds; else its only node."""
        edges = [(e, _STATING[s.relation]) for _, e, _, s in hops if s.relation in _STATING]
        nodes = [(n, self.path.kinds[n]) for n in self.path.nodes]
        return edges + [one for one in nodes if one[1] in ("target", "duty")] or nodes

    def _place(self, n: str, kind: str) -> str:
        where = self.filled(f"within_{kind}" if self.is_limited else "always", n=n)
        return self.filled(f"places_{kind}", n=n, where=where)

    def _test_of_place(self, n: str, kind: str) -> str:
        """Return the test that a document that is looked at states an element."""
        if kind in _OF_SEVERAL:
            return self.filled("some", places=self._place(n, kind))
        return self.filled(f"within_{kind}", n=n)

    def _places(self, hops: Sequence[Hop]) -> str:
        """Return the places of what states the path."""
        return self.filled("places", list=", ".join(starmap(self._place, self._stating(hops))))

    def chains(self, columns: Mapping[str, str]) -> str:
        """Return the matches of all lengths of the path, with values by alias."""
        names, written = self.dialect.names, []
        shown = ", ".join(f"{value} AS {alias}" for alias, value in columns.items())
        for hops in self.path.ways():
            start, kind = self.path.nodes[0], self.path.query.start
            first = f"start_{kind}" if self._has(f"start_{kind}") else "start"
            parts = [self.filled(first, n=start, type=names["start"][kind])]
            for a, e, b, step in hops:
                to = RELATIONS[step.relation][step.direction == "out"]
                known = {"relation": names["relation"][step.relation], "type": names["type"][to]}
                parts.append(self.filled(step.direction, a=a, e=e, b=b, **known))
            written.append(
                self.filled(
                    "chain",
                    match="\n".join(parts),
                    where=self._where(hops),
                    columns=shown,
                    places=self._places(hops),
                )
            )
        return "\nUNION ALL\n".join(written)

    def ordered(self, columns: Sequence[Column], first: Column | None, *, descending: bool) -> str:
        """Return the order of rows: by a column, then by all; what is not stated comes last."""
        down = " DESC" if descending else ""
        keys = [f"{first.alias} IS NULL, {first.alias}{down}"] if first else []
        keys += [f"{c.alias} IS NULL, {c.alias}" for c in columns if c != first]
        return ", ".join(keys)


def compiled(
    query: GraphQuery, dialect: Dialect, *, most: int, doc_ids: Collection[str] | None = None
) -> Compiled:
    """Return the statement of a form.

    Args:
        query: The form.
        dialect: Language of the statement.
        most: Rows at most.
        doc_ids: Documents whose statements are looked at, what they cite may be any; None for all.

    Raises:
        OutOfRangeError: If the form asks for what there is not; says what there is.
    """
    path = Path(query)
    writer = _Writer(path, dialect, doc_ids)
    columns, text = (_grouped if query.aggregate else _listed)(query, path, writer)
    tables = _tables(text, dialect.fragment) if dialect.has_tables else ""
    return Compiled(
        tuple(columns), text, {**writer.parameters, "most": most}, dialect.quote, tables
    )


def _listed(query: GraphQuery, path: Path, writer: _Writer) -> tuple[list[Column], str]:
    columns = path.shown()
    first = path.column(query.order) if query.order.strip() else None
    if first and first not in columns:
        columns = list(dict.fromkeys([*columns, *path.columns([query.order])]))
    keys = {column.alias: writer.value(column) for column in columns}
    text = writer.filled(
        "rows",
        chains=writer.chains(keys),
        keys=", ".join(keys),
        order=writer.ordered(columns, first, descending=query.descending),
    )
    return columns, text


def _grouped(query: GraphQuery, path: Path, writer: _Writer) -> tuple[list[Column], str]:
    measured = path.measured()
    by = path.columns(query.by)
    if measured.has_unit and query.aggregate != "count":
        by = list(dict.fromkeys([*by, measured._replace(field="unit")]))
    result = Column("result", query.aggregate, query.aggregate)
    order = query.order.strip()
    first = path.column(order) if order not in ("", "result") else result
    if first not in (result, *by):
        raise OutOfRangeError("groups are ordered by one of their fields, or by what is computed")
    keys = {column.alias: writer.value(column) for column in by}
    value = writer.value(measured) if measured.field else f"{measured.element}.id"
    counted = value if query.aggregate == "count" else f"{measured.element}.id"
    text = writer.filled(
        "groups",
        chains=writer.chains({**keys, "counted": counted, "measured": value}),
        keys="".join(f"{key}, " for key in keys),
        group=", ".join((*keys, "counted", "measured")),
        groups=writer.filled("by", keys=", ".join(keys)) if keys else "",
        aggregate=query.aggregate,
        order=writer.ordered(by, first, descending=query.descending or not order),
    )
    return [*by, result], text


def _tables(text: str, fragment: Callable[[str], str]) -> str:
    """Return the definitions of the tables that a statement reads, and those that they read."""
    named: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for name in re.findall(r"\bform_\w+", waiting.pop()):
            if name not in named:
                named[name] = fragment(f"table_{name}")
                waiting.append(named[name])
    made = (f"{name} AS MATERIALIZED (\n{body}\n)" for name, body in named.items())
    return "WITH " + ",\n".join(made)
