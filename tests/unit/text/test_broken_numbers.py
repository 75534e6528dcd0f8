"""Numbers that a gap breaks."""

import pytest

from kgrag.text.answer_text import statements
from kgrag.text.quantities import broken_numbers


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("总量为0. 75亿吨", ["0. 75"]),
        ("比例达到83. 3%", ["83. 3"]),
        ("比例达到83 .3%", ["83 .3"]),
        ("比例达到８３. ３％", ["８３. ３"]),
        ("比例达到83.3%", []),
        ("1. 5个项目", []),
        ("1. 75亿吨", []),  # may begin with the number of a line
        ("共2项. 5月完成", []),
    ],
)
def test_only_sure_ones_are_found(text, broken):
    """Behind a word, with a unit behind; or below one."""
    assert [text[start:end] for start, end in broken_numbers(text)] == broken


def test_a_broken_number_ends_no_sentence():
    """It is checked as the number that it is."""
    (told,) = statements("总量为0. 75亿吨，比例为6%。[1]")
    assert "0.75亿吨" in told.text
    assert told.numbers == (1,)
