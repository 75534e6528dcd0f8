from types import SimpleNamespace

import pytest

from kgrag.answering.models import QuestionModels
from kgrag.errors import ModelError
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.testing.scripted import ScriptedChat

REQUEST = Request((Message("user", "问"),), "answer")


def models(script, max_calls=10):
    model = ScriptedChat(script)
    stages = SimpleNamespace(of=lambda _: model)
    return QuestionModels(stages, max_rounds=2, max_calls=max_calls, timeout_s=60)


def test_calls_of_all_stages_count_together():
    """One bound for the question."""
    asked = models(["甲", "乙"])
    asked.of("answer").complete(REQUEST)
    asked.of("verify").complete(REQUEST)
    assert asked.calls == 2


def test_no_call_goes_beyond_the_bound():
    """The error says which setting it is."""
    asked = models(["甲", "乙"], max_calls=1)
    asked.of("answer").complete(REQUEST)
    with pytest.raises(ModelError, match="max_calls"):
        asked.of("answer").complete(REQUEST)


def test_usage_tells_what_was_paid_now():
    """What came from the cache cost nothing."""
    asked = models(
        [
            Completion("甲", "m", usage=Usage(100, 10)),
            Completion("乙", "m", usage=Usage(999, 99), from_cache=True),
        ]
    )
    for _ in range(2):
        asked.of("answer").complete(REQUEST)
    assert asked.usage() == "2 calls, 1 of them from the cache; 100 tokens in, 10 out"
