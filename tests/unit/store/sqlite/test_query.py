import time

import pytest

from kgrag.errors import StatementError, StoreError
from kgrag.store.sqlite.query import VIEWS


def test_rows_come_as_mappings(store):
    """Names as the statement gives them; values as stored."""
    rows = store.run_query(
        "SELECT f.subject, f.predicate, f.object, count(*) AS n FROM kg_facts f"
        " JOIN kg_evidence e USING (fact_id) GROUP BY f.fact_id ORDER BY n DESC LIMIT 1"
    )
    assert rows == [{"subject": "绿色", "predicate": "修饰", "object": "工厂", "n": 4}]


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_can_be_read(store, view):
    """All columns of all views; a view's count is that of what it shows."""
    assert store.run_query(f"SELECT * FROM {view}")
    assert store.run_query(f"SELECT count(*) AS n FROM {view}")[0]["n"]


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE near(id) AS (SELECT entity_id FROM kg_entities WHERE name = '绿色' UNION"
        " SELECT f.object_id FROM near JOIN kg_facts f ON f.subject_id = near.id)"
        " SELECT count(*) FROM near",
        "SELECT j.value FROM kg_chunks c, json_each(c.heading_path) j",
        "SELECT upper(name) FROM kg_entities WHERE name LIKE '%绿%' ORDER BY length(name);",
        "SELECT title FROM kg_documents d WHERE EXISTS"
        " (SELECT 1 FROM kg_mentions m WHERE m.doc_id = d.doc_id)",
    ],
)
def test_what_a_question_needs_is_allowed(store, sql):
    """Recursion, JSON, functions, subqueries."""
    assert store.run_query(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM documents",
        "INSERT INTO meta VALUES ('a', 'b')",
        "UPDATE kg_documents SET title = 'x'",
        "DROP VIEW kg_documents",
        "CREATE TEMP TABLE t (a)",
        "ATTACH 'x.db' AS x",
        "PRAGMA user_version = 9",
        "PRAGMA table_info(documents)",
        "VACUUM INTO 'copy.db'",
        "BEGIN",
        "SELECT * FROM meta",
        "SELECT vector FROM embeddings",
        "SELECT * FROM sqlite_master",
        "WITH kg_facts AS (SELECT value FROM meta) SELECT * FROM kg_facts",
        "SELECT name FROM entity_names",
        "SELECT (SELECT value FROM meta) FROM kg_documents",
        "SELECT * FROM entity_search",
        "SELECT * FROM pragma_table_info('documents')",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM documents",
        "SELECT * FROM kg_documents WHERE title = ?",
        "SELECT length(zeroblob(100000000))",
        "SELEC nonsense",
        "",
        "-- nothing",
        "SELECT '\x00'",
    ],
)
def test_anything_else_is_refused_and_changes_nothing(store, sql, tmp_path, monkeypatch):
    """One SELECT over the views, nothing beside it; the error says so."""
    monkeypatch.chdir(tmp_path)
    before = list(store.export())

    with pytest.raises(StatementError):
        store.run_query(sql)
    assert list(store.export()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kb"]


def test_no_more_rows_than_asked_for(store):
    """The rest is not read."""
    assert len(store.run_query("SELECT * FROM kg_chunks", max_rows=3)) == 3


def test_a_query_that_takes_too_long_is_stopped(store):
    """Even one that never ends."""
    began = time.monotonic()
    with pytest.raises(StatementError, match=r"stopped after 0\.1 s"):
        store.run_query(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n",
            timeout_s=0.1,
        )
    assert time.monotonic() - began < 5


def test_a_closed_store_refuses_queries(store):
    """As it refuses everything."""
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.run_query("SELECT * FROM kg_documents")
