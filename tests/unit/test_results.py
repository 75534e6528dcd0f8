"""Results as JSON, in notebooks, as a graph of networkx."""

import json
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

from kgrag import Citation, Document, Fact
from kgrag.answer.answer import Step, Verdict
from kgrag.api import KnowledgeBase
from kgrag.cli.printing import print_json
from kgrag.maintenance.repairing import RepairReport
from kgrag.metadata import Metadata
from kgrag.results import Hits, ScoredChunk
from kgrag.status import Status
from kgrag.store.contents import Counts, Problem
from kgrag.types import Chunk, Entity, Evidence, Segment
from tests.fixtures.answers import answer_of

CHUNK = Chunk("d:256:0", "d", 256, 0, 3, 9, "光伏 <b>&", "d:2048:0", ("一、<i>目标",))
HIT = ScoredChunk(CHUNK, 0.51234, ("words 1.0",), "甲方案", "folder/a.pdf")
CITATION = Citation(1, "d", "甲<script>x</script>", "a.pdf", ("一",), 3, 5, 9, "500<", "d:256:0")
ANSWER = replace(
    answer_of("问 <script>alert(1)</script>", "500<家[1]。\n第二行", [CITATION], "m"),
    notes=("note <&>",),
    verdict=Verdict("cov", "failed", {"bias": 0.1}, "why"),
    steps=(Step("verify", "", 1, True),),
    fallback=True,
)


def test_an_answer_as_json_has_the_keys_of_the_command_line(capsys):
    """What `ask --json` prints, and it comes back from JSON as it was."""
    data = ANSWER.to_dict()
    assert list(data) == [
        "question", "text", "citations", "found", "method", "notes", "checks", "verdict", "steps",
        "repointed", "blocks",
    ]  # fmt: skip
    assert list(data["verdict"].items())[:2] == [("method", "cov"), ("passed", False)]
    assert data["steps"] == [{"name": "verify", "detail": "", "calls": 1}]
    print_json(data)
    assert json.loads(capsys.readouterr().out) == data
    assert CITATION.to_dict()["heading_path"] == ["一"]


def test_a_hit_as_json_has_the_keys_of_a_run_file_and_the_status():
    assert HIT.to_dict() == {
        "chunk_id": "d:256:0",
        "doc_id": "d",
        "file": "folder/a.pdf",
        "start": 3,
        "end": 9,
        "score": 0.51234,
        "text": "光伏 <b>&",
        "via": ["words 1.0"],
        "status": None,
        "also_in": [],
    }
    ended = replace(HIT, status=Status("expired", "2026-01-01", "2025-02-28"))
    told = {"kind": "expired", "day": "2026-01-01", "since": "2025-02-28"}
    assert ended.to_dict()["status"] == told | {"word": "", "doc_id": "", "title": ""}
    assert ended == HIT


def test_a_notebook_shows_what_is_not_in_force():
    ended = Status("expired", "2026-01-01", "2025-02-28")
    assert "甲方案【已失效，有效期至2025-02-28】 ›" in replace(HIT, status=ended)._repr_html_()
    english = replace(CITATION, title="Plan", status=ended)
    assert "Plan [expired, in force until 2025-02-28] ›" in english._repr_html_()


def test_title_and_file_say_nothing_of_what_a_result_is():
    plain = ScoredChunk(CHUNK, 0.51234, ("words 1.0",))
    assert plain == HIT
    assert hash(plain) == hash(HIT)


def test_documents_facts_and_counts_are_json_too():
    document = Document("d", "甲", "文", "a.txt", "txt", "00", (Segment(0, 1, "line", 1),),
                        properties={"year": "2024"},
                        metadata=Metadata(("甲厅",), issued="2024-03", level="省"))  # fmt: skip
    assert document.card_dict() == {
        "doc_id": "d", "title": "甲", "file": "a.txt", "media_type": "txt",
        "year": 2024, "year_is_inferred": False,
        "metadata": {"issuers": ["甲厅"], "issued": "2024-03", "level": "省"},
    }  # fmt: skip
    fact = Fact("f", Entity("e1", "甲"), "依据", Entity("e2", "乙"), (Evidence("d", 0, 1, "c"),))
    counts = Counts(1, 2, {2048: 3, 256: 4}, 5, 6, 7, 8, 9)
    report = RepairReport((Problem("a", "b", "c"),), ("done",), (), Path("kept.db"))
    for value in (document, fact, counts, report, CHUNK, HIT, ANSWER):
        data = value.to_dict()
        assert json.loads(json.dumps(data)) == data
    assert document.to_dict()["segments"] == [
        {"start": 0, "end": 1, "kind": "line", "number": 1, "level": 0, "label": ""}
    ]
    assert counts.to_dict()["chunks"] == {"2048": 3, "256": 4}
    assert report.to_dict()["found"] == ["a: b: c"]


def test_notebooks_show_text_of_documents_and_never_its_tags():
    for shown in (ANSWER._repr_html_(), HIT._repr_html_(), Hits([HIT])._repr_html_()):
        assert "<script" not in shown
        assert "<i>" not in shown
    assert "问 &lt;script&gt;alert(1)&lt;/script&gt;" in ANSWER._repr_html_()
    assert "<small>note &lt;&amp;&gt;</small>" in ANSWER._repr_html_()
    assert '<li value="1">' in ANSWER._repr_html_()
    assert "a.pdf，第 3 页，第 5 至 9 个字符" in ANSWER._repr_html_()
    assert "500&lt;</div>" in ANSWER._repr_html_()


def test_a_hit_is_shown_with_its_place_and_hits_as_a_list():
    shown = HIT._repr_html_()
    assert (
        "<b>甲方案 › 一、&lt;i&gt;目标</b> <small>0.512, a.pdf，第 3 至 9 个字符</small>" in shown
    )
    assert "光伏 &lt;b&gt;&amp;" in shown
    assert Hits([HIT, HIT])._repr_html_().count("<li") == 2
    assert Hits()._repr_html_() == "<p>nothing found</p>"
    assert Hits([HIT]) == [HIT]


@pytest.fixture(scope="module")
def base(sample_kb):
    with KnowledgeBase.open(sample_kb) as found:
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
