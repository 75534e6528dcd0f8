"""Identifiers, and what is recorded of a knowledge base."""

import pytest
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
from kgrag.kb_meta import KbMeta


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
    assert document_id("a.txt", "00") == "d-2619a371f504efbe"
    assert chunk_id("d-1", 256, 3) == "d-1:256:3"
    assert summary_id("d-1", 0, 9, "文") == "s-7b4efe9a78c71f78"
    assert entity_id("吉林省") == "e-60eb88c2239caf9f"
    assert fact_id("e-1", "依据", "e-2") == "f-370eaa25c22a6499"
    assert embedding_key("m", "一。二。") == "3d54e3f75970b3e85d347e471881b681"


def test_names_are_compared_without_width_and_case():
    """Of entities, and of what relates them."""
    assert entity_id("ＡＢＣ") == entity_id("abc")
    assert fact_id("e-1", "Based On", "e-2") == fact_id("e-1", "based on", "e-2")


def test_document_of_a_chunk_takes_ids_with_colons():
    """The size and the place are the last two parts."""
    assert document_of(chunk_id("d:1", 256, 3)) == "d:1"


SIZES = st.lists(st.integers(1, 9999), min_size=1, unique=True).map(
    lambda sizes: tuple(sorted(sizes, reverse=True))
)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "chunk_sizes": SIZES,
        "embedder": st.text(),
        "languages": st.lists(st.text("abcZH-", min_size=1)).map(tuple),
        "stand_in": st.booleans(),
        "embedder_settings": st.dictionaries(st.text(), st.text()),
    },
)
RECORDED = {
    "embedder": "hash-8",
    "languages": "zh,en",
    "stand_in": "yes",
    "embedder_settings": '{"dimension": "8", "model": "混合"}',
    "chunk_sizes": "2048,1024,512,256",
}


def typed(meta):
    """Return what a knowledge base records, by name, as values."""
    return {key: getattr(meta, key) for key in meta.stored}


@given(VALUES)
def test_what_is_recorded_is_read_as_it_was_and_rendered_byte_for_byte(values):
    """Both ways, whatever of it is recorded."""
    meta = KbMeta.of(**values)
    assert typed(meta) == values
    assert KbMeta.of(**typed(meta)) == meta


def test_the_strings_are_those_that_every_store_keeps():
    """A knowledge base of last year is read by this; one of today by last year's kgrag."""
    meta = KbMeta(RECORDED)
    assert typed(meta) == {
        "embedder": "hash-8",
        "languages": ("zh", "en"),
        "stand_in": True,
        "embedder_settings": {"dimension": "8", "model": "混合"},
        "chunk_sizes": (2048, 1024, 512, 256),
    }
    assert KbMeta.of(**typed(meta)).stored == RECORDED


def test_what_is_not_recorded_is_none():
    new = KbMeta()
    assert {getattr(new, key) for key in RECORDED} == {None}
    assert KbMeta.of() == new


def test_one_that_is_damaged_spoils_no_other():
    """It is an error only where it is asked for."""
    meta = KbMeta({**RECORDED, "chunk_sizes": "2048,x", "embedder_settings": "{"})
    assert meta.languages == ("zh", "en")
    for key in ("chunk_sizes", "embedder_settings"):
        with pytest.raises(ValueError, match=r"x|Expecting"):
            getattr(meta, key)


def test_only_what_is_asked_for_is_read():
    """Another may be damaged on the disk."""
    asked = []

    def get(key):
        asked.append(key)
        return RECORDED.get(key)

    assert KbMeta.read(get, "chunk_sizes", "colour").stored == {"chunk_sizes": "2048,1024,512,256"}
    assert asked == ["chunk_sizes", "colour"]


def test_changes_are_what_is_not_recorded_so_yet():
    """Equal strings are not written again."""
    known = KbMeta({"embedder": "hash-8", "stand_in": "yes", "colour": "red"})
    wanted = known | KbMeta.of(embedder="m-1", languages=())
    assert wanted.stored["colour"] == "red"
    assert wanted.changes(known) == {"embedder": "m-1", "languages": ""}
