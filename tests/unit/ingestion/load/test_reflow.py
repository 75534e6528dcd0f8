"""Lines put together into paragraphs."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.load.page_tables import Line
from kgrag.ingestion.load.reflow import reflow

SIZE = 10.0
LEFT, RIGHT = 100.0, 300.0


def full(text: str, left: float = LEFT) -> Line:
    """Return a line that reaches the right edge."""
    return Line(text, left, RIGHT, SIZE)


def indented(text: str, right: float = RIGHT) -> Line:
    """Return the first line of a paragraph."""
    return Line(text, LEFT + 2 * SIZE, right, SIZE)


def short(text: str, left: float = LEFT) -> Line:
    """Return a line that ends early."""
    return Line(text, left, left + len(text) * SIZE, SIZE)


def text_of(*pages: list[Line]) -> str:
    """Return the text of pages."""
    return reflow(pages)[0]


BODY = [
    indented("一、总体要求", 180.0),
    indented("为贯彻落实"),
    full("决策部署，加强"),
    short("节能。"),
]


def test_reflow_when_paragraphs_are_indented():
    """Lines of a paragraph are joined, a heading and the next paragraph stand on their own."""
    assert text_of([*BODY, indented("到2025年"), short("下降。")]) == (
        "一、总体要求\n为贯彻落实决策部署，加强节能。\n到2025年下降。"
    )


def test_reflow_when_a_full_line_ends_a_sentence():
    """With indents the edge decides: a sentence may end in the middle of a paragraph."""
    page = [*BODY, indented("第一句刚好排满。"), full("第二句仍在本段"), short("之内。"), *BODY]

    assert "第一句刚好排满。第二句仍在本段之内。" in text_of(page)


def test_reflow_when_a_paragraph_ends_at_the_edge():
    """With indents a new paragraph is seen even after a full line."""
    page = [*BODY, indented("本段刚好排满。"), indented("另起一段"), short("正文。")]

    assert "本段刚好排满。\n另起一段正文。" in text_of(page)


def test_reflow_when_nothing_is_indented():
    """Without indents a sentence end or the number of a heading begins a new line."""
    page = [
        full("为贯彻落实决策部署推动"),
        full("节能工作制定本方案如下。"),
        full("一、总体要求和主要目标是"),
        short("绿色发展"),
        full("到二〇二五年实现目标任务"),
        full("（一）优化产业结构布局使"),
        short("能耗下降"),
    ]

    assert text_of(page) == (
        "为贯彻落实决策部署推动节能工作制定本方案如下。\n一、总体要求和主要目标是绿色发展\n"
        "到二〇二五年实现目标任务\n（一）优化产业结构布局使能耗下降"
    )


def test_reflow_when_a_paragraph_goes_over_the_page():
    """A paragraph is joined over a page break; each page keeps the place of its own text."""
    pages = [[*BODY, indented("跨页的段落")], [full("继续在下一页"), short("结束。"), *BODY]]

    text, segments = reflow(pages)

    assert "跨页的段落继续在下一页结束。" in text
    assert [s.number for s in segments] == [1, 2]
    assert text[segments[0].start : segments[0].end].endswith("跨页的段落")
    assert text[segments[1].start : segments[1].end].startswith("继续在下一页")


@pytest.mark.parametrize(
    "number",
    ["3", "- 3 -", "—17—", "— 17 —", "第3页", "第 3 页 共 10 页", "3/10", "３", "iv", "·3·"],
)
def test_reflow_when_a_page_number_stands_alone(number):
    """Page numbers at the top or the bottom are dropped."""
    line = Line(number, 200.0, 220.0, SIZE)

    assert text_of([*BODY, line]) == text_of(BODY)
    assert text_of([line, *BODY]) == text_of(BODY)


def test_reflow_when_a_number_stands_inside_a_page():
    """A number alone between other lines is a value of a table, not a page number."""
    assert "\n2025\n" in text_of([*BODY, short("2025"), *BODY])


def test_reflow_when_pages_repeat_a_head():
    """A line that most pages have at the same end is dropped, whatever page number is in it."""
    head = "云岭省政府公报 {} 第五期"
    pages = [[short(head.format(i)), *BODY] for i in range(1, 5)]

    text, segments = reflow(pages)

    assert "公报" not in text
    assert len(segments) == 4


def test_reflow_when_only_two_pages_begin_alike():
    """Two pages that begin alike are no running head."""
    assert text_of([short("附件"), *BODY], [short("附件"), *BODY]).count("附件") == 2


def test_reflow_when_a_signature_stands_at_the_right():
    """Issuer and date at the right edge are lines of their own."""
    page = [*BODY, full("云岭省政府", 250.0), full("2022年3月", 255.0), *BODY]

    assert "\n云岭省政府\n2022年3月\n一、总体要求" in text_of(page)


def test_reflow_when_the_type_changes():
    """A line in another size is not joined: a title over text, a note under it."""
    big = Line("云岭省碳达峰实施方案", LEFT, RIGHT, 16.0)

    assert text_of([big, *BODY]).startswith("云岭省碳达峰实施方案\n一、")


def test_reflow_when_a_line_begins_with_a_closing_mark():
    """Such a line belongs to the one before, wherever that ended."""
    assert "加强节能。”并落实。" in text_of([*BODY, short("”并落实。"), *BODY])


def test_reflow_when_words_are_latin():
    """Latin words are joined with a blank, a hyphen without."""
    page = [
        full("the law on"),
        full("energy con-"),
        short("servation"),
    ]

    assert text_of(page) == "the law on energy con-servation"


def test_reflow_when_gaps_stand_around_digits():
    """The gap between Chinese and digits goes, the blank between Chinese words stays."""
    assert text_of([short("到 2025 年 PUE 降至 1.3 以下，财政厅 能源局 2 号")]) == (
        "到2025年PUE降至1.3以下，财政厅 能源局2号"
    )


def test_reflow_when_pages_are_empty():
    """Empty pages give no segment and do not shift the numbers."""
    text, segments = reflow([[], BODY, []])

    assert [s.number for s in segments] == [2]
    assert reflow([]) == ("", ())
    assert text[segments[0].start : segments[0].end] == text


LINES = st.builds(
    Line,
    st.text(alphabet="甲乙，。a1一、", min_size=1, max_size=6),
    st.floats(50, 150),
    st.floats(160, 310),
    st.sampled_from([10.0, 10.5, 16.0]),
)


@given(st.lists(st.lists(LINES, max_size=5), max_size=4))
def test_reflow_for_any_lines(pages):
    """Segments are in order and apart, inside the text, and no character is made up."""
    text, segments = reflow(pages)

    assert all(0 <= s.start < s.end <= len(text) for s in segments)
    assert all(a.end <= b.start and a.number < b.number for a, b in pairwise(segments))
    source = "".join(line.text for page in pages for line in page)
    left_over = iter(source)
    assert all(char in left_over for char in text if char not in "\n ")
