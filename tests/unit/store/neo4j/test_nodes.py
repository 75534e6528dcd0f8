"""What the full-text index holds of a chunk."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.store.neo4j.nodes import document_key, label_of, terms_rows
from kgrag.store.terms import END, padded
from kgrag.text.words import character_pairs, words
from kgrag.types import Chunk

PADDING = "<pad>"
anything = st.text(st.characters())


def chunk(text="节能降碳", *, path=(), doc_id="d-1", size=8, position=0):
    return Chunk(
        f"{doc_id}:{size}:{position}", doc_id, size, position, 0, len(text), text, None, path
    )


def row(*args, title="方案", **more):
    (found,) = terms_rows([chunk(*args, **more)], title)
    return found


def test_a_row_names_its_chunk():
    """Properties of the Terms node, all of one type a key."""
    found = row("节能", doc_id="d-x", size=256, position=7)
    assert (found["id"], found["doc_id"], found["size"]) == ("d-x:256:7", "d-x", 256)
    assert found["doc_key"] == document_key("d-x")


def test_a_text_gives_words_and_pairs():
    """As `kgrag.text.words` makes them, in order, so that a phrase is one in the index."""
    text = "推进节能降碳，建设绿色工厂"
    found = row(text)
    assert found["words"].split() == words(text)
    assert found["pairs"].split() == character_pairs(text)


@given(st.integers(0, 400))
def test_lengths_are_those_that_an_index_stores_exactly(n):
    """Lucene keeps 4 significant bits above 24; padding makes up what is missing, at the end."""
    found = row("碳达" * n)["pairs"].split()
    pairs = character_pairs("碳达" * n)

    assert found[: len(pairs)] == pairs
    assert set(found[len(pairs) :]) <= {PADDING}
    above = len(found) - 24
    assert above <= 0 or above % (1 << max(above.bit_length() - 4, 0)) == 0
    assert padded(found) == found


def test_names_of_a_path_are_kept_apart():
    """No phrase runs from the title into a heading, or from one heading into the next."""
    found = row(path=("一、目标任务", "二、保障"), title="节能方案")
    parts = [part.split() for part in found["path_pairs"].split(END)]

    assert parts == [character_pairs(n) for n in ("节能方案", "一、目标任务", "二、保障")]
    assert not {"案一", "务二"} & set(found["path_pairs"].split())
    assert found["path_words"].split() == words("节能方案 一、目标任务 二、保障")


@given(anything)
def test_no_text_is_taken_for_an_end_or_for_padding(text):
    """Only we write them: neither words nor pairs hold angle brackets of more than two."""
    assert not {END, PADDING} & {*words(text), *character_pairs(text)}


def test_chunks_of_one_path_share_it():
    """Whatever order they come in."""
    rows = terms_rows(
        [chunk("甲", path=("一",)), chunk("乙", path=("二",)), chunk("丙", path=("一",))], "方案"
    )
    assert [r["path_pairs"] for r in rows] == [
        f"方案 {END} 一", f"方案 {END} 二", f"方案 {END} 一",
    ]  # fmt: skip


@given(anything)
def test_a_document_is_one_term_whatever_its_id(doc_id):
    """Letters and digits: no blank that parts it, no operator of Lucene."""
    assert re.fullmatch(r"[0-9a-f]{16}", document_key(doc_id))


@given(anything, anything)
def test_documents_have_different_terms(doc_id, other):
    """A search within one document does not reach another."""
    assert (document_key(doc_id) == document_key(other)) == (doc_id == other)


def test_a_size_has_its_label():
    """As the index of `index_terms` is on."""
    assert label_of(256, "") == "KgragTerms256"
    assert label_of(256, "energy") == "KgragTerms256_energy"


@pytest.mark.parametrize("size", ["256", "1`:X", 2.5, None])
def test_a_label_takes_a_whole_number_only(size):
    """It becomes part of a node."""
    with pytest.raises((TypeError, ValueError)):
        label_of(size, "")
