import random
import sqlite3
from contextlib import closing

import pytest

from kgrag.store.sqlite.query_process import answer

_COLUMNS = {
    "kg_documents": ("doc_id", "title", "characters", "text", "file"),
    "kg_chunks": ("chunk_id", "doc_id", "position", "heading_path", "text"),
    "kg_facts": ("fact_id", "subject", "predicate", "object"),
    "kg_mentions": ("name", "doc_id", "start", "confidence"),
}
_CONSTANTS = ("0", "-1", "1e308", "9223372036854775807", "NULL", "x'00'", "'%a%b%'", "'$[0]'")
_OPERATORS = ("||", "+", "/", "%", "=", "<", "LIKE", "GLOB", "AND", "->", "->>", "IS")


@pytest.fixture
def ask(store, folder):
    """Run a statement in this process."""

    def asked(sql, *, max_rows=5, timeout_s=5.0):
        uri = (folder / "kgrag.db").as_uri()
        limits = {"max_rows": max_rows, "timeout_s": timeout_s}
        return answer(sql, uri=uri, files={}, **limits)

    return asked


def _functions():
    with closing(sqlite3.connect(":memory:")) as connection:
        rows = connection.execute("SELECT DISTINCT name, narg, type FROM pragma_function_list")
        return rows.fetchall()


def test_an_answer_has_names_and_rows_or_a_reason(ask):
    """SQLite's own reasons have its name for the error."""
    assert ask("SELECT 1 AS a, 'b'") == {"names": ["a", "'b'"], "rows": [(1, "b")]}
    assert ask("") == {"reason": "not a SELECT: ask for rows"}
    assert ask("SELECT x") == {"reason": "no such column: x", "error": "SQLITE_ERROR"}
    assert ask("DELETE FROM facts")["error"] == "SQLITE_AUTH"


def test_the_size_of_a_statement_is_bounded(ask):
    """In each way in which it can be large; just below, it is answered."""

    def statements(more):
        return (
            "SELECT title LIKE '" + "%" * (1000 + more) + "' FROM kg_documents",
            "SELECT " + ", ".join(f"1 AS c{n}" for n in range(100 + more)),
            "SELECT 1" + " UNION SELECT 1" * (49 + more),
            "SELECT 1" + " + 1" * (199 + more),
            "SELECT coalesce(" + ", ".join(["NULL"] * (32 + more)) + ")",
            "SELECT '" + "x" * (100_000 - len("SELECT ''") + more) + "'",
        )

    assert [sql[:20] for sql in statements(0) if "rows" not in ask(sql)] == []
    assert [sql[:20] for sql in statements(1) if "rows" in ask(sql)] == []


def test_text_that_is_none_is_refused(ask):
    """Half a character, or none at all."""
    assert "surrogates not allowed" in ask("SELECT '\ud800'")["reason"]
    assert "null character" in ask("SELECT '\0'")["reason"]


def _expression(dice, columns, depth):
    kind = dice.random()
    if depth == 0 or kind < 0.2:
        return dice.choice(columns)
    if kind < 0.3:
        return dice.choice(_CONSTANTS)
    parts = [_expression(dice, columns, depth - 1) for _ in range(dice.choice((1, 1, 2, 2, 3)))]
    if kind < 0.5:
        return f"({f' {dice.choice(_OPERATORS)} '.join(parts)})"
    name, number, sort = dice.choice(_functions())
    arguments = (parts * 4)[: number if number >= 0 else len(parts)]
    over = f" OVER (ORDER BY {parts[0]})" if sort == "w" and dice.random() < 0.5 else ""
    return f"{name}({', '.join(arguments)}){over}"


@pytest.mark.parametrize("seed", range(4))
def test_random_statements_end(ask, seed):
    """With rows or with a reason; functions that are refused are among them."""
    dice = random.Random(seed)
    answered = 0
    for _ in range(100):
        views = dice.sample(sorted(_COLUMNS), dice.choice((1, 1, 2)))
        columns = [f"{view}.{column}" for view in views for column in _COLUMNS[view]]
        wanted = _expression(dice, columns, dice.choice((1, 2, 3)))
        found = ask(f"SELECT {wanted} FROM {', '.join(views)}", timeout_s=0.5)
        assert found.keys() in ({"names", "rows"}, {"reason", "error"}, {"reason"})
        answered += "rows" in found
    assert answered > 10
