import pytest

from kgrag.answering.follow_up import Turn, carry_over, rewrite_follow_up
from kgrag.errors import ModelUnavailableError
from kgrag.testing.scripted import ScriptedChat

ZH = [Turn("吉林省绿色工厂的目标是多少？", "500家[1]。")]
EN = [Turn("How many green factories does Jilin Province plan?", "500 [1].")]


def rewritten(script, question="由谁牵头？", history=ZH):
    chat = ScriptedChat(script)
    return rewrite_follow_up(question, history, model=chat), chat


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
    """There is nothing to complete."""
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
    assert carry_over("什么时候完成？", history) == "江苏省绿色工厂什么时候完成？"


def test_carry_over_takes_the_only_title_of_the_answer():
    """What the answer names is what it is about, where the question names nothing."""
    history = [Turn("节能由什么文件规定？", "由《节能法》规定[1]。")]
    assert carry_over("它什么时候实施？", history) == "《节能法》什么时候实施？"


def test_carry_over_changes_nothing_without_history():
    """The first question of a conversation stands by itself."""
    assert carry_over("那浙江呢？", []) == "那浙江呢？"
    assert carry_over("", ZH) == ""


def test_carry_over_does_not_grow_without_bound():
    """A question of more than 300 characters is not made."""
    assert carry_over("由谁负责？", [Turn("绿" * 400, "")]) == "由谁负责？"


@pytest.mark.parametrize(
    ("question", "before", "expected"),
    [
        ("换成河南", "到2025年江苏的目标是多少？", "到2025年河南的目标是多少？"),
        ("改成2030年呢", "到2025年江苏的目标是多少？", "到2030年江苏的目标是多少？"),
        ("河南？", "到2025年江苏的目标是多少？", "到2025年河南的目标是多少？"),
        ("2030年", "到2025年江苏的目标是多少？", "到2030年江苏的目标是多少？"),
        ("2030年呢", "到2025年江苏的目标是多少？", "到2030年江苏的目标是多少？"),
        ("What about Henan?", "What is the target of Jiangsu?", "What is the target of Henan?"),
        ("and Henan?", "What is the PUE limit in Jiangsu?", "What is the PUE limit in Henan?"),
        ("switch to Henan", "What is Jiangsu's target?", "What is Henan's target?"),
        ("2030 instead", "What is the target for 2025?", "What is the target for 2030?"),
        ("And in 2030?", "What is the target for 2025?", "What is the target for 2030?"),
    ],
)
def test_another_place_or_year_needs_no_model(question, before, expected):
    """The rules are sure: the question before names one."""
    assert rewritten([], question, [Turn(before, "18%[1]。")])[0] == expected
    assert carry_over(question, [Turn(before, "")]) == expected


@pytest.mark.parametrize(
    ("question", "before"),
    [
        ("那浙江呢？", "吉林和江苏哪个高？"),  # which of them is meant
        ("2030年呢？", "2020年和2025年各是多少？"),
        ("那补贴呢？", "江苏的目标是多少？"),
        ("那浙江呢？", "《吉林省规划》的目标是多少？"),  # another document
        ("What about subsidies?", "What is the target of Jiangsu?"),
    ],
)
def test_what_is_not_sure_goes_to_the_model(question, before):
    """One call."""
    language = "Rewritten?" if question.isascii() else "重写的问题？"
    assert rewritten([language], question, [Turn(before, "18%[1]。")])[0] == language
