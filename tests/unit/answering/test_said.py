"""Lines of a conversation that are no questions."""

import pytest

from kgrag.answering.conversation import said


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("谢谢", "thanks"),
        ("好的，谢谢你！", "thanks"),
        ("非常感谢您的帮助。", "thanks"),
        ("Thanks a lot!", "thanks"),
        ("好的", "thanks"),
        ("你好", "greeting"),
        ("您好！", "greeting"),
        ("hello there", "greeting"),
        ("/help", "help"),
        ("help", "help"),
        ("帮助", "help"),
        ("exit", "end"),
        ("Quit", "end"),
        ("退出", "end"),
        ("/exit", "end"),
        ("/new", "new"),
        ("给我原文", "original"),
        ("请显示完整的引文。", "original"),
        ("原文呢？", "original"),
        ("show me the full text", "original"),
        ("上面两个城市哪个多？", "compare"),
        ("哪个更高", "compare"),
        ("这两个省谁定得更高？", "compare"),
        ("相差多少？", "compare"),
        ("Which of the two is higher?", "compare"),
    ],
)
def test_words_to_the_one_who_answers_are_told(line, kind):
    """With or without marks, in both languages."""
    assert said(line).kind == kind


@pytest.mark.parametrize(
    "line",
    [
        "你好，江苏的目标是多少？",
        "谢谢这个词出现在哪里？",
        "江苏和福建哪个高？",
        "哪个部门负责？",
        "哪个城市的森林覆盖率最高？",
        "退出机制有哪些？",
        "帮助企业节能的措施有哪些？",
        "show me the targets of Henan",
        "which department is responsible?",
        "原文件由谁印发？",
        "补贴最高多少？",
        "",
    ],
)
def test_questions_stay_questions(line):
    """They are searched for."""
    assert said(line).kind == "question"


def test_a_citation_may_be_named():
    """By its number, in figures or words."""
    asked = ("给我[2]的原文", "第三条原文", "show me source 4", "给我原文")
    assert [said(line).number for line in asked] == [2, 3, 4, 0]


def test_the_smaller_one_may_be_asked_for():
    """And English is told from Chinese."""
    assert said("哪个更低？").least
    assert not said("哪个更高？").least
    assert (said("which is lower?").least, said("which is lower?").language) == (True, "en")
