"""Ids are kept in databases: a change of any would make a second copy of what is there."""

from hypothesis import given
from hypothesis import strategies as st

from kgrag.ids import (
    chunk_id,
    digest,
    document_id,
    document_of,
    embedding_key,
    entity_id,
    fact_id,
    summary_id,
)


def test_digest_is_the_beginning_of_a_sha256_of_lengths_and_parts():
    """Pinned: sha256 of 0000000000000002 'ab' 0000000000000001 'c'."""
    assert digest("ab", "c") == "601d5476e2ccfe2c"
    assert digest("ab", "c", length=32) == "601d5476e2ccfe2c87a2bba7a3226597"


def test_digest_takes_any_text():
    """Half a character, as a damaged file name has it, is a part like any other."""
    assert digest("\ud800") != digest("\ud801")


@given(st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3))
def test_digest_tells_lists_of_parts_apart(some, others):
    """Where a part ends is part of what is digested."""
    assert (digest(*some) == digest(*others)) is (some == others)


def test_ids_are_what_databases_hold():
    """Pinned."""
    assert document_id("a.txt", "00") == "d-2619a371f504efbe"
    assert chunk_id("d-1", 256, 3) == "d-1:256:3"
    assert summary_id("d-1", 0, 9, "文") == "s-7b4efe9a78c71f78"
    assert entity_id("吉林省") == "e-60eb88c2239caf9f"
    assert fact_id("e-1", "依据", "e-2") == "f-370eaa25c22a6499"
    assert embedding_key("m", "一。二。") == "3d54e3f75970b3e85d347e471881b681"
    assert embedding_key("m", "一。二。", span=(0, 2)) == "31b5a8d1268f9a77c124fc6b565c4a84"


def test_names_are_compared_without_width_and_case():
    """Of entities, and of what relates them."""
    assert entity_id("ＡＢＣ") == entity_id("abc")
    assert fact_id("e-1", "Based On", "e-2") == fact_id("e-1", "based on", "e-2")


def test_document_of_a_chunk_takes_ids_with_colons():
    """The size and the place are the last two parts."""
    assert document_of(chunk_id("d:1", 256, 3)) == "d:1"
