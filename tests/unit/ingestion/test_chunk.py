"""Chunks, passages, headings and the places of quotes in them."""

import itertools
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.locate import _PAGE_MARK, Place, _normal, locate, locate_all
from kgrag.ingestion.passages import passages
from kgrag.ingestion.structure import structure
from kgrag.text.headings import HeadingTree
from kgrag.types import Chunk, Document, Heading, Segment
from tests.fixtures import extent

SMALL = ChunkSizes(64, (32, 16, 8))
WORDS = ["（一）任务。", "到2025年，", "达到500家以上。", "；", "a", "😀", "é", "\x00"]
PIECES = st.sampled_from([*WORDS, "一、目标\n", "\n", "\r\n", "  ", "碳" * 70])
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
    text = "甲。" + "丙" * 9 + "。\n"
    assert [c.text for c in groups(text, ChunkSizes(12, (6,)))[12]] == [text[:-1], "\n"]


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
        # a fifth of a piece is too little to stand alone
        (
            "丙丙。\n一、目标\n（一）工业\n乙乙乙乙乙，一、目标\n",
            ChunkSizes(20, (6,)),
            ["丙丙。\n一、目标\n（一）工业\n乙乙乙乙乙", "，一、目标\n"],
        ),
        # those that are longer than a piece are cut like a text
        ("一、目标\n（一）工业\n", ChunkSizes(6, (2,)), ["一、目标\n（", "一）工业\n"]),
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


POLICIES = Path(__file__).parents[4] / "shared" / "data" / "policy" / "text"
LONG_TEXTS = st.lists(
    st.sampled_from(["一、目标\n", "到2025年，", "达到500家。", "\n", " " * 70, "碳" * 70]),
    max_size=60,
).map("".join)


def read(text, *, sizes=SMALL, most_chars=128):
    document = Document("d", "题", text, "d.txt", "txt", "00")
    return passages(chunk(document, structure(text), sizes), sizes=sizes, most_chars=most_chars)


@given(LONG_TEXTS)
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


@given(LONG_TEXTS)
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
    """In each of 255 policies, some by default, there is at most one for 2,048 characters."""
    files = extent.among(sorted(POLICIES.glob("*.txt")), 40)
    texts = [path.read_text("utf-8") for path in files]
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
    files = extent.among(sorted(POLICIES.glob("*.txt")), 20)
    texts = [path.read_text("utf-8") for path in files]
    known = total = 0
    for text in texts:
        alone = {p.text for p in read(text, sizes=ChunkSizes(), most_chars=3584)}
        behind = [p.text for p in read(letter + text, sizes=ChunkSizes(), most_chars=3584)]
        known += sum(len(passage) for passage in behind if passage in alone)
        total += len(text)
    assert known > 0.5 * total


def leaves(*lengths):
    out, at = [], 0
    for i, n in enumerate(lengths):
        out.append(Chunk(f"d:256:{i}", "d", 256, i, at, at + n, "x" * n, "d:2048:0"))
        at += n
    return out


def positions(start, end, *lengths):
    return [e.chunk_id[-1] for e in evidence_for(leaves(*lengths), start, end, extractor="t")]


def test_evidence_for_a_span_inside_one_leaf_is_that_leaf():
    """The plain case: one record with the span's own offsets."""
    (evidence,) = evidence_for(leaves(100, 100), 110, 150, extractor="t", confidence=0.5)
    assert (evidence.chunk_id, evidence.start, evidence.end) == ("d:256:1", 110, 150)
    assert (evidence.extractor, evidence.confidence) == ("t", 0.5)


def test_evidence_for_a_span_over_leaves_names_each_that_holds_a_fair_share():
    """50 and 50 of 100 characters are fair; 5 of 100 are not."""
    assert positions(50, 150, 100, 100) == ["0", "1"]
    assert positions(95, 195, 100, 100) == ["1"]


def test_evidence_for_a_whole_passage_names_all_its_leaves():
    """A leaf that the span covers counts, however small its share of the span."""
    assert positions(0, 400, 100, 100, 100, 100) == ["0", "1", "2", "3"]


@pytest.mark.parametrize(("start", "end"), [(0, 0), (-1, 5), (0, 101), (60, 50)])
def test_evidence_for_a_span_outside_the_text_is_refused(start, end):
    """Offsets of another version must not be tied to anything."""
    with pytest.raises(ValueError, match="outside the text"):
        evidence_for(leaves(100), start, end, extractor="t")


TEXT = """云岭省节能规划
一、总体要求
（一）指导思想。坚持节约优先。
二、重点任务
（一）工业节能
1.钢铁行业。推广余热利用。
（1）高炉；
专栏1 重点工程
附件1
云岭省节能项目清单
余热利用改造
"""


def test_structure_gives_the_place_of_each_heading():
    """The span of a heading holds its text and nothing of the line after it."""
    for heading in structure(TEXT):
        assert TEXT[heading.start : heading.end].replace("\n", " ") == heading.text


def test_heading_path_follows_the_sections_around_a_place():
    """The path has one heading a level, from the outermost in."""
    headings = structure(TEXT)
    start = TEXT.index("推广余热利用")
    path = HeadingTree(TEXT, headings).path(start, start + 6)
    assert path == ("二、重点任务", "（一）工业节能", "1.钢铁行业")


def test_heading_path_when_a_piece_opens_with_headings_holds_them_all():
    """A piece that begins with headings one after the other stands in the innermost."""
    headings = structure(TEXT)
    start = TEXT.index("二、重点任务")
    assert HeadingTree(TEXT, headings).path(start, start + 30) == (
        "二、重点任务",
        "（一）工业节能",
        "1.钢铁行业",
    )
    assert HeadingTree(TEXT, headings).path(0, 5) == ()


def test_a_paragraph_that_its_format_calls_a_heading_is_one():
    """Numbered ones keep the place of their number; others stand beside those of their level."""
    text = "综述\n一、目标\n（一）工业\n到2025年达到三成。\n成员"
    places = [(0, 2, 1), (3, 7, 1), (8, 13, 2), (len(text) - 2, len(text), 2)]
    segments = [Segment(a, b, "paragraph", n, level) for n, (a, b, level) in enumerate(places, 1)]
    assert [(h.level, h.text) for h in structure(text, segments)] == [
        (1, "综述"),
        (1, "一、目标"),
        (2, "（一）工业"),
        (2, "成员"),
    ]


CLAUSES = (
    "到２０２５年，绿色工厂达到500家以上，\n单位工业增加值 能耗下降13.5%。"
    "（一）推广“三改联动”等技术，不得新建燃煤锅炉。推进园区循环化改造，加快发展氢能。"
)
CHARACTERS = st.sampled_from("到年绿色工厂达标，。、“”\"'（）() \n　２0255%AaＡ⟦⟧[]é①…")
QUOTES = st.text(CHARACTERS, max_size=60)


def found(quote, text=CLAUSES):
    place = locate(quote, text)
    return place and (text[place.start : place.end], place.match)


def starts(quotes, text, **how):
    return [place and place.start for place in locate_all(quotes, text, **how)]


def test_equal_quotes_stand_at_places_of_their_own():
    """Each of several equal clauses has its own place, as long as there are as many."""
    text = "甲达标。乙达标。丙达标。"
    assert locate("达标", text) == Place(1, 3, "exact")
    assert starts(["达标", "达 标", "达标"], text) == [1, 5, 9]
    assert starts(["乙达标", "乙达标"], text) == [4, 4]
    assert starts(["乙达标", "达标", "丙", "没有的话"], text) == [4, 5, 8, None]


TASKS = (
    "1.植树造林。全市造林一万亩。牵头单位：市林业局。\n2.河道整治。整治河道九条。牵头单位：市水务局。\n"
    "3.绿色建筑。新建建筑达标。牵头单位：市住建局。\n4.湿地修复。修复湿地两处。牵头单位：市林业局。\n"
)
LEAD = "牵头单位：市林业局"


@pytest.mark.parametrize(
    ("quotes", "wanted"),
    [
        (["修复湿地两处", LEAD], 1),
        (["新建建筑达标", LEAD], 1),
        ([LEAD, "修复湿地两处", LEAD], 2),
        (["整治河道九条", "4.湿地修复", LEAD], 2),
        (["牵头单位：市住建局", LEAD], 1),
    ],
)
def test_a_quote_stands_near_those_around_it(quotes, wanted):
    """牵头单位：市林业局 of the fourth item is not that of the first."""
    assert starts(quotes, TASKS)[wanted] == TASKS.rindex(LEAD)


def test_a_quote_stands_near_the_first_item_where_that_is_told():
    """The place follows its neighbours to the beginning, too."""
    assert starts(["全市造林一万亩", LEAD, "整治河道九条"], TASKS)[1] == TASKS.index(LEAD)


def test_a_quote_stands_near_what_is_stated_by_it():
    """Where nothing was quoted around it, the names of its statements tell which one it is."""
    assert starts([LEAD], TASKS) == [TASKS.index(LEAD)]
    assert starts([LEAD], TASKS, names=[["湿地修复"]]) == [TASKS.rindex(LEAD)]


@pytest.mark.parametrize(
    "mark", ["——6——", "—6—", "- 6 -", "第6页 共20页", "　6　", "－6－", "— 106 —"]
)
def test_the_mark_of_a_page_counts_for_nothing(mark):
    """无⏎——6——⏎锡 is 无锡: a sentence goes on behind the foot of its page."""
    text = f"二、范围。由无\n{mark}\n锡市工信局牵头实施。"
    place = locate("由无锡市工信局牵头", text)
    assert place == Place(5, text.index("实施"), "normalised")
    assert locate(f"由无 {mark} 锡市工信局牵头", text) is not None


@pytest.mark.parametrize("text", ["到2025——2030年间达标", "2021—2025—2030年", "共6处，其中甲6处"])
def test_years_and_numbers_are_no_marks_of_pages(text):
    """Only what stands alone between dashes, or alone on a line, is left out."""
    assert _PAGE_MARK.search(text) is None


@given(QUOTES, st.lists(QUOTES, min_size=4, max_size=4), QUOTES)
def test_locate_finds_every_substring(before, pieces, after):
    """What stands in the text is found, in whatever width and case, as the same characters."""
    quote = "".join(a + b for a, b in zip(pieces, "碳达峰A", strict=True))
    text = before + quote + after
    shown = quote.replace("⟦", "[").replace("⟧", "]")
    for variant in (shown, shown.lower(), f" {shown} ", "“" + "\n".join(shown) + "”"):
        place = locate(variant, text)
        assert place is not None
        assert place.match != "near"
        assert _normal(text[place.start : place.end]).text == _normal(quote).text


@given(QUOTES, QUOTES)
def test_locate_never_leaves_the_text(quote, text):
    """A place is a slice of the text that is not empty."""
    place = locate(quote, text)
    assert place is None or 0 <= place.start < place.end <= len(text)


@given(
    st.text(
        st.sampled_from("到年绿色工厂达标推进园区循环化改造加快发展氢能"), min_size=40, max_size=80
    ),
    st.data(),
)
def test_locate_finds_a_quote_with_one_character_changed(text, data):
    """One character in twenty is within the bound: the span found is near it in length."""
    quote = text[10:30]
    at = data.draw(st.integers(0, 19))
    place = locate(quote[:at] + "碳" + quote[at + 1 :], text)
    assert place is not None
    assert 18 <= place.end - place.start <= 22
