"""A grammar of a TOML file: its lexicon, patterns, lists and spans."""

import pytest

from kgrag.text.grammar import Grammar
from kgrag.text.tagged import Span
from kgrag.text.vocabulary import either

FILE = """
[terms]
up = "提高 增长"
how_much = "how_much 多少"
[plain]
words = "增长极"
[words]
units = "吨 亩"
[patterns]
change = "{up}到?<amount>"
amount = "{number}"
kind = "本@document_kinds"
[examples]
change = ["提高到5 => 提高到5"]
"""


@pytest.fixture
def grammar():
    return Grammar(FILE, tags=("number",))


def tagged(grammar, text):
    numbers = (Span(i, i + 1, frozenset(["number"]), c) for i, c in enumerate(text) if c.isdigit())
    return grammar.tagged(text, numbers)


@pytest.mark.parametrize(
    ("text", "found"),
    [("森林覆盖率提高到5", "提高到5"), ("增长3", "增长3"), ("增长极3", None), ("提高到", None)],
)
def test_a_pattern_speaks_of_spans(grammar, text, found):
    """Of words by tag and of numbers; a protected word holds no other."""
    read = tagged(grammar, text)
    match = grammar.pattern("change").search(read.code)
    assert (read.words(*match.span()) if match else None) == found


def test_lists_are_those_of_the_file_or_of_the_lexicon(grammar):
    """Its own by name, else the words of a tag; @name is a list that all grammars share."""
    assert grammar.words("units") == ("吨", "亩")
    assert set(grammar.words("up")) == {"提高", "增长"}
    assert grammar.pattern("kind").fullmatch("本办法")
    with pytest.raises(ValueError, match="no list 'kinds'"):
        either("kinds")


@pytest.mark.parametrize(("text", "n"), [("how much", 1), ("show much", 0), ("how muchness", 0)])
def test_words_in_latin_letters_stand_alone(grammar, text, n):
    """_ is a blank; no part of another word is one."""
    assert len(list(grammar.lexicon.terms(text))) == n


def test_a_pattern_of_an_unknown_tag_is_refused(grammar):
    """Nothing could ever match it."""
    with pytest.raises(ValueError, match="no span has the tag down"):
        grammar.compile("{down}")


def test_half_a_character_is_none_that_a_word_has(grammar):
    """It is read as any other mark."""
    assert tagged(grammar, "\ud800提高5").text == "\ud800提高5"
