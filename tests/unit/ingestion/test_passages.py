import itertools
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.passages import passages
from kgrag.ingestion.structure import structure
from kgrag.types import Document

SMALL = ChunkSizes(64, (32, 16, 8))
POLICIES = Path(__file__).parents[4] / "shared" / "data" / "policy" / "text"
TEXTS = st.lists(
    st.sampled_from(["一、目标\n", "到2025年，", "达到500家。", "\n", " " * 70, "碳" * 70]),
    max_size=60,
).map("".join)


def read(text, *, sizes=SMALL, most_chars=128):
    document = Document("d", "题", text, "d.txt", "txt", "00")
    return passages(chunk(document, structure(text), sizes), sizes=sizes, most_chars=most_chars)


@given(TEXTS)
def test_passages_lose_no_word_and_stand_in_order(text):
    """Put together they are the text but for blanks; each is its slice and holds its chunks."""
    found = read(text)
    assert "".join("".join(p.text for p in found).split()) == "".join(text.split())
    assert [p.position for p in found] == list(range(len(found)))
    for p in found:
        assert p.text == text[p.start : p.end]
        assert p.text.strip()
        assert "".join(c.text for c in p.parents) == p.text
        assert "".join(c.text for c in p.children) == p.text


@given(TEXTS)
def test_passages_are_few(text):
    """A text takes at most 2 / most_chars calls a character, and one, whatever its parents."""
    found = read(text)
    assert len(found) <= 2 * len(text) / 128 + 1
    for before, after in itertools.pairwise(found):
        assert after.end - before.start > 128


def test_passages_are_filled_from_the_end():
    """Behind a letter of one more parent a plan has the passages that it has by itself."""
    plan = "".join(f"{n:03}" + "碳" * 60 + "\n" for n in range(12))
    behind = read("函" * 63 + "\n" + plan)
    assert [p.text for p in behind][1:] == [p.text for p in read(plan)]


def test_passages_keep_a_longer_parent_alone():
    """A parent that is longer than a passage may be is read all the same."""
    found = read("碳" * 200, most_chars=10)
    assert [len(p.parents) for p in found] == [1] * len(found)
    assert sum(len(p.text) for p in found) == 200


def test_passages_are_none_of_a_blank_document():
    """Nothing is asked about blanks."""
    assert read(" \n" * 300) == []


def test_halves_cut_between_parents_first():
    """Both parents stay whole, so that both can still be summarised."""
    text = "甲" * 2000 + "\n" + "乙" * 2000
    (passage,) = read(text, sizes=ChunkSizes(), most_chars=4096)
    left, right = passage.halves()
    assert left.text + right.text == text
    assert len(left.parents) == len(right.parents) == 1
    assert (left.position, right.start) == (passage.position, left.end)


def test_halves_cut_one_parent_between_its_children():
    """No half holds the parent; each child is whole in one of them."""
    text = "甲" * 999 + "\n" + "乙" * 1000
    (passage,) = read(text, sizes=ChunkSizes(), most_chars=4096)
    left, right = passage.halves()
    assert (left.text[-2:], right.text[0]) == ("甲\n", "乙")
    assert left.parents == right.parents == ()
    assert (*left.children, *right.children) == passage.children


def test_halves_cut_a_child_between_sentences_and_end_near_500_characters():
    """Cutting goes on until a piece is short, and loses nothing."""
    text = "到二〇二五年建成。" * 220
    (passage,) = read(text, sizes=ChunkSizes(), most_chars=4096)
    pieces, waiting = [], [passage]
    while waiting:
        piece = waiting.pop()
        halves = piece.halves()
        if halves is None:
            pieces.append(piece)
        else:
            waiting += reversed(halves)
    assert "".join(p.text for p in pieces) == text
    assert all(300 <= len(p.text) < 600 for p in pieces)
    assert all(p.text.endswith("。") for p in pieces)


def test_halves_are_none_where_there_is_no_place_to_cut():
    """A run of characters without any end of a sentence is not cut."""
    (passage,) = read("碳" * 1024, sizes=ChunkSizes(), most_chars=4096)
    assert passage.halves() is None


@pytest.mark.skipif(not POLICIES.is_dir(), reason="needs ../shared/data/policy/text")
@pytest.mark.parametrize("most_chars", [3584, 4096])
def test_passages_of_real_policies_are_one_call_for_2048_characters(most_chars):
    """In each of 255 policies there is at most one passage for 2,048 characters."""
    texts = [path.read_text("utf-8") for path in sorted(POLICIES.glob("*.txt"))]
    n = [len(read(text, sizes=ChunkSizes(), most_chars=most_chars)) for text in texts]
    assert sum(n) <= sum(len(text) for text in texts) / 2048
    assert all(count <= math.ceil(len(text) / 2048) for count, text in zip(n, texts, strict=True))


@pytest.mark.skipif(not POLICIES.is_dir(), reason="needs ../shared/data/policy/text")
def test_passages_of_a_real_plan_behind_a_letter_are_those_of_the_plan():
    """Half of the text and more was read already, wherever parents came to be cut."""
    letter = (
        "关于印发实施方案的通知\n各市、县人民政府：\n"
        + "请结合实际认真贯彻执行。" * 40
        + "\n附件\n"
    )
    texts = [path.read_text("utf-8") for path in sorted(POLICIES.glob("*.txt"))[::4]]
    known = total = 0
    for text in texts:
        alone = {p.text for p in read(text, sizes=ChunkSizes(), most_chars=3584)}
        behind = [p.text for p in read(letter + text, sizes=ChunkSizes(), most_chars=3584)]
        known += sum(len(passage) for passage in behind if passage in alone)
        total += len(text)
    assert known > 0.5 * total
