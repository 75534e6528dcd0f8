import pytest

from kgrag.answering.draft import Draft
from kgrag.answering.generate import integrate
from kgrag.errors import RateLimitError
from kgrag.question.query import analyse
from kgrag.results import Context, Passage
from kgrag.testing.scripted import ScriptedChat

PASSAGES = tuple(Passage(n, "d", "甲规划", (), 0, 9, f"文段{n}的内容。", "c") for n in (1, 2))
CONTEXT = Context(PASSAGES, best=2)
FIRST = "创建绿色工厂500家[1]。"


def integrated(script, first=FIRST, context=CONTEXT):
    model = ScriptedChat(script)
    draft = Draft(first, "first", notes=("注",))
    query = analyse("绿色工厂多少家？")
    return integrate(query, draft, context, model=model), model


def test_integrate_completes_the_answer_from_the_best_passage():
    """The model sees that passage only, under its own number."""
    longer = f"{FIRST}给予奖励[2]。"
    draft, model = integrated([longer])
    assert (draft.text, draft.model, draft.notes) == (longer, "scripted", ("注",))
    user = model.requests[0].messages[1].content
    assert "[2]\n<passage " in user
    assert "文段1的内容" not in user
    assert FIRST in user


@pytest.mark.parametrize("second", ["创建绿色工厂500家[2]。", "给予奖励[1][2]。"])
def test_integrate_that_loses_citations_or_content_is_refused(second):
    """The first answer stands, and a note says so."""
    draft, _ = integrated([second])
    assert (draft.text, draft.model) == (FIRST, "first")
    assert draft.notes == ("注", "答案整合丢失了原有的内容或引用，保留原答案。")


def test_integrate_that_fails_keeps_the_first_answer():
    """It is paid for."""
    draft, _ = integrated([RateLimitError("too often")])
    assert draft.text == FIRST
    assert "too often" in draft.notes[-1]


def test_integrate_of_a_cited_form_that_differs_is_no_loss():
    """【1】 and [1] are one citation."""
    assert integrated([FIRST.replace("[1]", "【1】")])[0].text == "创建绿色工厂500家【1】。"


@pytest.mark.parametrize(
    ("first", "context"), [("文件中未找到答案。", CONTEXT), (FIRST, Context(()))]
)
def test_integrate_of_nothing_asks_nobody(first, context):
    """An honest "not found" is not talked into an answer."""
    draft, model = integrated([], first, context)
    assert (draft.text, model.requests) == (first, [])
