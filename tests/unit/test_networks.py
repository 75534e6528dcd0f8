"""The graph as one of networkx."""

import networkx as nx
import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The samples, in a folder."""
    with KnowledgeBase.open(tmp_path_factory.mktemp("kb"), embedder=HashEmbedder()) as found:
        found.ingest(sample_folder())
        yield found


def of_kind(graph, kind):
    return [(a, b, data) for a, b, data in graph.edges(data=True) if data["kind"] == kind]


def test_nodes_are_documents_and_entities_of_facts(base):
    graph = base.to_networkx()
    kinds = [data["kind"] for _, data in graph.nodes(data=True)]
    assert kinds.count("document") == base.counts().documents == 10
    facts = of_kind(graph, "fact")
    assert len(facts) == base.counts().facts > 0
    ends = {end for a, b, _ in facts for end in (a, b)}
    assert kinds.count("entity") == len(ends)
    for end in ends:
        assert graph.nodes[end]["name"]
        assert graph.nodes[end]["type"]


def test_facts_have_their_predicate_and_all_their_evidence(base):
    graph = base.to_networkx()
    _, facts = base.graph("云岭省碳达峰实施方案", limit=1000)
    assert facts
    for fact in facts:
        edge = graph.edges[fact.subject.entity_id, fact.object.entity_id, fact.fact_id]
        assert edge["predicate"] == fact.predicate
        expected = {(e.doc_id, e.start, e.end) for e in fact.evidence}
        assert sorted(edge["evidence"]) == sorted(expected)
        for doc_id, start, end in edge["evidence"]:
            (document,) = base.store.documents([doc_id])
            assert document.text[start:end]


def test_documents_cite_documents_and_never_themselves(base):
    graph = base.to_networkx()
    cites = of_kind(graph, "cites")
    titles = {
        (graph.nodes[a]["title"], graph.nodes[b]["title"], *data["predicates"])
        for a, b, data in cites
    }
    fund, plan = "云岭省节能降碳专项资金管理办法", "云岭省碳达峰实施方案"
    assert any(row[:2] == (fund, plan) and "依据" in row[2:] for row in titles)
    assert not [a for a, b, _ in cites if a == b]
    most_cited = nx.in_degree_centrality(nx.DiGraph([(a, b) for a, b, _ in cites]))
    assert graph.nodes[max(most_cited, key=most_cited.__getitem__)]["title"] == plan
