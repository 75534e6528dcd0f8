import pytest

from kgrag.text.answer_text import (
    MARK,
    statements,
    without_marks,
)


def read(text):
    return [(s.text.strip(" 。\n"), s.numbers, s.rests_on) for s in statements(text)]


def test_statements_of_a_long_text_take_linear_time():
    """An answer of 200,000 characters is read at once."""
    assert len(statements("甲目标。[1]\n" * 20_000)) == 20_000


@pytest.mark.parametrize(
    "mark",
    ["[1]", "【1】", "［１］", "[^1]", "[1,2]", "[1-3]", "[1、3]", "[文档1]", "[文档1，文档2]"],
)
def test_mark_knows_every_form_of_a_citation(mark):
    """Models were trained on many."""
    assert MARK.fullmatch(mark)


@pytest.mark.parametrize(
    "mark", ["【1†来源】", "[Source:3]", "[第2段]", "[来源： 1]", "[Doc 1, Doc 2]"]
)
def test_mark_knows_citations_with_words(mark):
    """What a passage is called differs, too."""
    assert MARK.fullmatch(mark)


@pytest.mark.parametrize("text", ["[2021]4号", "[21]号", "[a]", "[ ]", "〔3〕", "(1)", "[图1]"])
def test_mark_leaves_other_brackets(text):
    """Document numbers, check boxes and figures are no citations."""
    assert not MARK.search(text)


def test_without_marks_leaves_nothing_that_is_read_as_a_citation():
    """A footnote in a document cannot be mistaken for a passage's number."""
    text = without_marks("甲[7]，乙【8】，丙[9-11]")
    assert text == "甲〔7〕，乙〔8〕，丙〔9-11〕"
    assert not MARK.search(text)


def test_mark_knows_the_word_of_the_prompts():
    """[文段1] is [1]."""
    assert MARK.fullmatch("[文段1]")
    assert MARK.fullmatch("【文段1、文段2】")
