import pytest

from kgrag.llm.one_question import check_question, one_question


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (" 目标是什么？\n", "目标是什么？"),
        ("“目标是什么？”", "目标是什么？"),
        ('"What is it?"', "What is it?"),
        ("**目标是什么？**", "目标是什么？"),
        ("“双碳”目标是什么？", "“双碳”目标是什么？"),
        ("什么是“双碳”", "什么是“双碳”"),
        ("改写后的问题：目标是什么？", "目标是什么？"),
        ("补充后的问题: 目标是什么？", "目标是什么？"),
        ("Rewritten question: What is it?", "What is it?"),
    ],
)
def test_a_question_comes_without_what_models_put_around_it(text, question):
    """Labels and quotation marks around all of it go; those of its words stay."""
    assert one_question(text) == question


@pytest.mark.parametrize("text", ["", " \n", "“”", "一？\n二？", "长" * 301])
def test_a_text_that_is_no_question_is_refused(text):
    """Empty, several lines, or too long to be one."""
    with pytest.raises(ValueError, match="wanted"):
        check_question(text)
