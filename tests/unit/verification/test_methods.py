from typing import get_args

import pytest

from kgrag.config import VerifyConfig, VerifyMethod
from kgrag.testing.scripted import ScriptedChat
from kgrag.verification.methods import METHODS, unchecked


def test_methods_are_those_of_the_settings():
    """The default of `verify.method` is one of them."""
    assert [*METHODS, "none"] == list(get_args(VerifyMethod))
    assert VerifyConfig().method in METHODS


@pytest.mark.parametrize("name", METHODS)
def test_no_method_raises_where_the_model_gives_nonsense(name, made):
    """The answer stands, and the verdict carries the method's name."""
    chat = ScriptedChat(lambda request: "胡言乱语")
    method = METHODS[name]
    budget = made.budget(chat, rounds=method.max_rounds)
    done = method.verify(
        made.question,
        made.attempt(),
        made.tries(),
        language="zh",
        model=chat,
        budget=budget,
    )
    assert done.answer == made.attempt().answer
    assert done.verdict.method == name
    assert done.verdict.rounds == 1


def test_unchecked_answers_pass_where_the_offline_checks_support_all(made):
    """One sentence that is not in its cited text is enough to say so."""
    done = unchecked(made.attempt(supported=False))
    assert not done.verdict.passed
    assert done.verdict.reason == "只做了不用模型的核对：1 句中有 1 句得不到支持"
