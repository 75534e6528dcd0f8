"""Statements by name, into which nothing but whole numbers can be put."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.store.neo4j import statements
from kgrag.store.neo4j.statements import statement, statements_of


def test_a_statement_has_neither_comments_nor_an_end():
    """What the server gets is the statement."""
    assert statement("put_source") == "MERGE (s:Source {id: $source}) SET s.doc_id = $id"
    for name in statements_of("write"):
        assert "//" not in statement(name)
        assert not statement(name).endswith(";")


@given(st.integers(0, 10**9))
def test_a_number_takes_its_place_everywhere(size):
    """In the index's name and in its label."""
    text = statement("index_terms", size=size)
    assert f"terms_{size} " in text
    assert f"(n:Terms{size})" in text
    assert "<" not in text


@pytest.mark.parametrize(
    "value",
    ["8; MATCH (n) DETACH DELETE n", "8)", "n", "", "8 IF", "1e3", "0x8", None, [8], b"8;",
     float("nan"), float("inf")],
)  # fmt: skip
def test_nothing_but_a_number_becomes_part_of_a_statement(value):
    """Whoever puts in a text has made a mistake, or is an attacker."""
    with pytest.raises((TypeError, ValueError, OverflowError)):
        statement("index_terms", size=value)


@pytest.mark.parametrize("value", [8.5, 8.0, "8"])
def test_a_number_is_a_whole_one(value):
    """One that was cut off would name another index than was meant."""
    with pytest.raises(TypeError):
        statement("index_terms", size=value)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("index_terms", {}), ("index_terms", {"dimension": 8}), ("index_chunk_vectors", {"size": 8})],
)
def test_a_missing_number_is_an_error(name, numbers):
    """No statement with a gap reaches the server."""
    with pytest.raises(KeyError):
        statement(name, **numbers)


@pytest.mark.parametrize("name", ["", "no_such", "put_source;", "browser", "index_terms\n"])
def test_an_unknown_name_is_an_error(name):
    """Names are exact."""
    with pytest.raises(KeyError):
        statement(name)


def test_statements_of_a_file_keep_their_order():
    """Constraints come before the indexes that follow."""
    names = statements_of("schema")
    assert names[0] == "constrain_knowledge_base"
    assert len(set(names)) == len(names)
    assert set(names) & set(statements_of("indexes")) == set()


def test_two_statements_of_one_name_are_an_error(monkeypatch):
    """Across files as well: the last would win silently."""
    statements._statements.cache_clear()
    monkeypatch.setattr(statements, "_read", lambda file: {"same": file})
    try:
        with pytest.raises(ValueError, match="two statements are called same"):
            statement("same")
    finally:
        monkeypatch.undo()
        statements._statements.cache_clear()


def test_a_comment_says_nothing_to_the_server(monkeypatch, tmp_path):
    """Lines of comment go, also between lines; `//` inside of a text stays."""
    (tmp_path / "a.cypher").write_text(
        "// About the file.\n\n// name: one\n// What it does;\nRETURN 'http://x' AS a\n"
        "  // more\nORDER BY a;\n// name: two\nRETURN 2;\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(statements.resources, "files", lambda package: tmp_path)
    read = statements._read("a")
    assert re.sub(r"\s+", " ", read["one"]) == "RETURN 'http://x' AS a ORDER BY a"
    assert read["two"] == "RETURN 2"
