import pytest

from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.passages import passages
from kgrag.ingestion.self_names import SelfNames
from kgrag.ingestion.structure import structure
from kgrag.ingestion.summarize import marked, parts, read_items, summaries_of
from kgrag.types import Document

SIZES = ChunkSizes(1000, (500, 100))
SENTENCE = "到二〇二五年建成绿色工厂一批。"  # 15 characters
CONTENTS = "".join(f"第{n}节 任务………… {n}\n" for n in range(10, 50))


def read(text, sizes=SIZES, most_chars=4096):
    document = Document("d", "题", text, "d.txt", "txt", "00")
    chunks = chunk(document, structure(text), sizes)
    return passages(chunks, sizes=sizes, most_chars=most_chars)[0]


def keys(passage):
    return [part.key for part in parts(passage)]


def test_parts_are_parents_and_their_children():
    """Two children of a parent are 1 and 2, the parent 1-2; a parent of one child is that one."""
    passage = read(SENTENCE * 80)
    assert [len(c.text) for c in passage.children] == [495, 495, 210]
    assert keys(passage) == ["1-2", "1", "2", "3"]
    assert [(p.start, p.end) for p in parts(passage)] == [
        (0, 990),
        (0, 495),
        (495, 990),
        (990, 1200),
    ]


def test_parts_leave_out_children_that_are_short_or_contents():
    """A child of under 300 characters, blanks not counted, or a table of contents has none."""
    short = read(SENTENCE * 33 + SENTENCE * 19)
    assert [len(c.text) for c in short.children] == [495, 285]
    assert keys(short) == ["1-2", "1"]
    contents = read(CONTENTS + SENTENCE * 33)
    assert keys(contents)[0] == "1-2"
    assert all(contents.text[p.start : p.end].count("…") < 20 for p in parts(contents)[1:])


def test_parts_are_none_of_a_line_or_two():
    """What is shorter than a summary needs none."""
    assert keys(read(SENTENCE * 6)) == []
    assert keys(read(SENTENCE * 7)) == ["1"]


def test_parts_are_parents_where_there_are_no_children():
    """Chunk sizes without children still give a summary of each parent."""
    assert keys(read(SENTENCE * 80, ChunkSizes(1000, ()))) == ["1", "2"]


def test_parts_of_half_a_parent_are_its_children():
    """A half holds no parent; its children are summarised all the same."""
    left, right = read(SENTENCE * 120, ChunkSizes(2000, (1000, 100))).halves()
    assert (left.parents, right.parents) == ((), ())
    assert keys(left) == keys(right) == ["1"]


def test_marked_numbers_the_children_and_shows_own_marks_as_brackets():
    """Nothing else of the text changes; a document cannot write a mark of ours."""
    passage = read("⟦7⟧见" + SENTENCE * 33 + SENTENCE * 20)
    text = marked(passage)
    assert text.startswith("⟦1⟧[7]见")
    assert text.count("⟦") == text.count("⟧") == len(passage.children) == 2
    assert text.index("⟦2⟧") == passage.children[1].start + 3
    plain = text.replace("⟦1⟧", "").replace("⟦2⟧", "")
    assert plain == passage.text.replace("⟦", "[").replace("⟧", "]")


def test_summaries_point_to_what_they_stand_for():
    """The span is the parent's or child's; the targets are the parents that it touches."""
    passage = read(SENTENCE * 80)
    items = [("1-2", "整体。"), ("2", "后半。"), ("3", "末尾。"), ("1", "前半。")]
    summaries, dropped = summaries_of(items, passage, source="m")
    assert [(s.text, s.start, s.end) for s in summaries] == [
        ("整体。", 0, 990),
        ("后半。", 495, 990),
        ("末尾。", 990, 1200),
        ("前半。", 0, 495),
    ]
    assert {(s.level, s.source, s.doc_id) for s in summaries} == {("chunk", "m", "d")}
    assert [s.target_ids for s in summaries] == [
        (passage.parents[0].chunk_id,),
        (passage.parents[0].chunk_id,),
        (passage.parents[1].chunk_id,),
        (passage.parents[0].chunk_id,),
    ]
    assert not dropped


def test_summaries_of_unknown_and_missing_parts_are_counted():
    """Nothing is guessed: an unknown number is dropped, the first of two for a part counts."""
    items = [("9", "无。"), ("1", "前半。"), ("1", "再来。")]
    summaries, dropped = summaries_of(items, read(SENTENCE * 80), source="m")
    assert [s.text for s in summaries] == ["前半。"]
    assert dropped == {
        "summary of no part asked for": 1,
        "second summary of a part": 1,
        "summary missing": 3,
    }


@pytest.mark.parametrize("part", ["1-3", "⟦1⟧-⟦3⟧", "1 – 3", "1至3", "第1-3小节"])
def test_read_items_takes_a_part_in_any_spelling(part):
    """Only its numbers count."""
    assert read_items([{"part": part, "summary": " 整\n体。 "}]) == [("1-3", "整 体。")]
    assert read_items([{"part": 2, "summary": "小。"}]) == [("2", "小。")]


@pytest.mark.parametrize(
    "bad", [["x"], [{"part": "1"}], [{"part": "", "summary": "x"}], [{"part": "1", "summary": " "}]]
)
def test_read_items_refuses_another_form(bad):
    """The model is asked once more."""
    with pytest.raises(ValueError, match="summaries"):
        read_items(bad)


CITY = SelfNames("青川市节能规划", ("云岭省", "青川市"), "青川市人民政府")


@pytest.mark.parametrize(
    ("about", "text", "kept"),
    [
        (CITY, "建成绿色工厂一批。", "青川市节能规划：建成绿色工厂一批。"),
        (CITY, "青川建成绿色工厂一批。", "青川建成绿色工厂一批。"),
        (CITY, "《青川市节能规划》部署绿色工厂。", "《青川市节能规划》部署绿色工厂。"),
        (
            SelfNames("节能规划", ("云岭省",), ""),
            "建成绿色工厂一批。",
            "云岭省节能规划：建成绿色工厂一批。",
        ),
        (SelfNames("节能规划", (), ""), "建成绿色工厂一批。", "节能规划：建成绿色工厂一批。"),
        (SelfNames("", (), ""), "建成绿色工厂一批。", "建成绿色工厂一批。"),
    ],
)
def test_a_summary_names_its_region_or_document(about, text, kept):
    """One of the middle of a document might be of any: 239 of 297 of a model's named neither."""
    summaries, _ = summaries_of([("2", text)], read(SENTENCE * 80), source="m", about=about)
    assert [s.text for s in summaries] == [kept]
