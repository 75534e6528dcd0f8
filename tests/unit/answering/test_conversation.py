"""Lines of a conversation, and what a question takes over from the turns before it."""

from types import SimpleNamespace
from typing import cast

import pytest

from kgrag.answering.conversation import Conversation, kind_of
from kgrag.answering.follow_up import Turn, carry_over, complete
from kgrag.answering.models import QuestionModels
from kgrag.config import VerifyConfig
from kgrag.errors import ModelUnavailableError
from kgrag.llm.models import Models
from kgrag.testing.scripted import ScriptedChat
from tests.fixtures.answers import answer_of
from tests.fixtures.kit import shared_base


def talking():
    """Return a conversation whose answers are written down, and what was asked of it."""
    asked = []

    def ask(line, turns):
        asked.append((line, [turn.question for turn in turns]))
        return answer_of(line, "500家。", (), "m")

    return Conversation(ask), asked


def test_only_questions_are_asked():
    """Courtesy and help call nobody, and are no turns."""
    talk, asked = talking()
    lines = ("你好", "甲市建多少家？", "谢谢", "/help", "乙市建多少家？")
    replies = [talk.reply(line) for line in lines]
    assert [line for line, _ in asked] == ["甲市建多少家？", "乙市建多少家？"]
    assert asked[1][1] == ["甲市建多少家？"]
    assert [reply.answer is None for reply in replies] == [True, False, True, True, False]
    assert all(reply.text or reply.answer for reply in replies)


def test_a_new_conversation_has_no_turns():
    talk, asked = talking()
    talk.reply("甲市建多少家？")
    talk.reply("/new")
    talk.reply("乙市建多少家？")
    assert asked[1][1] == []
    assert talk.reply("exit").ends


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("好的，谢谢你！", "courtesy"),
        ("Thanks a lot!", "courtesy"),
        ("您好！", "courtesy"),
        ("/help", "help"),
        ("帮助", "help"),
        ("Quit", "end"),
        ("/new", "new"),
        ("你好，江苏的目标是多少？", "question"),
        ("谢谢这个词出现在哪里？", "question"),
        ("退出机制有哪些？", "question"),
        ("show me the targets of Henan", "question"),
        ("原文件由谁印发？", "question"),
        ("", "question"),
    ],
)
def test_only_lines_of_certain_words_are_no_questions(line, expected):
    """With or without marks, in both languages."""
    assert kind_of(line) == expected


ZH = [Turn("吉林省绿色工厂的目标是多少？", "500家[1]。")]
EN = [Turn("How many green factories does Jilin Province plan?", "500 [1].")]


def rewritten(script, question="由谁牵头？", history=ZH):
    chat = ScriptedChat(script)
    models = QuestionModels(cast(Models, SimpleNamespace(of=lambda _: chat)), VerifyConfig())
    return complete(question, history, models=models)[0], chat


def test_a_follow_up_is_rewritten_in_one_call():
    """Question and conversation are material in fences."""
    question, chat = rewritten(["吉林省绿色工厂由谁牵头？"])
    assert question == "吉林省绿色工厂由谁牵头？"
    (request,) = chat.requests
    assert (request.stage, request.schema) == ("analyse", None)
    user = request.messages[1].content
    assert "<question " in user
    assert "Q: 吉林省绿色工厂的目标是多少？\nA: 500家[1]。" in user.split("<history ")[1]


@pytest.mark.parametrize(("question", "history"), [("那浙江呢？", []), (" ", ZH)])
def test_no_call_is_made_without_history_or_question(question, history):
    assert rewritten([], question, history)[0] == question


def test_history_is_bounded_in_turns_and_characters():
    """A long conversation costs no more than three turns."""
    turns = [Turn(f"问{n}" + "长" * 900, "答" * 900) for n in range(9)]
    _, chat = rewritten(["目标是什么？"], "由谁牵头？", turns)
    user = chat.requests[0].messages[1].content
    assert "问5" not in user
    assert "问6" in user
    assert len(user) < 3 * (300 + 400) + 300


@pytest.mark.parametrize("bad", ["", "一？\n二？", "长" * 301, "“”"])
def test_rules_decide_where_the_model_gives_no_question(bad):
    """It is asked twice; the conversation goes on in any case."""
    question, chat = rewritten([bad, bad])
    assert question == "吉林省绿色工厂由谁牵头？"
    assert len(chat.requests) == 2


def test_rules_decide_where_the_model_cannot_be_reached():
    """No exception reaches the asker."""
    assert rewritten([ModelUnavailableError("down")])[0] == "吉林省绿色工厂由谁牵头？"


def test_rules_decide_where_the_model_changes_the_language():
    """A question that stands by itself comes back as it is."""
    asked = "新型储能装机规模要达到多少？"
    assert rewritten(["How much storage?"], asked)[0] == asked


def test_english_questions_get_the_english_prompt():
    """The prompt is in the language of the question."""
    question, chat = rewritten(["Who leads it in Jilin?"], "Who leads it?", EN)
    assert question == "Who leads it in Jilin?"
    assert "one line" in chat.requests[0].messages[0].content


def test_carry_over_follows_a_chain_of_follow_ups():
    """Turns may hold questions as asked: each is completed from the one before it."""
    history = [*ZH, Turn("那浙江呢？", "600家[1]。"), Turn("江苏省呢", "700家[1]。")]
    assert carry_over("什么时候完成？", history) == ("江苏省绿色工厂什么时候完成？", False)


def test_carry_over_does_not_grow_without_bound():
    """A question of more than 300 characters is not made."""
    assert carry_over("由谁负责？", [Turn("绿" * 400, "")]) == ("由谁负责？", False)


def test_a_certain_follow_up_needs_no_model():
    assert rewritten([], "那浙江呢？")[0] == "浙江绿色工厂的目标是多少？"
    assert rewritten(["重写的问题？"], "那浙江和氢能呢？")[0] == "重写的问题？"


def test_the_document_of_an_earlier_answer_is_meant_where_the_last_cites_none():
    history = [Turn("甲市一吨补多少", "200元[1]。", ("甲办法",)), Turn("乙市呢", "没有。")]
    assert carry_over("这个办法还有效吗", history) == ("《甲办法》还有效吗", True)
    titled = [*history, Turn("《丙法》有哪些要求", "五项[1]。", ("丁法",))]
    assert carry_over("它是谁印发的", titled) == ("《丙法》是谁印发的", True)


ABROAD = """乙市能源规划
乙市人民政府
2022年3月5日
一、现状
德国的可再生能源占比为40%。
乙市的可再生能源占比为30%。
"""
abroad = shared_base({"abroad": ABROAD})


@pytest.mark.parametrize("question", ["德国的可再生能源占比", "法国可再生能源占比"])
def test_that_no_document_is_about_a_country_abroad_is_said(abroad, question):
    answer = abroad.ask(question)
    assert answer.notes[0] == f"没有以{question[:2]}为范围的文件"
