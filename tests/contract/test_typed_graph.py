"""What an analyst asks in the store's own language: both have the same targets and duties."""

from dataclasses import replace

import pytest

from kgrag.metadata import Metadata
from kgrag.store.sqlite.store import SQLiteStore
from tests.fixtures.typed_documents import cited_document, typed_document

TARGETS = {
    "sql": "SELECT doc_id, fact_id, indicator, predicate, object, value, value_to, unit,"
    " comparator, bound, year, period, base_year, base_value, region, scope, standing, binding,"
    ' condition, start, "end", chunk_id, extractor, confidence FROM kg_targets',
    "cypher": "MATCH (d:Document)-[:STATES]->(t:Target)-[:OF]->(s:Entity)"
    " MATCH (s)-[f:RELATED {id: t.fact_id}]->(o:Entity)"
    " RETURN d.id AS doc_id, t.fact_id AS fact_id, t.indicator AS indicator,"
    " t.predicate AS predicate, o.name AS object, t.value AS value, t.value_to AS value_to,"
    " t.unit AS unit,"
    " t.comparator AS comparator, t.bound AS bound,"
    " t.year AS year, t.period AS period, t.base_year AS base_year,"
    " t.base_value AS base_value, t.region AS region, t.scope AS scope, t.standing AS standing,"
    " t.binding AS binding, t.condition AS condition, t.start AS start, t.end AS `end`,"
    " t.chunk_id AS chunk_id, t.extractor AS extractor, t.confidence AS confidence",
}
DUTIES = {
    "sql": "SELECT doc_id, fact_id, organ, role, task, deadline, year, region, condition, start,"
    ' "end", chunk_id, extractor, confidence FROM kg_duties',
    "cypher": "MATCH (d:Document)-[:ASSIGNS]->(u:Duty)-[a:ASSIGNED_TO]->(o:Organ)"
    " RETURN d.id AS doc_id, a.fact_id AS fact_id, o.name AS organ, a.role AS role,"
    " u.task AS task, u.deadline AS deadline, u.year AS year, u.region AS region,"
    " u.condition AS condition, u.start AS start, u.end AS `end`, u.chunk_id AS chunk_id,"
    " u.extractor AS extractor, a.confidence AS confidence",
}
REFERS = {
    "sql": "SELECT doc_id, fact_id, role, title, coalesce(number, '') AS number, cited_doc_id,"
    " coalesce(match, '') AS match, start, \"end\", chunk_id, extractor, confidence"
    " FROM kg_references",
    "cypher": "MATCH (d:Document)"
    "-[r:BASED_ON|IMPLEMENTS|AMENDS|REPEALS|FORWARDS|ISSUES|REFERS_TO]->(cited)"
    " UNWIND range(0, size(r.starts) - 1) AS i"
    " RETURN d.id AS doc_id, r.fact_ids[i] AS fact_id, r.role AS role, r.titles[i] AS title,"
    " r.numbers[i] AS number, CASE WHEN cited:Document THEN cited.id END AS cited_doc_id,"
    " r.matches[i] AS `match`, r.starts[i] AS start, r.ends[i] AS `end`,"
    " r.chunk_ids[i] AS chunk_id, r.extractors[i] AS extractor, r.confidences[i] AS confidence",
}
ISSUERS = {
    "sql": "SELECT doc_id, issuers FROM kg_documents WHERE issuers IS NOT NULL",
    "cypher": "MATCH (d:Document)-[r:ISSUED_BY]->(:Organ) WITH d, r ORDER BY r.index"
    " WITH d, collect(r.written) AS names"
    " RETURN d.id AS doc_id, reduce(t = head(names), n IN tail(names) | t + '、' + n) AS issuers",
}


QUESTIONS = (TARGETS, DUTIES, REFERS, ISSUERS)


def asked(store, texts):
    """Return the rows of a question as they compare in both languages."""
    rows = store.run_query(texts[store.query_language], max_rows=200, timeout_s=5.0)
    return sorted((sorted(row.items()) for row in rows), key=repr)


@pytest.fixture
def same(tmp_path):
    """Return what compares a store's answers with those of a folder that holds the same."""
    n = 0

    def compare(store):
        nonlocal n
        n += 1
        folder = SQLiteStore.open(tmp_path / f"same{n}")
        for card in store.document_cards():
            folder.upsert_document(store.bundle(card.doc_id), source=f"/{card.doc_id}.txt")
        answers = [asked(folder, texts) for texts in QUESTIONS]
        folder.close()
        assert [asked(store, texts) for texts in QUESTIONS] == answers
        assert store.verify() == []
        return answers

    return compare


def held_by(answers):
    """Return which documents the references lead to."""
    return {dict(row)["cited_doc_id"] for row in answers[2]} - {None}


def test_both_languages_tell_the_same(store, make, same):
    """Every column of targets, duties, references and issuers."""
    store.upsert_document(typed_document(make), source="/a.txt")
    targets, duties, references, issuers = same(store)
    assert [len(rows) for rows in (targets, duties, references, issuers)] == [3, 2, 4, 1]
    assert dict(targets[0])["value"] == 24
    assert {dict(row)["bound"] for row in targets} == {"~", None}
    assert {dict(row)["role"] for row in duties} == {"牵头", "配合"}
    assert dict(issuers[0])["issuers"] == "云岭省人民政府、云岭省能源局"


def test_a_document_that_comes_and_goes_is_referred_to_while_it_is_held(store, make, same):
    """Of two that could be meant the one with the smaller id; until then a title stands for it."""
    store.upsert_document(typed_document(make), source="/a.txt")
    assert held_by(same(store)) == set()
    store.upsert_document(cited_document(make, "c"), source="/c.txt")
    assert held_by(same(store)) == {"d-c"}
    store.upsert_document(cited_document(make, "b"), source="/b.txt")
    assert held_by(same(store)) == {"d-b"}
    store.delete_document("d-b")
    assert held_by(same(store)) == {"d-c"}
    store.upsert_document(cited_document(make, "d"), source="/c.txt")
    assert held_by(same(store)) == {"d-d"}
    store.delete_document("d-d")
    assert held_by(same(store)) == set()


def test_a_document_that_is_called_otherwise_is_referred_to_under_its_new_name(store, make, same):
    """A corrected title or issuer makes it another node, or the one that is meant."""
    store.upsert_document(typed_document(make), source="/a.txt")
    bundle = cited_document(make)
    store.upsert_document(bundle, source="/b.txt")
    assert held_by(same(store)) == {"d-b"}
    for changed, held in (
        ({"metadata": Metadata(issuers=("南渡省人民政府",))}, set()),
        ({}, {"d-b"}),
        ({"title": "节能条例"}, set()),
    ):
        document = replace(bundle.document, **changed)
        store.upsert_document(replace(bundle, document=document), source="/b.txt")
        assert held_by(same(store)) == held


def test_what_a_document_says_no_more_is_gone(store, make, same):
    """When it comes again, is replaced, gets more, or is deleted."""
    bundle = typed_document(make)
    store.upsert_document(bundle, source="/a.txt")
    store.upsert_document(typed_document(make, "b"), source="/b.txt")
    kept = [f for f in bundle.facts if f.predicate == "配合"]
    store.upsert_document(replace(bundle, facts=kept), source="/a.txt")
    assert [len(rows) for rows in same(store)] == [3, 3, 4, 2]
    store.add_knowledge("d-a", facts=bundle.facts)
    assert [len(rows) for rows in same(store)] == [6, 4, 8, 2]
    store.replace_knowledge("d-a", facts=kept, mentions=[])
    assert [len(rows) for rows in same(store)] == [3, 3, 4, 2]
    store.delete_document("d-b")
    assert [len(rows) for rows in same(store)] == [0, 1, 0, 1]
    store.delete_document("d-a")
    assert [len(rows) for rows in same(store)] == [0, 0, 0, 0]


def test_a_statement_over_several_chunks_is_one(store, make, same):
    """With the first of them."""
    bundle = typed_document(make)
    (fact, *_) = bundle.facts
    chunks = ("d-a:8:6", "d-a:8:5")
    spots = tuple(
        replace(e, start=44, end=52, chunk_id=chunk) for e in fact.evidence for chunk in chunks
    )
    facts = [replace(fact, evidence=spots)]
    store.upsert_document(replace(bundle, facts=facts), source="/a.txt")
    targets, *_ = same(store)
    assert [dict(row)["chunk_id"] for row in targets] == ["d-a:8:5"] * 2
