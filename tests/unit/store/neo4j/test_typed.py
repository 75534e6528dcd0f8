"""Typed nodes and relationships follow from what is stored."""

from dataclasses import replace

import pytest

from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.store.decisions import DecidedNames, Decision
from kgrag.store.neo4j.document_knowledge import DocumentKnowledge
from kgrag.store.neo4j.typed import REFERS_TO, places_of, typed_graph
from tests.fixtures.typed_documents import COVER, METADATA, TEXT, typed_document


def graph_of(bundle, *decisions):
    known = DocumentKnowledge()
    known.add(bundle.facts, bundle.mentions)
    document, decided = bundle.document, DecidedNames.of(decisions)
    return typed_graph(document.doc_id, document.title, document.metadata, known, decided)


def test_what_is_stated_is_one_node_each(make):
    """A duty of two organs is one; a fact without qualifiers is none."""
    graph = graph_of(typed_document(make))
    assert len(graph.targets) == 3
    (duty,) = graph.duties
    assert duty["properties"]["task"] == "推进工业节能"
    assert sorted(row["properties"]["role"] for row in graph.assigned) == ["牵头", "配合"]
    assert {row["duty_id"] for row in graph.assigned} == {duty["properties"]["id"]}
    assert [row["properties"]["written"] for row in graph.assigned] == ["省工信厅", "省财政厅"]
    types = sorted(row["type"] for row in graph.references)
    assert types == ["BASED_ON", "BASED_ON", REFERS_TO, REFERS_TO]


def test_the_same_gives_the_same_rows(make):
    """Whatever the order in which it is told."""
    bundle = typed_document(make)
    other = replace(bundle, facts=list(reversed(bundle.facts)))
    assert graph_of(bundle) == graph_of(other)


def test_numbers_are_numbers(make):
    """As is the year; what is none is left out, and stays in words."""
    graph = graph_of(typed_document(make))
    (target, *_) = (r["properties"] for r in graph.targets if r["properties"]["year"] == 2025)
    assert (target["value"], target["base_value"], target["base_year"]) == (24.0, 23.5, 2020)
    odd = Qualifiers("target", value="nan", value_to="many", year="soon", base_value="1e999")
    fact = make.qualified("d-a", TEXT, ("森林覆盖率", "达到", "24%"), odd)
    bundle = replace(typed_document(make), facts=[fact])
    ((properties),) = [row["properties"] for row in graph_of(bundle).targets]
    told = [properties[key] for key in ("value", "value_to", "year", "base_value", "value_text")]
    assert told == [None, None, None, None, "24%"]


def test_a_place_lies_in_what_the_document_governs(make):
    """One place is one node, whoever names it."""
    graph = graph_of(typed_document(make))
    paths = sorted(row["path"] for row in graph.regions.values())
    assert paths == [["云岭省"], ["云岭省", "青川市"]]
    assert graph.applied == [i for i, row in graph.regions.items() if row["path"] == ["云岭省"]]
    told = {row["properties"]["region"]: row["region_id"] for row in graph.targets}
    assert told["云岭省"] == graph.applied[0]


@pytest.mark.parametrize(
    ("metadata", "places"),
    [
        (Metadata(), []),
        (Metadata(level="部门"), [("全国",)]),
        (Metadata(regions=("上海市", "徐汇区")), [("上海市", "徐汇区")]),
        (
            Metadata(regions=("四川省", "成都市", "重庆市")),
            [("四川省", "成都市"), ("重庆市",)],
        ),
    ],
)
def test_places_of_a_document_are_the_innermost(metadata, places):
    """With what lies around them."""
    assert list(places_of(metadata)) == places


def test_an_issuer_is_called_as_organs_are_elsewhere(make):
    """By its present name, by what a person decided, by its place where its name tells none."""
    issuers = ("环境保护部", "云岭省能源局", "省林业局")
    told = replace(METADATA, issuers=issuers)
    merge = Decision("merge", "云岭省能源局", "云岭省发展和改革委员会")
    graph = graph_of(typed_document(make, metadata=told), merge)
    assert [row["name"] for row in graph.issued] == [
        "生态环境部",
        "云岭省发展和改革委员会",
        "云岭省林业局",
    ]
    assert tuple(row["written"] for row in graph.issued) == issuers


def test_a_place_of_several_statements_is_several(make):
    """Two years of one indicator at one place have ids of their own."""
    bundle = typed_document(make)
    ids = {row["properties"]["id"] for row in graph_of(bundle).targets}
    assert len(ids) == 3
    assert COVER.year == "2025"
