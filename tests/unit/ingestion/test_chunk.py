import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.structure import structure
from kgrag.types import Document, Heading

SMALL = ChunkSizes(64, (32, 16, 8))
PIECES = st.sampled_from(
    [
        "一、目标\n",
        "（一）任务。",
        "到2025年，",
        "达到500家以上。",
        "\n",
        "\r\n",
        "  ",
        "碳" * 70,
        "；",
        "a",
        "😀",
        "e\u0301",
        "\x00",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join))


def document(text):
    return Document("d", "题", text, "d.txt", "txt", "00")


def groups(text, sizes):
    chunks = chunk(document(text), structure(text), sizes)
    return {s: [c for c in chunks if c.size == s] for s in (sizes.parent, *sizes.children)}


@given(TEXTS)
def test_chunk_loses_no_character_in_any_group(text):
    """Each group, put together, is the text; each chunk is its slice and within its size."""
    for size, chunks in groups(text, SMALL).items():
        assert "".join(c.text for c in chunks) == text
        for c in chunks:
            assert c.text == text[c.start : c.end]
            assert 1 <= len(c.text) <= size


@given(TEXTS)
def test_chunk_puts_each_group_of_children_exactly_into_its_parent(text):
    """Children of one size cover their parent without overlap, in reading order."""
    by_size = groups(text, SMALL)
    for parent in by_size[64]:
        for size in SMALL.children:
            children = [c for c in by_size[size] if c.parent_id == parent.chunk_id]
            assert "".join(c.text for c in children) == parent.text
            assert [c.start for c in children] == sorted(c.start for c in children)


@given(TEXTS)
def test_chunk_gives_the_same_ids_every_time(text):
    """Ids are a function of the document, the group and the position, dense from 0."""
    first, second = groups(text, SMALL), groups(text, SMALL)
    assert first == second
    for size, chunks in first.items():
        assert [c.chunk_id for c in chunks] == [f"d:{size}:{i}" for i in range(len(chunks))]
        assert [c.position for c in chunks] == list(range(len(chunks)))


def test_chunk_cuts_at_a_heading_before_a_fuller_paragraph():
    """A heading that leaves the chunk a third full ends it; the paragraph end after it loses."""
    text = "甲" * 7 + "。\n" + "一、目标\n" + "乙" * 9 + "。\n"
    texts = [c.text for c in groups(text, ChunkSizes(24, (12,)))[24]]
    assert texts == ["甲" * 7 + "。\n", "一、目标\n" + "乙" * 9 + "。\n"]


def test_chunk_prefers_sentence_ends_to_commas():
    """Without paragraph or heading in reach the cut is made at a sentence end."""
    text = "甲甲甲甲，乙乙乙。丙丙，丁丁丁丁丁丁丁丁丁"
    assert groups(text, ChunkSizes(14, (7,)))[14][0].text == "甲甲甲甲，乙乙乙。"


def test_chunk_when_nothing_else_fits_cuts_inside_a_clause():
    """A run without any mark is cut at the size, but for a fair last piece."""
    lengths = [len(c.text) for c in groups("碳" * 50, ChunkSizes(20, (10,)))[20]]
    assert lengths == [20, 20, 10]


def test_chunk_uses_2048_and_three_groups_by_default():
    """The paper's sizes (GRIM, section 3.1.1) are the defaults."""
    assert ChunkSizes() == ChunkSizes(2048, (1024, 512, 256))
    assert ChunkSizes().leaf == 256


@pytest.mark.parametrize("sizes", [(100, (200,)), (100, (50, 50)), (100, (10, 50)), (100, (1,))])
def test_chunk_sizes_when_they_cannot_nest_are_refused(sizes):
    """Sizes must fall from the parent on."""
    with pytest.raises(ValueError, match="chunk sizes"):
        ChunkSizes(*sizes)


def test_chunk_sizes_may_be_as_small_as_two():
    """The least that can be cut."""
    assert ChunkSizes(3, (2,)).children == (2,)


@pytest.mark.parametrize(
    ("children", "searched"),
    [((50, 20, 10), (20, 10)), ((50, 20), (50, 20)), ((50,), (50, 50)), ((), (100, 100))],
)
def test_words_of_the_two_smallest_groups_are_searched(children, searched):
    """Of the one that there is, where there is one."""
    assert ChunkSizes(100, children).searched == searched


@given(st.lists(st.sampled_from(["一、目标\n", "甲", "，", "。", "\n", " "]), max_size=12))
def test_chunk_makes_no_empty_piece_of_the_smallest_sizes(pieces):
    """A boundary where a piece begins does not end it."""
    text = "".join(pieces)
    headings = [Heading(i, i + 1, 1, c) for i, c in enumerate(text) if c == "一"]
    chunks = chunk(document(text), headings, ChunkSizes(3, (2,)))
    assert all(c.text for c in chunks)
    assert "".join(c.text for c in chunks if c.size == 2) == text


def test_chunk_cuts_before_the_blanks_of_a_headings_line():
    """They belong to what they indent, from the first character of the text on."""
    text = "甲乙丙丁戊\n  　目标\n己庚辛壬癸子丑寅"
    chunks = chunk(document(text), [Heading(9, 11, 1, "目标")], ChunkSizes(14, (7,)))
    assert next(c.text for c in chunks if c.size == 14) == "甲乙丙丁戊\n"
    text = " 甲乙丙丁戊己庚 "
    chunks = chunk(document(text), [Heading(1, 3, 1, "甲乙")], ChunkSizes(6, (3,)))
    assert [c.text for c in chunks if c.size == 6] == [" 甲乙丙丁戊", "己庚 "]
    chunks = chunk(document("甲乙丙丁"), [Heading(1, 2, 1, "乙")], ChunkSizes(3, (2,)))
    assert [c.text for c in chunks if c.size == 3] == ["甲", "乙丙丁"]


def test_chunk_when_all_boundaries_come_early_takes_the_last_of_them():
    """Emptier than half, but not inside a clause; a heading so early ends nothing."""
    text = "甲" * 5 + "，" + "乙" * 2 + "，" + "丙" * 30
    assert groups(text, ChunkSizes(20, (10,)))[20][0].text == "甲甲甲甲甲，乙乙，"
    assert groups("甲" * 5 + "，" + "乙" * 30, ChunkSizes(20, (10,)))[20][0].text == "甲甲甲甲甲，"
    chunks = chunk(document("甲" * 40), [Heading(5, 6, 1, "甲")], ChunkSizes(20, (10,)))
    assert chunks[0].end == 20


def test_chunk_leaves_a_fair_last_piece():
    """A fifth of the size at least: 21 characters are 17 and 4."""
    assert [len(c.text) for c in groups("碳" * 21, ChunkSizes(20, (10,)))[20]] == [17, 4]
    assert [len(c.text) for c in groups("碳" * 24, ChunkSizes(20, (10,)))[20]] == [20, 4]


def test_chunk_of_the_smallest_size_leaves_one_character():
    """Two and one, not one and two."""
    chunks = chunk(document("甲乙丙"), [], ChunkSizes(2, ()))
    assert [c.text for c in chunks] == ["甲乙", "丙"]


def test_a_sentence_that_ends_early_does_not_end_its_chunk():
    """Below half of the size a comma behind it is better."""
    text = "甲甲甲。" + "乙" * 9 + "，" + "丙" * 20
    assert groups(text, ChunkSizes(20, (10,)))[20][0].text == text[:14]


def test_a_sentence_that_fits_is_not_cut():
    """Even if the piece before it is shorter than we like."""
    text = "前文很短。" + "各地要加强组织，" * 11 + "落实责任。" + "后文也很短。" * 9
    leaves = [c.text for c in groups(text, ChunkSizes(200, (100,)))[100]]
    long = "各地要加强组织，" * 11 + "落实责任。"
    assert any(long in leaf for leaf in leaves)


def test_an_attachment_begins_a_parent():
    """It shares none with the text before it."""
    text = "一、目标\n到2025年达到三成。\n附件1\n云岭省项目清单\n一、水利\n修建水库三座。\n"
    parents = groups(text, ChunkSizes())[2048]
    assert [p.text[:3] for p in parents] == ["一、目", "附件1"]


def body_begins(text, heading):
    """Return where what a heading heads begins: behind blanks, stops and marks of emphasis."""
    at = heading.end
    while at < len(text) and (text[at].isspace() or text[at] in "。．.：:*_"):
        at += 1
    return at


@given(TEXTS)
def test_no_chunk_ends_with_the_heading_of_what_follows(text):
    """Unless it holds headings alone: one after the other, they fill the whole chunk."""
    headings = structure(text)
    for piece in chunk(document(text), headings, SMALL):
        at = len(headings) - 1
        while at >= 0 and headings[at].start >= piece.end:
            at -= 1
        if at < 0 or piece.end > body_begins(text, headings[at]) or piece.end == len(text):
            continue
        following = [h for h in headings[at + 1 :] if body_begins(text, headings[at]) >= h.start]
        if following and following[0].level <= headings[at].level:
            continue  # it heads nothing
        while at and body_begins(text, headings[at - 1]) >= headings[at].start:
            if headings[at - 1].level >= headings[at].level:
                break
            at -= 1
        assert not text[piece.start : headings[at].start].strip(" \t")


@pytest.mark.parametrize(
    ("text", "sizes", "pieces"),
    [
        # even if the piece before it is emptier than we like
        (
            "甲甲甲。\n一、目标\n" + "乙" * 13 + "。\n",
            ChunkSizes(20, (10,)),
            ["甲甲甲。\n", "一、目标\n" + "乙" * 13 + "。\n"],
        ),
        # headings one below the other stay together
        (
            "甲" * 9 + "。\n" + "一、目标\n（一）工业\n" + "乙" * 9 + "。\n",
            ChunkSizes(24, (10,)),
            ["甲" * 9 + "。\n", "一、目标\n（一）工业\n" + "乙" * 9 + "。\n"],
        ),
        # the title of a paragraph is a heading, too
        (
            "一、目标\n"
            + "甲" * 12
            + "。\n（一）工业节能。"
            + "乙" * 15
            + "，"
            + "丙" * 9
            + "。\n",
            ChunkSizes(30, (10,)),
            [
                "一、目标\n" + "甲" * 12 + "。\n",
                "（一）工业节能。" + "乙" * 15 + "，",
                "丙" * 9 + "。\n",
            ],
        ),
        # the number of an article
        (
            "第一条 甲。\n第二条 " + "乙" * 40 + "。\n",
            ChunkSizes(34, (10,)),
            ["第一条 甲。\n", "第二条 " + "乙" * 30, "乙" * 10 + "。\n"],
        ),
    ],
)
def test_a_heading_goes_with_its_text(text, sizes, pieces):
    """It begins a piece, and does not end one."""
    assert [c.text for c in groups(text, sizes)[sizes.parent]] == pieces
