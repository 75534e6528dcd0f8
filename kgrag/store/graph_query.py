"""A query to the graph as a form: what can be asked, in closed tables, and what it means.

A path begins at nodes of a type and takes steps along relations. Elements of it are called by type
or relation, the second of a kind with a 2: document, based_on, document2, based_on2, document3.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar, Literal, NamedTuple, Self

from kgrag.errors import OutOfRangeError
from kgrag.limits import check_whole

_NodeType = Literal["document", "target", "duty", "organ", "entity"]
_Relation = Literal[
    "states", "assigns", "assigned_to", "names", "related", "cites", "based_on", "implements",
    "amends", "repeals", "forwards", "issues", "refers_to",
]  # fmt: skip
Op = Literal[
    "=", "!=", "<", "<=", ">", ">=", "contains", "starts", "ends", "in", "stated", "unstated"
]
_Aggregate = Literal["", "count", "min", "max", "sum", "avg"]

OF_DOCUMENTS = (
    "based_on", "implements", "amends", "repeals", "forwards", "issues", "refers_to",
)  # fmt: skip
RELATIONS: Mapping[str, tuple[_NodeType, _NodeType]] = {
    "states": ("document", "target"),
    "assigns": ("document", "duty"),
    "assigned_to": ("duty", "organ"),
    "names": ("document", "entity"),
    "related": ("entity", "entity"),
    **dict.fromkeys(("cites", *OF_DOCUMENTS), ("document", "document")),
}
# Of each kind of element, those that a row shows by default first; of nodes the first is a name.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "document": (
        *("title", "number", "id", "issuer", "issuers", "written", "issued", "effective"),
        *("expires", "kind", "level", "region", "regions", "status", "notice", "year", "held"),
    ),
    "target": (
        *("indicator", "comparator", "value", "value_to", "unit", "year", "region", "standing"),
        *("predicate", "bound", "period", "base_year", "base_value", "level", "scope", "binding"),
        "condition",
    ),
    "duty": ("task", "deadline", "year", "region", "condition"),
    "organ": ("name",),
    "entity": ("name", "type"),
    "assigned_to": ("role",),
    "related": ("predicate",),
    **dict.fromkeys(("cites", *OF_DOCUMENTS), ("role",)),
}
_SHOWN = {"document": 2, "target": 8, "duty": 2}  # of the fields, where it is not all
_NUMBERS = frozenset({"value", "value_to", "base_value", "year", "base_year"})
_LISTS = frozenset({"issuers", "regions", "status"})
_WITH_UNIT = frozenset({"value", "value_to", "base_value"})
_MOST_HOPS = 4
_MOST_VALUE = 500  # characters
_MOST_PARTS = 40  # conditions, or columns
_LARGEST = 1e300
_LISTED = re.compile(r"[、，,；;]+")
_CONDITION = re.compile(
    r"([\w.]*+)\s*+(=|!=|<=|<|>=|>|(?:contains|starts|ends|in|stated|unstated)\b)(.*)", re.DOTALL
)
_STRICT: Mapping[str, Any] = {"extra": "forbid", "coerce_numbers_to_str": True}
_KNOWN = "; ".join(
    f"{kind}: {', '.join(names)}" for kind, names in FIELDS.items() if kind not in OF_DOCUMENTS
)


def _told(english: str, chinese: str, *, default: Any = "", **limits: Any) -> Any:
    """Declare a field of the form; see `kgrag.tools.arguments.argument`."""
    about = {"description": english, "title": chinese, **limits}
    return field(metadata=about) if default is None else field(default=default, metadata=about)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition on a field; as a text: `target.year >= 2025`."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _STRICT
    field: str = _told(
        "A field: year is that of the first element of the path that has one, document2.year that "
        f"of the second document. {_KNOWN}.",
        "字段：year 为路径上第一个有此字段的元素的，document2.year 为第二个文件的。" + _KNOWN,
        default=None,
    )
    op: Op = _told(
        "How it compares; `in` is one of several, divided by 、.",
        "比较方式；in 为其中之一，各项用顿号隔开。",
        default=None,
    )
    value: str = _told(
        "A text, or a number in the field's stored unit: 万 and 亿 multiplied out, 千瓦, 吨标准煤.",
        "文字，或以库中单位计的数：万、亿已换算，功率为千瓦，能耗为吨标准煤。",
    )

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return the condition that a text states, such as `title contains 节能`.

        Raises:
            OutOfRangeError: If it has no comparison.
        """
        found = _CONDITION.fullmatch(text.strip())
        if not found:
            raise OutOfRangeError(
                "{text!r} is no condition: write FIELD OP VALUE, as year >= 2025", text=text[:80]
            )
        name, op, value = found.groups()
        return cls(field=name, op=op, value=value.strip())  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step along a relation; as a text: `based_on`, `in assigns`, `based_on 3`."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _STRICT
    relation: _Relation = _told(
        "document states target, assigns duty, names entity, cites (or based_on, implements, "
        "amends, repeals, forwards, issues, refers_to) document, held or not; duty assigned_to "
        "organ; entity related entity.",
        "关系：document states target、assigns duty、names entity、cites（或按作用：based_on 依据，"
        "implements 落实，amends 修订，repeals 废止，forwards 转发，issues 印发，refers_to 其他）"
        "document；duty assigned_to organ；entity related entity。",
        default=None,
    )
    direction: Literal["out", "in"] = _told(
        "out: in the direction of the relation; in: against it.",
        "out 为顺着关系，in 为逆着关系。",
        default="out",
    )
    hops: int = _told(
        "Up to so often: of what connects documents, or entities.",
        "最多连走几步；只用于文件之间、实体之间的关系。",
        default=1,
        ge=1,
        le=_MOST_HOPS,
    )

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return the step that a text states, such as `in based_on 2`.

        Raises:
            OutOfRangeError: If it states none.
        """
        relation, direction, hops = "", "out", "1"
        for word in text.split():
            if word in ("in", "out"):
                direction = word
            elif word in RELATIONS:
                relation = word
            else:
                hops = word
        if not relation or not re.fullmatch(r"[1-4]", hops):
            raise OutOfRangeError(
                "{text!r} is no step: write [in] RELATION [HOPS]; relations are {known}",
                text=text[:80],
                known=", ".join(RELATIONS),
            )
        return cls(relation=relation, direction=direction, hops=int(hops))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class GraphQuery:
    """What is asked of the graph."""

    start: _NodeType = _told(
        "Type of the nodes at which paths begin.", "起点的类型。", default=None
    )
    name: str = _told(
        "Only those that are called so, or longer: a title, indicator, task or name.",
        "只要名称（标题、指标、任务）含此词的起点。",
    )
    step: tuple[Step, ...] = _told(
        "Steps from there along relations, 4 in all.", "由此沿关系走的各步，共不超过4步。",
        default=(), max_length=_MOST_HOPS,
    )  # fmt: skip
    where: tuple[Condition, ...] = _told(
        "Conditions that all hold.", "须同时满足的条件。", default=(), max_length=_MOST_PARTS
    )
    returns: tuple[str, ...] = _told(
        "Fields that are returned, named as in conditions; the usual ones if none.",
        "返回哪些字段，写法同条件；不写为常用字段。",
        default=(), max_length=_MOST_PARTS, listed=True,
    )  # fmt: skip
    aggregate: _Aggregate = _told("What is computed of a group.", "对各组计算什么。")
    of: str = _told(
        "Of what: an element (count: the last node), or one of its fields.",
        "对什么计算：某个元素（计数默认为路径末端）或其字段。",
    )
    by: tuple[str, ...] = _told(
        "Fields whose values make groups.", "按哪些字段分组。",
        default=(), max_length=_MOST_PARTS, listed=True,
    )  # fmt: skip
    order: str = _told(
        "Field by which rows are ordered; groups: one, or `result`; the largest first if empty.",
        "按哪个字段排序；分组按字段或计算结果（result），不写为结果由大到小。",
    )
    descending: bool = _told("The largest first.", "由大到小。", default=False)


class Column(NamedTuple):
    """A field of an element of the path.

    Attributes:
        element: As it is called: document2.
        kind: Its type or relation; of what is computed, how.
        field: Of it.
    """

    element: str
    kind: str
    field: str

    def __str__(self) -> str:
        """Return how a form names it."""
        return f"{self.element}.{self.field}"

    @property
    def is_list(self) -> bool:
        """Whether its text has several values, joined by 、."""
        return self.field in _LISTS

    @property
    def has_unit(self) -> bool:
        """Whether it is a number that means nothing without the unit of its target."""
        return self.field in _WITH_UNIT

    @property
    def alias(self) -> str:
        """The name of the column in a statement."""
        return f"{self.element}_{self.field}"


class Hop(NamedTuple):
    """A hop of a path.

    Attributes:
        start: The node from which it goes.
        edge: The relation's.
        end: The node to which it goes.
        step: Of the form.
    """

    start: str
    edge: str
    end: str
    step: Step


class Path:
    """The elements of a path, by name, and what its conditions and fields mean.

    Raises:
        OutOfRangeError: If the form asks for what there is not.
    """

    def __init__(self, query: GraphQuery) -> None:
        self.kinds: dict[str, str] = {}
        self.query = query
        self.nodes = [self._add(query.start)]
        self.edges: list[str] = []
        self.counts: list[int] = []  # greatest number of hops of each step
        for step in query.step:
            ends = RELATIONS[step.relation]
            source, target = ends if step.direction == "out" else ends[::-1]
            here = self.kinds[self.nodes[-1]]
            if here != source:
                raise OutOfRangeError(
                    "{relation} ({direction}) begins at {source}, and the path is at {here}",
                    relation=step.relation, direction=step.direction, source=source, here=here,
                )  # fmt: skip
            if step.hops > 1 and source != target:
                raise OutOfRangeError("{relation} has one hop", relation=step.relation)
            self.edges.append(self._add(step.relation))
            self.nodes.append(self._add(target))
            self.counts.append(step.hops)
        if sum(self.counts) > _MOST_HOPS:
            raise OutOfRangeError("a path has at most {most} hops", most=_MOST_HOPS)

    def _add(self, kind: str) -> str:
        n = list(self.kinds.values()).count(kind) + 1
        name = kind if n == 1 else f"{kind}{n}"
        self.kinds[name] = kind
        return name

    def column(self, text: str) -> Column:
        """Return the field that a text names."""
        element, dot, name = text.strip().rpartition(".")
        for one, kind in self.kinds.items():
            if name in FIELDS.get(kind, ()) and (one == element or not dot):
                return Column(one, kind, name)
        known = (f"{one}: {', '.join(FIELDS.get(kind, ()))}" for one, kind in self.kinds.items())
        raise OutOfRangeError(
            "the path has no field {name!r}; it has {known}",
            name=text[:80],
            known="; ".join(one for one in known if not one.endswith(": ")),
        )

    def columns(self, texts: Sequence[str]) -> list[Column]:
        """Return fields, each once; those that a number means nothing without are added."""
        found: dict[Column, None] = {}
        for one in map(self.column, texts):
            if one.has_unit:
                found[one._replace(field="comparator")] = None
                found[one] = found[one._replace(field="unit")] = None
            found[one] = None
        return list(found)

    def conditions(self) -> list[tuple[Column, Op, tuple[str | float, ...]]]:
        """Return the conditions with their values as the field has them."""
        asked = list(self.query.where)
        if self.query.name.strip():
            named = f"{self.query.start}.{FIELDS[self.query.start][0]}"
            asked.append(Condition(field=named, op="contains", value=self.query.name.strip()))
        return [self._condition(one) for one in asked]

    def _condition(self, asked: Condition) -> tuple[Column, Op, tuple[str | float, ...]]:
        of = self.column(asked.field)
        if asked.op in ("stated", "unstated"):
            return of, asked.op, ()
        texts = [asked.value.strip()]
        if asked.op == "in":
            texts = [one for part in _LISTED.split(asked.value) if (one := part.strip())]
        if not texts or not all(texts):
            raise OutOfRangeError("{field} {op} needs a value", field=of, op=asked.op)
        if max(map(len, texts)) > _MOST_VALUE or len(texts) > _MOST_PARTS:
            raise OutOfRangeError(
                "{where} has at most {max_length} characters", where=of, max_length=_MOST_VALUE
            )
        check_whole("query", *texts)
        if of.field not in _NUMBERS:
            return of, asked.op, tuple(texts)
        if asked.op in ("contains", "starts", "ends"):
            raise OutOfRangeError("{field} is a number: {op} is of texts", field=of, op=asked.op)
        return of, asked.op, tuple(_number(of, one) for one in texts)

    def shown(self) -> list[Column]:
        """Return the fields that a row has."""
        if self.query.returns:
            return self.columns(self.query.returns)
        return [
            Column(name, kind, one)
            for name, kind in self.kinds.items()
            for one in FIELDS.get(kind, ())[: _SHOWN.get(kind)]
        ]

    def measured(self) -> Column:
        """Return what is computed of; a field that is empty is the node itself."""
        asked = self.query.of.strip()
        if self.query.aggregate == "count" and (not asked or asked in self.nodes):
            name = asked or self.nodes[-1]
            return Column(name, self.kinds[name], "")
        found = self.column(asked)
        if self.query.aggregate != "count" and found.field not in _NUMBERS:
            raise OutOfRangeError(
                "{field} is no number: only numbers have a {aggregate}",
                field=found,
                aggregate=self.query.aggregate,
            )
        return found

    def ways(self) -> Iterator[list[Hop]]:
        """Yield the hops of each length of the path: node, edge, node, step."""
        for lengths in product(*(range(1, n + 1) for n in self.counts)):
            hops: list[Hop] = []
            for at, n in enumerate(lengths):
                here, step = self.nodes[at], self.query.step[at]
                for i in range(1, n):
                    between = f"{self.nodes[at + 1]}_via{i}"
                    hops.append(Hop(here, f"{self.edges[at]}_via{i}", between, step))
                    here = between
                hops.append(Hop(here, self.edges[at], self.nodes[at + 1], step))
            yield hops


def _number(of: Column, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) < _LARGEST:
        raise OutOfRangeError(
            "{field} is compared with a number in its stored unit, as 500000, not {value!r}",
            field=of,
            value=text[:80],
        )
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def relaxed(query: GraphQuery) -> Iterator[tuple[Column, Op, tuple[str | float, ...], GraphQuery]]:
    """Yield the field, comparison and values of each condition, and the form without it.

    That form lists rows as the whole one does, with the values of the field.

    Raises:
        OutOfRangeError: If the form asks for what there is not.
    """
    path = Path(query)
    shown = () if query.aggregate else tuple(map(str, path.shown()))
    for n, (of, op, values) in enumerate(path.conditions()):
        rest = query.where[:n] + query.where[n + 1 :]
        name = query.name if n < len(query.where) else ""
        asked = replace(query, where=rest, name=name, aggregate="", of="", by=(), order="")
        yield of, op, values, replace(asked, returns=(*shown, str(of)))
