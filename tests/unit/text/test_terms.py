"""Words of a lexicon in a text."""

import pytest

from kgrag.text.terms import Lexicon

WORDS = """
[terms]
up = "提高 提高到 升"
level = "达 提高到"
[plain]
words = "升级"
"""


@pytest.fixture(scope="module")
def lexicon():
    return Lexicon.from_toml(WORDS)


def found(lexicon, text):
    return [(text[t.start : t.end], sorted(t.tags)) for t in lexicon.terms(text)]


def test_the_longest_word_counts_with_all_its_tags(lexicon):
    """提高 is part of 提高到, which says two things."""
    assert found(lexicon, "覆盖率提高到5") == [("提高到", ["level", "up"])]


def test_a_plain_word_protects_what_it_holds(lexicon):
    """升级 is no 升."""
    assert found(lexicon, "技术升级") == []


def test_a_single_character_stands_alone_or_before_a_number(lexicon):
    """达 in 发达 is a piece of a word; 占比达100 is parted elsewhere, and means it."""
    assert found(lexicon, "发达地区") == []
    assert found(lexicon, "占比达100") == [("达", ["level"])]


def test_words_by_tag(lexicon):
    """What a tag stands for can be asked."""
    assert set(lexicon.words("level")) == {"达", "提高到"}
    assert lexicon.words("down") == ()
