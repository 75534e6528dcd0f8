"""A search that is held to some documents, on a few of which one is better than all others."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ids import document_of
from kgrag.retrieval.dense import similar_chunks
from kgrag.retrieval.fact_vectors import chunks_of_similar_facts
from kgrag.retrieval.figures import chunks_of_figures
from kgrag.retrieval.filter import Filter
from kgrag.retrieval.filtered_store import FilteredStore
from kgrag.retrieval.graph import chunks_of_facts, cited_documents, queried_chunks
from kgrag.retrieval.grim import PRESETS
from kgrag.retrieval.lexical import (
    titles_in_coarse_text,
    titles_in_text,
    words_in_coarse_path,
    words_in_coarse_text,
    words_in_path,
    words_in_text,
)
from kgrag.retrieval.search import Search
from kgrag.retrieval.sections import chunks_of_asked_sections
from kgrag.retrieval.summaries import chunks_and_summaries, summarised_chunks
from kgrag.store.store import SearchedStore

TEXTS = {
    "a": "云岭省节能规划\n根据《节能法》，落实《青川市节能方案》。\n一、节能目标\n绿色工厂50家。",
    "b": "青川市节能方案\n落实《云岭省节能规划》和《节能法》。\n绿色工厂由市工业和信息化局负责。",
    "c": "某委员会关于印发《节能法》的通知\n2021年1月1日发布。\n绿色工厂节能工作由部门负责。",
    "d": "南渡市节能办法\n根据《云岭省节能规划》，绿色工厂节能目标另定。",
}
QUESTIONS = ("绿色工厂的节能目标", "《云岭省节能规划》依据哪些文件？", "哪些文件引用了《节能法》？")
ROUTES = (
    *(words_in_text, words_in_path, words_in_coarse_text, words_in_coarse_path),
    *(titles_in_text, titles_in_coarse_text, similar_chunks, chunks_and_summaries),
    *(summarised_chunks, chunks_of_facts, chunks_of_similar_facts, cited_documents),
    *(queried_chunks, chunks_of_figures, chunks_of_asked_sections),
)


def searched(kb, question):
    """Return the search for a question, as the knowledge base makes it."""
    return kb._knowledge.search(kb._knowledge.query(question))


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    """Four documents with facts, and a summary of each."""
    folder = tmp_path_factory.mktemp("within")
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        base.ingest([folder / f"{name}.txt" for name in TEXTS])
        lines = [
            f'{{"doc": "{name}", "start": 0, "end": 20, "summary": "绿色工厂节能目标{name}"}}'
            for name in TEXTS
        ]
        (folder / "s.jsonl").write_text("\n".join(lines), "utf-8")
        base.import_summaries(folder / "s.jsonl")
        yield base


@pytest.fixture(scope="module")
def ids(kb):
    """Document ids by name."""
    return {Path(card.file).stem: card.doc_id for card in kb.store.document_cards()}


def held(kb, question, doc_ids=None):
    plain = searched(kb, question)
    queried = [f"{doc_id}:256:0" for doc_id in sorted(c.doc_id for c in kb.documents())]
    return Search(
        plain.query,
        store=kb.store,
        embed=HashEmbedder,
        settings=plain.settings,
        queried=queried,
        doc_ids=doc_ids,
    )


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("route", ROUTES)
def test_a_route_finds_within_documents_what_it_finds_of_them_anywhere(kb, ids, route, question):
    """The ranking of a part is the part of the ranking: filters come before it, or change it."""
    everywhere = route(held(kb, question)).hits
    for n in (1, 2, 3):
        for names in combinations(TEXTS, n):
            doc_ids = {ids[name] for name in names}
            ranking = route(held(kb, question, doc_ids))
            assert {document_of(c) for c, _ in ranking.hits} <= doc_ids
            if route not in (
                chunks_of_facts,
                cited_documents,
                titles_in_text,
                titles_in_coarse_text,
                chunks_of_figures,
            ):
                own = [hit for hit in everywhere if document_of(hit[0]) in doc_ids]
                assert [c for c, _ in ranking.hits] == [c for c, _ in own]
                assert [s for _, s in ranking.hits] == pytest.approx([s for _, s in own])


@pytest.mark.parametrize("system", PRESETS)
def test_every_preset_gives_as_many_results_as_there_are_within(kb, ids, system):
    """One document of four, whichever is best: its chunk is found, and no other."""
    for doc_id in ids.values():
        found = PRESETS[system].retrieve(held(kb, QUESTIONS[0], {doc_id}), top_k=1)
        assert [r.chunk.doc_id for r in found] == [doc_id]


def test_evidence_elsewhere_is_not_shown(kb, ids):
    """A fact that two documents state has, within one of them, the evidence there."""
    store = FilteredStore(kb.store, {ids["b"]})
    anchors = [a.entity.entity_id for a in held(kb, QUESTIONS[2]).anchors]
    facts = store.facts_around(anchors, limit=9)
    assert facts
    assert {e.doc_id for f in facts for e in f.evidence} == {ids["b"]}
    assert {e.doc_id for f in store.facts([f.fact_id for f in facts]) for e in f.evidence} == {
        ids["b"]
    }


def test_a_view_shows_no_document_but_its_own(kb, ids):
    """Cards, chunks, families, summaries and titles."""
    store: SearchedStore = FilteredStore(kb.store, {ids["b"]})
    parents = [f"{doc_id}:2048:0" for doc_id in ids.values()]
    assert [c.doc_id for c in store.document_cards()] == [ids["b"]]
    assert [c.doc_id for c in store.chunks(parents)] == [ids["b"]]
    assert {c.doc_id for c in store.children(parents, size=256)} == {ids["b"]}
    assert {c.doc_id for c in store.families(parents)} == {ids["b"]}
    assert {s.doc_id for s in store.summaries()} == {ids["b"]}
    assert store.find_documents("节能", top_k=1) == [ids["b"]]


# What a route may ask, each asked for everything. What these return belongs to no document.
READS: dict[str, Callable[[Any, Any], object]] = {
    "document_cards": lambda store, all_: store.document_cards(),
    "chunks": lambda store, all_: store.chunks(all_.parents),
    "chunks_of": lambda store, all_: store.chunks_of(sorted(all_.doc_ids), size=256),
    "headings": lambda store, all_: store.headings(sorted(all_.doc_ids)),
    "children": lambda store, all_: store.children(all_.parents, size=256),
    "families": lambda store, all_: store.families(all_.parents),
    "summaries": lambda store, all_: store.summaries(),
    "find_documents": lambda store, all_: store.find_documents("节能", top_k=99),
    "search_words": lambda store, all_: store.search_words(
        {"节能": 1.0}, field="text", size=256, top_k=99, doc_ids=all_.doc_ids
    ),
    "search_phrase": lambda store, all_: store.search_phrase(
        "绿色工厂", field="text", size=256, top_k=99
    ),
    "search_vectors": lambda store, all_: store.search_vectors(all_.vector, kind="chunk", top_k=99),
    "begin_search_vectors": lambda store, all_: store.begin_search_vectors(
        all_.vector, kind="summary", top_k=99, doc_ids=all_.doc_ids
    )(),
    "similarities": lambda store, all_: store.similarities(all_.vector, all_.nodes),
    "find_entities": lambda store, all_: store.find_entities(["节能法"]),
    "entity_degrees": lambda store, all_: store.entity_degrees(all_.entities),
    "facts_around": lambda store, all_: store.facts_around(all_.entities, limit=99),
    "triples_around": lambda store, all_: store.triples_around(all_.entities, limit=99),
    "stating_chunks": lambda store, all_: store.stating_chunks(all_.facts),
    "stated_triples": lambda store, all_: store.stated_triples(all_.facts),
    "facts": lambda store, all_: store.facts(all_.facts),
    "side_by_side": lambda store, all_: store.side_by_side([lambda: 1]),
}
OF_NO_DOCUMENT = {"find_entities", "entity_degrees", "side_by_side"}


@pytest.fixture(scope="module")
def everything(kb, ids):
    """What reads are asked for, and what tells of documents but `b`."""
    store, others = kb.store, [doc_id for name, doc_id in ids.items() if name != "b"]
    known = {doc_id: store.knowledge_of(doc_id) for doc_id in ids.values()}
    facts = {doc_id: {f.fact_id for f in found[0]} for doc_id, found in known.items()}
    summaries = {s.summary_id: s.doc_id for s in store.summaries()}
    ends = {e for found in known.values() for f in found[0] for e in (f.subject, f.object)}
    return SimpleNamespace(
        doc_ids=list(ids.values()),
        parents=[f"{doc_id}:2048:0" for doc_id in ids.values()],
        nodes=[*(f"{doc_id}:256:0" for doc_id in ids.values()), *summaries],
        vector=HashEmbedder().embed([QUESTIONS[0]], "query")[0],
        entities=[entity.entity_id for entity in ends],
        facts=sorted(set().union(*facts.values())),
        foreign=[
            *others,
            *(summary for summary, doc_id in summaries.items() if doc_id in others),
            *(set().union(*(facts[doc_id] for doc_id in others)) - facts[ids["b"]]),
        ],
    )


def test_every_read_of_a_route_is_declared():
    """A new one is either held to the documents, or said to belong to none; and tried below."""
    asked = {name for name in dir(SearchedStore) if not name.startswith("_")}
    assert asked == {name for name in vars(FilteredStore) if not name.startswith("_")}
    assert asked == READS.keys()


@pytest.mark.parametrize("name", sorted(READS.keys() - OF_NO_DOCUMENT))
def test_no_read_tells_of_other_documents(kb, ids, everything, name):
    """Neither their ids, nor those of their summaries, nor facts that they alone state."""
    read = READS[name]
    told = repr(read(FilteredStore(kb.store, {ids["b"]}), everything))
    assert not [other for other in everything.foreign if other in told]
    assert [other for other in everything.foreign if other in repr(read(kb.store, everything))]


@pytest.mark.parametrize("name", sorted(OF_NO_DOCUMENT))
def test_what_belongs_to_no_document_is_that_of_the_whole(kb, ids, everything, name):
    """The number of facts around an entity, for instance: it says how common it is."""
    filtered = READS[name](FilteredStore(kb.store, {ids["b"]}), everything)
    assert filtered == READS[name](kb.store, everything)
    assert not [other for other in everything.foreign if other in repr(filtered)]


def test_similarities_are_those_of_nodes_of_the_documents(kb, ids):
    """Chunks and summaries of others are left out."""
    summaries = {s.doc_id: s.summary_id for s in kb.store.summaries()}
    nodes = [f"{doc_id}:256:0" for doc_id in ids.values()] + list(summaries.values())
    vector = HashEmbedder().embed([QUESTIONS[0]], "query")[0]
    everywhere = kb.store.similarities(vector, nodes)

    found = FilteredStore(kb.store, {ids["b"]}).similarities(vector, nodes)

    own = (f"{ids['b']}:256:0", summaries[ids["b"]])
    assert found == {node: everywhere[node] for node in own}


def test_similarities_of_facts_that_only_other_documents_state_are_left_out():
    """Their ids name no document: the evidence tells."""
    store = SimpleNamespace(
        stating_chunks=lambda ids: [("f-1", "a:256:0"), ("f-1", "b:256:0"), ("f-2", "b:256:1")],
        summaries=lambda ids: [],
        similarities=lambda vector, ids: dict.fromkeys(ids, 0.5),
    )
    found = FilteredStore(store, {"a"}).similarities(np.zeros(1, np.float32), ["f-1", "f-2", "f-3"])
    assert found == {"f-1": 0.5}


def test_a_knowledge_base_searches_and_answers_within_a_filter(kb, ids):
    """From Python: any condition; the answer quotes no other document."""
    within = Filter(documents=("d",))
    assert {r.chunk.doc_id for r in kb.search(QUESTIONS[0], within=within)} == {ids["d"]}
    answer = kb.ask(QUESTIONS[0], within=within)
    assert {c.doc_id for c in answer.citations} <= {ids["d"]}
    within = Filter(years=(2021, 2021))
    assert {r.chunk.doc_id for r in kb.search(QUESTIONS[0], within=within)} == {ids["c"]}
    assert any("3 of 4" in note for note in kb.ask(QUESTIONS[0], within=within).notes)
