"""Everyday wordings and what documents call them."""

from importlib import resources

import pytest

from kgrag.text.official_terms import in_official_terms, official_terms

FOLDER = resources.files("kgrag.text").joinpath("thesaurus")
LINES = [
    (file.name, line)
    for file in FOLDER.iterdir()
    for line in file.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def found(text):
    """Return what is read in a text and its first official term."""
    return [(text[t.start : t.end], t.terms[0]) for t in official_terms(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("旧件翻新主抓哪几类产品", [("旧件翻新", "再制造")]),
        ("PUE要降到多少", [("PUE", "电能利用效率")]),
        ("pue要降到多少", [("pue", "电能利用效率")]),
        ("XPUE要降到多少", []),  # not a word of its own
        ("宁夏科技部门扶起多少家", []),  # 科技部 is not in 科技部门
        ("《旧件翻新办法》由谁印发", []),  # a title stays as it is
        ("再制造也就是旧件翻新", []),  # its official term is there
        ("", []),
        ("绿色工厂有多少家", []),
    ],
)
def test_everyday_wordings_are_read(text, expected):
    """As words of the text, whatever their case, outside titles."""
    assert found(text) == expected


def test_of_wordings_inside_each_other_the_longest_counts():
    """太阳能热水器 is no 光伏发电."""
    (long,) = official_terms("太阳能热水器补多少")[:1]
    assert "太阳能热水器补多少"[long.start : long.end] == "太阳能热水器"


def test_the_question_is_worded_in_official_terms():
    """What is not in the thesaurus stays as it is."""
    text = "请问旧件翻新和PUE"
    assert in_official_terms(text, official_terms(text)) == "请问再制造和电能利用效率"
    assert in_official_terms("无此词", []) == "无此词"


def test_every_line_of_the_thesaurus_is_a_group():
    """Official terms, =, everyday wordings of two to eight characters, nothing empty."""
    assert len(LINES) > 1000
    for name, line in LINES:
        official, is_group, lay = line.partition(" = ")
        assert is_group, (name, line)
        assert " = " not in lay, (name, line)
        words = lay.split("、")
        assert all(official.split("、")), (name, line)
        assert all(2 <= len(word) <= 8 for word in words), (name, line)
        assert not set(words) & set(official.split("、")), (name, line)


def test_no_file_has_a_wording_twice():
    """It would mean two things."""
    for name in {name for name, _ in LINES}:
        words = [w for n, line in LINES if n == name for w in line.partition(" = ")[2].split("、")]
        assert sorted({w for w in words if words.count(w) > 1}) == [], name
