"""Statements by name, into which nothing but whole numbers can be put."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.store.neo4j.statements import statement, statements_of


def test_a_statement_has_neither_comments_nor_an_end():
    """What the server gets is the statement."""
    assert statement("put_source") == "MERGE (s:KgragSource {id: $source}) SET s.doc_id = $id"
    for name in statements_of("write"):
        assert "//" not in statement(name)
        assert not statement(name).endswith(";")


@given(st.integers(0, 10**9))
def test_a_number_takes_its_place_everywhere(size):
    """In the index's name and in its label."""
    text = statement("index_terms", size=size)
    assert f"terms_{size} " in text
    assert f"(n:KgragTerms{size})" in text
    assert "<" not in text


@pytest.mark.parametrize(
    "value",
    ["8; MATCH (n) DETACH DELETE n", "8)", "n", "", "8", "8 IF", "1e3", "0x8", None, [8], b"8;",
     float("nan"), float("inf"), 8.5, 8.0],
)  # fmt: skip
def test_nothing_but_a_whole_number_becomes_part_of_a_statement(value):
    """Whoever puts in a text has made a mistake, or is an attacker."""
    with pytest.raises((TypeError, ValueError, OverflowError)):
        statement("index_terms", size=value)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        *((name, {}) for name in ("", "no_such", "put_source;", "browser", "index_terms\n")),
        *(("index_terms", {}), ("index_terms", {"dimension": 8})),
        ("index_chunk_vectors", {"size": 8}),
    ],
)
def test_an_unknown_name_or_a_missing_number_is_an_error(name, numbers):
    """Names are exact; no statement with a gap reaches the server."""
    with pytest.raises(KeyError):
        statement(name, **numbers)


def every_statement():
    files = ["base", "documents", "graph", "indexes", "integrations", "schema", "search", "staged"]
    files += ["verify", "whole", "write"]
    return [name for file in files for name in statements_of(file)]


def test_a_named_knowledge_base_has_labels_and_indexes_of_its_own():
    """None of the one without a name is left in its statements, but for what they share."""
    for name in every_statement():
        plain, named = (statement(name, base, size=8, dimension=8) for base in ("", "energy"))
        ours = re.findall(r"\bKgrag[A-Z]\w*|\bkgrag_(?!_)\w+", named)
        assert all(word.endswith("_energy") and word.count("_energy") == 1 for word in ours), name
        assert re.sub(r"_energy\b", "", named) == plain


def test_no_two_names_of_indexes_can_be_one():
    """None begins with another and an underscore, or a name could make the one of the other."""
    texts = [statement(name, size=8, dimension=8) for name in every_statement()]
    names = {n for text in texts for n in re.findall(r"(\w+) IF NOT EXISTS", text)}
    assert len(names) > 30
    assert [(a, b) for a in names for b in names if b.startswith(f"{a}_")] == []
    assert [n for n in names if not n.startswith("kgrag_")] == []


@pytest.mark.parametrize("base", ["a-b", "a b", "1a", "x" * 31, "a`", "x\n", "a;"])
def test_nothing_but_a_name_becomes_part_of_a_statement(base):
    """Wherever it came from."""
    with pytest.raises(ValueError, match="not the name"):
        statement("base", base)


def test_statements_of_a_file_keep_their_order():
    """Constraints come before the indexes that follow."""
    names = statements_of("schema")
    assert names[0] == "constrain_knowledge_base"
    assert len(set(names)) == len(names)
    assert set(names) & set(statements_of("indexes")) == set()
