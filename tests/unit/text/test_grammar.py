"""Grammars: tagged text, lexicons and patterns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.grammar import Grammar
from kgrag.text.tagged import Alphabet, Span, Tagged, merged
from kgrag.text.terms import Lexicon
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


UP, BOTH = frozenset(["up"]), frozenset(["up", "level"])
ALPHABET = Alphabet([UP, BOTH])


def test_a_pattern_speaks_of_tags_and_of_text():
    """A span with several tags is found by each of them."""
    text = "率提高到50"
    read = Tagged(text, [Span(1, 4, BOTH)], ALPHABET)
    for wanted in ("率{up}5", "率{level}5", "{up|level}"):
        match = ALPHABET.compile(wanted).search(read.code)
        assert match is not None
        assert "提高到" in read.words(*match.span())
    assert ALPHABET.compile("提高").search(read.code) is None


def test_a_tag_that_no_span_has_is_an_error():
    """A slip in a grammar is told when it is read."""
    with pytest.raises(ValueError, match="no span has the tag down"):
        ALPHABET.compile("{up|down}")


@pytest.mark.parametrize("strange", ["\ud800", "\U000f0000", "\ue000", "\U001001b0"])
def test_no_character_of_a_text_is_taken_for_a_span(strange):
    """Not half a character, and not the marks of a font, which stand in private planes."""
    read = Tagged(f"率{strange}5", [], ALPHABET)
    assert ALPHABET.compile("{up|level}").search(read.code) is None
    assert read.words(0, 3) == f"率{strange}5"


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5))))
def test_no_character_is_lost(text, places):
    """Whatever the spans, the words of the whole are the text, and each span has its own."""
    spans = [Span(a, min(a + n, len(text)), UP) for a, n in sorted(places) if a < len(text)]
    kept = merged(*([span] for span in spans))
    read = Tagged(text, kept, ALPHABET)
    assert read.words(0, len(read.code)) == text
    for at, span in read.spans.items():
        assert read.words(at, at + 1) == text[span.start : span.end]


def test_of_spans_that_overlap_the_layer_before_counts():
    """A number within a time is none."""
    time, number, word = Span(0, 5, UP), Span(1, 4, UP), Span(6, 8, BOTH)
    assert merged([time], [number, word]) == [time, word]


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
