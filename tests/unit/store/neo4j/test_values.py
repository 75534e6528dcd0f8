import json
from typing import Any

from neo4j.graph import Graph, Node, Path
from neo4j.spatial import CartesianPoint
from neo4j.time import Date, DateTime, Duration, Time

from kgrag.store.neo4j.query import plain

GRAPH = Graph()


def node(number, labels, **properties):
    return Node(GRAPH, f"n{number}", number, labels, properties)


def relationship(number, type_, start, end, **properties):
    kind = GRAPH.relationship_type(type_)
    found = kind(GRAPH, f"r{number}", number, properties)
    found._start_node, found._end_node = start, end
    return found


def test_a_node_becomes_labels_and_properties_without_bookkeeping():
    """Vectors and the words of full-text indexes say nothing to a reader."""
    hidden = {"vector": [0.5], "words": "a", "pairs": "b", "path_words": "c", "path_pairs": "d"}
    found = plain(node(1, ["B", "A"], name="甲", embedding=[1.0], **hidden))
    assert found == {"labels": ["A", "B"], "properties": {"name": "甲"}}


def test_a_path_becomes_nodes_and_relationships_in_turn():
    """Relationships are {type, properties}."""
    a, b = node(1, ["A"]), node(2, ["B"])
    found = plain(Path(a, relationship(1, "R", a, b, id="f1")))
    empty: dict[Any, Any] = {"properties": {}}
    assert found == [
        {"labels": ["A"], **empty},
        {"type": "R", "properties": {"id": "f1"}},
        {"labels": ["B"], **empty},
    ]


def test_of_a_vector_only_the_size_is_told():
    """Wherever it stands; lists of 64 numbers and of whole ones stay."""
    assert plain({"v": [0.5] * 65}) == {"v": "(vector of 65 numbers)"}
    assert plain([[0.5] * 64]) == [[0.5] * 64]
    assert plain([1] * 65) == [1] * 65


def test_times_and_points_become_texts():
    """In ISO 8601 where there is such a form."""
    values = [Date(2024, 5, 1), DateTime(2024, 5, 1, 8), Time(8, 0), Duration(days=2, hours=3)]
    assert plain(values) == ["2024-05-01", "2024-05-01T08:00:00.000000000", "08:00:00.000000000",
                             "P2DT3H"]  # fmt: skip
    assert plain(CartesianPoint((1.0, 2.0))) == "point(1.0, 2.0), srid 7203"


def test_every_value_fits_into_json():
    """Numbers that JSON does not know, and unknown kinds, become texts."""
    values = plain([None, True, 1 << 60, 1.5, float("nan"), float("-inf"), "x", b"x", (1,)])
    assert values == [None, True, 1 << 60, 1.5, "nan", "-inf", "x", "b'x'", [1]]
    json.dumps(values, allow_nan=False)
