from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.statements.unwrapped import unwrapped

WRAPPED = (
    "一、总体要求\n云岭省人民政府要加强统筹协调和督促指导，及时总\n结推广好经验好做法，重大事项报告省政府。\n"
    "（市工信局、\n—7—\n市财政局）\n"
)


def test_unwrapped_joins_what_the_width_of_a_page_broke():
    """A heading stays alone; a sentence and a bracket go on over breaks and page marks."""
    assert unwrapped(WRAPPED).text.split("\n") == [
        "一、总体要求",
        "云岭省人民政府要加强统筹协调和督促指导，及时总结推广好经验好做法，重大事项报告省政府。",
        "（市工信局、市财政局）",
    ]


def test_unwrapped_keeps_a_line_before_a_marker():
    """A paragraph that lost its full stop does not swallow the next heading."""
    text = "各区要抓紧落实，做好总结，加强宣传，及时报送情况\n（二）加强监督。\n牵头单位：市工信局"
    assert unwrapped(text).text == text


def test_unwrapped_keeps_rows_of_tables():
    """Cells stand between bars, rows on lines."""
    assert unwrapped("任务 | 责任单位\n节能 | 市工信局").text == "任务|责任单位\n节能|市工信局"


@given(st.text(alphabet="市局（）、。\n —7|\x00a　", max_size=200))
def test_unwrapped_says_where_every_character_stood(text):
    """What is kept is kept as it is; breaks are the only thing that may be put in."""
    flat = unwrapped(text)
    assert len(flat.text) == len(flat.offsets) == len(flat.narrowed)
    assert all(c in (text[at], "\n") for c, at in zip(flat.text, flat.offsets, strict=True))
    assert list(flat.offsets) == sorted(flat.offsets)
