import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.words import (
    character_pairs,
    normalize_name,
    quoted_titles,
    sentence_spans,
    words,
)


@given(st.text())
def test_sentence_spans_cover_the_text_without_overlap(text):
    """Put together, the sentences are the text."""
    assert "".join(text[a:b] for a, b in sentence_spans(text)) == text


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("《“十四五”规划》", "十四五规划"),
        ("ＰＵＥ", "pue"),
        ("碳 达\n峰", "碳达峰"),
        ("方案（试行）", "方案(试行)"),
    ],
)
def test_normalize_name_is_blind_to_marks_width_case_and_blanks(a, b):
    """Names that differ in these only are one name."""
    assert normalize_name(a) == normalize_name(b)


def test_normalize_name_of_marks_alone_keeps_them():
    """A name without letter or digit must not become the empty name."""
    assert normalize_name("——") == "——"


@given(st.text(), st.text(), st.text())
def test_character_pairs_of_a_part_stand_in_those_of_the_whole(before, part, after):
    """That is what makes a phrase search find every occurrence."""
    if len(normalize_name(part)) < 2 or not normalize_name(part).isalnum():
        return
    whole = normalize_name(before + " " + part + " " + after)
    if normalize_name(part) in whole:
        assert set(character_pairs(part)) <= set(character_pairs(whole))


def test_quoted_titles_may_hold_another_title():
    """关于印发《X》的通知 may stand in marks itself."""
    assert [t for _, _, t in quoted_titles("见《关于印发《节能规划》的通知》。")] == [
        "关于印发《节能规划》的通知"
    ]


def test_words_leave_stop_words_out_and_bring_width_and_plurals_together():
    """What is searched for meets what is written."""
    assert words("的 了 吗") == []
    assert words("２０２５年 Policies") == words("2025年 policy")
    assert "绿色工厂" in words("绿色工厂")
    assert "工厂" in words("绿色工厂")
