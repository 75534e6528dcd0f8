from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kgrag.errors import StatementError, StoreUnavailableError
from kgrag.qualifiers import Qualifiers, StatementKind
from kgrag.store.folders import FOLDERS, with_folders
from kgrag.store.sqlite.query import run_query
from tests.fixtures.kit import each

# A text of ten million letters, from a statement of a hundred.
_LONG = (
    "WITH RECURSIVE doubled(s) AS (SELECT 'aaaaaaaaa' UNION ALL SELECT s || s FROM doubled"
    " WHERE length(s) < 4000000), long(s) AS (SELECT max(s) FROM doubled) "
)


def ask(store, sql, *, max_rows=200, timeout_s=5.0):
    return store.run_query(sql, max_rows=max_rows, timeout_s=timeout_s)


def test_each_view_can_be_read(store, make):
    """All columns of all views; a view's count is that of what it shows."""
    kinds: tuple[StatementKind, ...] = ("reference", "target", "duty", "condition", "definition")
    text = "，".join(f"{kind}在此" for kind in kinds)
    facts = [make.qualified("d-q", text, (kind, "有", "此"), Qualifiers(kind)) for kind in kinds]
    store.upsert_document(replace(make.bundle("q", text), facts=facts), source="/q.txt")
    views = ask(store, "SELECT name FROM sqlite_master WHERE type = 'view' AND name LIKE 'kg_%'")
    assert len(views) == 13
    for (view,) in map(dict.values, views):
        assert ask(store, f"SELECT * FROM {view}")
        assert ask(store, f"SELECT count(*) AS n FROM {view}")[0]["n"]


def test_files_are_those_of_the_list_of_documents(store, make):
    """From the folder that was ingested on: where it is on this machine is nobody's business."""
    store.set_meta({FOLDERS: with_folders(None, ["/data/anna/policies"], [])})
    for name in ("a", "b"):
        source = f"/data/anna/policies/gd/{name}.jsonl#{name}/.."
        store.upsert_document(make.bundle(name, "绿色"), source=source)
    sql = "SELECT doc_id, file FROM KG_Documents ORDER BY file"
    shown = {card.doc_id: card.file for card in store.document_cards()}
    assert {row["doc_id"]: row["file"] for row in ask(store, sql)} == shown
    assert {*shown.values()} >= {"policies/gd/a.jsonl#a/..", "policies/gd/b.jsonl#b/.."}
    assert ask(store, "SELECT 1 FROM kg_documents WHERE file LIKE '%anna%'") == []


ALLOWED = [
    "WITH RECURSIVE near(id) AS (SELECT entity_id FROM kg_entities WHERE name = '绿色' UNION"
    " SELECT f.object_id FROM near JOIN kg_facts f ON f.subject_id = near.id)"
    " SELECT count(*) FROM near",
    "SELECT j.value FROM kg_chunks c, json_each(c.heading_path) j",
    "SELECT upper(name) FROM kg_entities WHERE name LIKE '%绿%' ORDER BY length(name);",
    "SELECT COUNT(*), Group_Concat(DISTINCT type), round(avg(length(name))) FROM kg_entities",
    "SELECT name, rank() OVER (PARTITION BY type ORDER BY name), lag(name, 1, '') OVER ()"
    " FROM kg_entities WHERE name NOT GLOB 'x[a-z]*' AND name LIKE 'a!%' ESCAPE '!' IS NOT 1",
    "SELECT heading_path ->> '$[0]', heading_path -> 0, json_extract(heading_path, '$[#-1]'),"
    " json_group_array(chunk_id) FROM kg_chunks GROUP BY doc_id",
    "SELECT CASE WHEN instr(text, '绿') THEN substr(text, 1, 9) ELSE trim(text) END,"
    " coalesce(NULL, iif(1, replace(text, '绿', ''), 0)) FROM kg_documents",
    "SELECT strftime('%Y', 'now'), date('2025-01-31', '+1 month'), CURRENT_DATE, pow(2, 3)",
    "SELECT title FROM kg_documents d WHERE EXISTS"
    " (SELECT 1 FROM kg_mentions m WHERE m.doc_id = d.doc_id)",
]


def test_what_a_question_needs_is_allowed(store):
    """Recursion, JSON, functions, subqueries."""
    assert all(ask(store, sql) for sql in ALLOWED)


REFUSED = [
    "SELECT * FROM pragma_journal_mode('delete')",
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
    "SELECT load_extension('x')",
    "SELECT 1; DELETE FROM documents",
    "SELECT * FROM kg_documents WHERE title = ?",
    "SELEC nonsense",
    "",
    "-- nothing",
    "SELECT '\x00'",
]


def test_anything_else_is_refused_and_changes_nothing(store, tmp_path, monkeypatch):
    """One SELECT, nothing beside it; the error says so."""
    monkeypatch.chdir(tmp_path)
    before = list(store.export())

    def refused(sql):
        with pytest.raises(StatementError):
            ask(store, sql)

    each(refused, REFUSED)
    assert list(store.export()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kb"]


def test_no_more_rows_than_asked_for(store):
    """The rest is not read."""
    assert len(ask(store, "SELECT * FROM kg_chunks", max_rows=3)) == 3


def test_a_query_that_takes_too_long_is_stopped(store):
    """Even one that never ends."""
    with pytest.raises(StatementError, match=r"stopped after 0\.1 s"):
        ask(
            store,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n",
            timeout_s=0.1,
        )


def test_rows_that_hold_too_much_are_refused(store):
    """Bytes are bounded, whatever the number of rows."""
    with pytest.raises(StatementError, match=r"more than 32 MB: ask for less"):
        ask(store, f"{_LONG} SELECT s FROM long, json_each('[1, 2, 3, 4, 5, 6, 7, 8]')")
    assert len(ask(store, f"{_LONG} SELECT s FROM long, json_each('[1, 2, 3, 4]')")) == 4


def test_values_come_as_sqlite_has_them(store):
    """Whatever their type."""
    rows = ask(
        store,
        "SELECT NULL AS a, -9223372036854775808 AS b, 0.1 AS c, 1e999 AS d, x'00ff' AS e,"
        " '绿\n\"𠮷' AS f, '' AS \"名\", x'' AS g",
    )
    assert rows == [
        {
            "a": None,
            "b": -(2**63),
            "c": 0.1,
            "d": float("inf"),
            "e": b"\0\xff",
            "f": '绿\n"𠮷',
            "名": "",
            "g": b"",
        }
    ]


def test_a_damaged_file_is_not_the_statement_s_fault(tmp_path):
    """It comes as what it is, with the remedy."""
    file = tmp_path / "kgrag.db"
    file.write_bytes(b"not a database" * 100)
    database: Any = SimpleNamespace(file=file, uri=file.as_uri(), check_open=lambda: None)
    with pytest.raises(StoreUnavailableError, match="not a knowledge base"):
        run_query(database, "SELECT * FROM kg_chunks", max_rows=1, timeout_s=5)
