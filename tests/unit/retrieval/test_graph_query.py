"""Queries to the graph that a model writes: good, wrong and hostile ones, on SQLite."""

import json
import re
from typing import Any

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelUnavailableError, StatementError
from kgrag.llm.prompts import LANGUAGES, prompt
from kgrag.retrieval.graph_query import ask_graph, chunks_of_rows, rows_as_text
from kgrag.store.neo4j.gate.admit import admit
from kgrag.store.sqlite.query import VIEWS
from kgrag.testing.scripted import ScriptedChat

GOOD = "SELECT f.subject, e.doc_id, e.chunk_id FROM kg_facts f JOIN kg_evidence e USING (fact_id)"
FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"


@pytest.fixture
def kb(tmp_path):
    (tmp_path / "a.txt").write_text("甲方案\n根据《节能法》，制定本方案。\n推进节能。", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        base.ingest([tmp_path / "a.txt"])
        yield base


def written(query, explanation="查依据"):
    return json.dumps({"query": query, "explanation": explanation}, ensure_ascii=False)


def asked(kb, *queries, question="甲方案依据什么？", **limits):
    model = ScriptedChat([written(query) for query in queries])
    return ask_graph(question, model=model, store=kb.store, **limits), model


def examples(name, language):
    """Return the queries that a prompt shows."""
    system = prompt(name, language).system
    return re.findall(r"^(?:SELECT|MATCH) .*$", system, re.MULTILINE)


def test_rows_come_with_the_query_that_found_them(kb):
    """And with what the model says that it looks for."""
    found, model = asked(kb, GOOD + ";")
    assert (found.query, found.language, found.error) == (GOOD + ";", "sql", "")
    assert found.explanation == "查依据"
    assert [row["subject"] for row in found.rows] == ["甲方案"]
    (request,) = model.requests
    assert (request.stage, request.schema_name) == ("analyse", "graph_query")
    assert request.messages[1].content.startswith("<question ")


def test_a_refused_statement_is_told_to_the_model_once(kb):
    """With the engine's reason, not with the statement, which it has before it."""
    found, model = asked(kb, "SELECT nowhere FROM kg_facts", GOOD)
    assert found.query == GOOD
    assert found.rows
    told = model.requests[1].messages[-1].content
    assert "no such column: nowhere" in told
    assert "SELECT nowhere" not in told


def test_a_long_statement_is_not_told_back_either(kb):
    """Stores cut it in their errors."""
    long = f"SELECT nowhere, '{'长' * 300}' FROM kg_facts"
    found, model = asked(kb, long, long)
    assert found.error.startswith("no such column: nowhere")
    assert "长长" not in model.requests[1].messages[-1].content


@pytest.mark.parametrize(
    "hostile",
    [
        "DROP TABLE facts",
        "DROP VIEW kg_facts",
        "ATTACH DATABASE 'stolen.db' AS x",
        "PRAGMA writable_schema = ON",
        "SELECT 1; DELETE FROM documents",
        "SELECT load_extension('x')",
        "INSERT INTO documents DEFAULT VALUES",
        "SELECT * FROM meta",
        "SELECT writefile('stolen', 'x')",
        "VACUUM INTO 'stolen.db'",
        "SELECT * FROM kg_facts WHERE subject = :question",
        "\x00",
    ],
)
def test_hostile_statements_change_nothing_and_raise_nothing(kb, hostile, tmp_path, monkeypatch):
    """The asker gets no rows and the reason; nothing appears in the working folder."""
    monkeypatch.chdir(tmp_path)
    before, files = list(kb.store.export()), sorted(tmp_path.iterdir())
    found, model = asked(kb, hostile, hostile)
    assert (found.query, found.rows) == (hostile.strip(), ())
    assert found.error
    assert len(model.requests) == 2
    assert list(kb.store.export()) == before
    assert sorted(tmp_path.iterdir()) == files


def test_a_statement_that_never_ends_is_stopped(kb):
    """Twice, for the model gets its second try."""
    found, _ = asked(kb, FOREVER, FOREVER, timeout_s=0.05)
    assert "stopped after 0.05 s" in found.error


def test_no_more_rows_than_asked_for(kb):
    """The store heeds the limit, whatever the statement says."""
    found, _ = asked(kb, "SELECT * FROM kg_chunks", max_rows=2)
    assert len(found.rows) == 2


def test_what_reaches_the_store_is_the_models_text_alone(kb, monkeypatch):
    """A question cannot write a piece of the statement."""
    seen = []
    run_query = kb.store.run_query

    def watched(text, **limits):
        seen.append(text)
        return run_query(text, **limits)

    monkeypatch.setattr(kb.store, "run_query", watched)
    found, _ = asked(kb, GOOD, question="'; DROP TABLE facts; --")
    assert set(seen) == {GOOD}
    assert found.rows


@pytest.mark.parametrize("bad", ["我不会写查询。", '{"query": ""}', '{"query": 3}', "[]", ""])
def test_a_model_that_writes_no_query_leaves_an_error(kb, bad):
    """Twice no query is no exception: other routes go on."""
    found = ask_graph("甲？", model=ScriptedChat([bad, bad]), store=kb.store)
    assert (found.query, found.rows) == ("", ())
    assert found.error


def test_a_model_that_is_away_is_the_callers_to_handle(kb):
    """So that one notice stands for all that it would have done."""
    with pytest.raises(ModelUnavailableError):
        ask_graph("甲？", model=ScriptedChat([ModelUnavailableError("gone")]), store=kb.store)


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_in_the_sql_prompt_run(kb, language):
    """Each view and column that it shows is there."""
    shown = examples("graph_query_sql", language)
    assert len(shown) == 5
    for query in shown:
        kb.store.run_query(query, max_rows=50, timeout_s=5.0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_views_in_the_sql_prompt_have_the_columns_that_it_names(kb, language):
    """A wrong column would cost the model's second try."""
    views = re.findall(r"^- (kg_\w+)\((.+?)\)", prompt("graph_query_sql", language).system, re.M)
    assert sorted(view for view, _ in views) == sorted(VIEWS)
    for view, columns in views:
        with kb.store._database.read() as connection:
            held = {row[1] for row in connection.execute(f"PRAGMA table_info({view})")}
        assert {*columns.split(", ")} <= held


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_in_the_cypher_prompt_pass_the_gate(language):
    """A model that follows them is not refused."""
    shown = examples("graph_query_cypher", language)
    assert len(shown) == 7
    for query in shown:
        admit(query)


def test_rows_are_text_one_line_each_within_limits():
    """Line breaks and long values cannot spread; what is left out is counted."""
    rows: list[dict[str, Any]] = [
        {"a": "甲\n乙", "b": None, "c": 3},
        {"a": "长" * 300},
        {"a": 1},
        {"a": 2},
    ]
    first, second, last = rows_as_text(rows, 2).splitlines()
    assert first == "a: 甲 乙; c: 3"
    assert len(second) == 200
    assert last == "… +2"
    assert rows_as_text([], 2) == ""


def test_rows_lead_to_the_chunks_that_they_name(store):
    """In the rows' order, from any column or list; unknown ids and other values lead nowhere."""
    rows: list[dict[str, Any]] = [
        {"chunk_id": "b:10:3", "n": 7},
        {"ids": ["a:10:2", "x:10:0", None]},
        {"t": "长" * 999},
    ]
    assert chunks_of_rows(rows, store, size=10) == ["b:10:3", "a:10:2"]


def test_a_larger_chunk_stands_for_the_leaves_in_it(store):
    """Searches rank leaves."""
    assert chunks_of_rows([{"c": "a:40:1"}], store, size=10) == [f"a:10:{i}" for i in range(4, 8)]


def test_a_document_stands_for_its_first_chunk_where_no_row_says_more(store):
    """Beside a chunk of its own it adds nothing."""
    rows = [{"doc_id": "a"}, {"doc_id": "b", "chunk_id": "b:10:5"}]
    assert chunks_of_rows(rows, store, size=10) == ["a:10:0", "b:10:5"]


def test_rows_lead_to_a_bounded_number_of_chunks(tmp_path):
    """A statement that returns everything must not flood the search."""
    (tmp_path / "a.txt").write_text("推进节能。\n" * 3000, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        base.ingest([tmp_path / "a.txt"])
        rows = base.query("SELECT chunk_id FROM kg_chunks WHERE size = 256", max_rows=1000)
        assert len(rows) > 50
        assert len(chunks_of_rows(rows, base.store, size=256)) == 50


def test_stores_refuse_with_an_error_of_ours(kb):
    """What `ask_graph` catches is all that a statement can bring about."""
    with pytest.raises(StatementError):
        kb.store.run_query("DROP TABLE facts", max_rows=1, timeout_s=1)
