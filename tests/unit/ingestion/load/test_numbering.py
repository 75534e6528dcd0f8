"""The numbers of Word's automatic lists."""

import pytest

from kgrag.ingestion.load.numbering import Level, Numbering


def numbering(levels: dict[int, Level]) -> Numbering:
    """Return the numbering of a file with one list, numId 1."""
    return Numbering({"1": ("0", levels)}, {}, {})


def test_label_when_levels_are_nested():
    """A level counts on by itself, and begins anew below the next of an outer level."""
    lists = numbering(
        {
            0: Level(1, "chineseCounting", "%1、"),
            1: Level(1, "chineseCounting", "（%2）"),
            2: Level(1, "decimal", "%3."),
        }
    )

    labels = [lists.label("1", level, None) for level in (0, 1, 1, 2, 2, 0, 1, 2)]

    assert labels == ["一、", "（一）", "（二）", "1.", "2.", "二、", "（一）", "1."]


def test_label_when_outer_numbers_are_shown():
    """`%1.%2` writes the outer number, in digits where the level says so."""
    lists = numbering(
        {
            0: Level(1, "chineseCounting", "第%1章"),
            1: Level(1, "decimal", "%1.%2", legal=True),
            2: Level(1, "lowerLetter", "%1-%3)"),
        }
    )

    assert [lists.label("1", i, None) for i in (0, 1, 2)] == ["第一章", "1.1", "一-a)"]


def test_label_when_an_outer_level_was_never_counted():
    """A level without its outer one shows that one's start."""
    lists = numbering({0: Level(3, "decimal", "%1"), 1: Level(1, "decimal", "%1.%2")})

    assert lists.label("1", 1, None) == "3.1"


@pytest.mark.parametrize(
    ("number_format", "text"),
    [
        ("decimal", "2"),
        ("decimalZero", "02"),
        ("decimalFullWidth", "２"),
        ("decimalEnclosedCircle", "②"),
        ("ideographDigital", "二"),
        ("ideographTraditional", "乙"),
        ("ideographZodiac", "丑"),
        ("upperLetter", "B"),
        ("lowerRoman", "ii"),
        ("upperRoman", "II"),
        ("bullet", ""),
        ("none", ""),
    ],
)
def test_label_in_each_format(number_format, text):
    """Every format that is known is written; bullets say nothing."""
    lists = numbering({0: Level(2, number_format, "%1")})

    assert lists.label("1", 0, None) == text
    assert lists.unknown == set()


def test_label_when_the_format_is_unknown():
    """An unknown format is written in digits and remembered for the warning."""
    lists = numbering({0: Level(1, "thaiCounting", "%1)")})

    assert lists.label("1", 0, None) == "1)"
    assert lists.unknown == {"thaiCounting"}


def test_label_when_lists_share_a_definition():
    """Lists of one definition count on; one that restarts does so once."""
    levels = {0: Level(1, "decimal", "%1.")}
    lists = Numbering({"1": ("0", levels), "2": ("0", levels)}, {"2": {0: 5}}, {})

    assert [lists.label(n, 0, None) for n in ("1", "1", "2", "2", "1")] == [
        *("1.", "2.", "5.", "6.", "7."),
    ]


def test_label_when_the_style_is_numbered():
    """A style's number counts; the paragraph's own numId 0 takes it away."""
    lists = numbering({0: Level(1, "decimal", "%1."), 1: Level(1, "decimal", "%2)")})
    lists.styles = {"Heading2": ("1", 1)}

    assert lists.label(None, None, "Heading2") == "1)"
    assert lists.label("0", None, "Heading2") == ""
    assert lists.label(None, None, "Normal") == ""
    assert lists.label("9", 0, None) == ""
    assert lists.label("1", 12, None) == ""
