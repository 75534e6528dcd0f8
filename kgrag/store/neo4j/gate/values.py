"""Convert values of Neo4j to JSON, without vectors and internal properties."""

import math
from collections.abc import Callable, Mapping

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

# Of nodes: vectors, and the words and pairs of characters that full-text indexes read.
_HIDDEN = frozenset({"vector", "embedding", "words", "pairs", "path_words", "path_pairs"})
_MOST_FLOATS = 64  # in a list; more are a vector


def plain(value: object) -> object:
    """Return a value as text, number, list or mapping.

    Nodes become {labels, properties}, relationships {type, properties}, paths the list of both
    in turn, dates and points texts; of a vector only its size is given.
    """
    for kind, convert in _CONVERTERS.items():
        if isinstance(value, kind):
            return convert(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _float(value: float) -> object:
    return value if math.isfinite(value) else str(value)  # JSON knows no NaN


def _list(values: "list[object] | tuple[object, ...]") -> object:
    if len(values) > _MOST_FLOATS and all(isinstance(v, float) for v in values):
        return f"(vector of {len(values)} numbers)"
    return [plain(v) for v in values]


def _mapping(values: Mapping[str, object]) -> dict[str, object]:
    return {key: plain(v) for key, v in values.items()}


def _properties(entity: Node | Relationship) -> dict[str, object]:
    return {key: plain(v) for key, v in sorted(entity.items()) if key not in _HIDDEN}


def _node(node: Node) -> dict[str, object]:
    return {"labels": sorted(node.labels), "properties": _properties(node)}


def _relationship(relationship: Relationship) -> dict[str, object]:
    return {"type": relationship.type, "properties": _properties(relationship)}


def _path(path: Path) -> list[object]:
    first, *others = path.nodes
    steps: list[object] = [_node(first)]
    for relationship, node in zip(path.relationships, others, strict=True):
        steps += [_relationship(relationship), _node(node)]
    return steps


def _time(value: Date | DateTime | Time | Duration) -> str:
    return value.iso_format()


def _point(point: Point) -> str:
    return f"point({', '.join(map(str, point))}), srid {point.srid}"


# Points and durations are tuples too: they stand first.
_CONVERTERS: dict[type, Callable[..., object]] = {
    Node: _node,
    Relationship: _relationship,
    Path: _path,
    Point: _point,
    Duration: _time,
    DateTime: _time,
    Date: _time,
    Time: _time,
    float: _float,
    list: _list,
    tuple: _list,
    dict: _mapping,
}
