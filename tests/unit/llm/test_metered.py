import pytest

from kgrag.errors import ModelOutputError
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.llm.metered import Meter, Metered, Spent
from kgrag.testing.scripted import ScriptedChat

REQUEST = Request((Message("user", "甲"),), "extract")
PAID = Completion("一", "m", usage=Usage(10, 4, 3))


def refuse(completion):
    raise ModelOutputError("no", kind="invalid")


def test_meter_adds_up_by_stage():
    """Calls and tokens of every answer; what an earlier run paid adds no tokens."""
    meter = Meter()
    kept = Completion("二", "m", usage=Usage(7, 7), from_cache=True)
    script = ScriptedChat([PAID, PAID, kept])
    model = Metered(script, meter, stage="extract")

    model.complete(REQUEST)
    Metered(script, meter, stage="summarize").complete(REQUEST)
    model.complete(REQUEST)

    assert meter.spent == {"extract": Spent(1, 1, 10, 4, 3), "summarize": Spent(1, 0, 10, 4, 3)}
    assert model.name == "scripted"


def test_meter_counts_answers_that_cannot_be_used():
    """They were paid for; a kept answer that is refused is asked for anew and counts then."""
    meter = Meter()
    kept = Completion("二", "m", usage=Usage(7, 7), from_cache=True)
    model = Metered(ScriptedChat([PAID, kept]), meter, stage="extract")

    for _ in range(2):
        with pytest.raises(ModelOutputError):
            model.complete(REQUEST, accept=refuse)

    assert meter.spent == {"extract": Spent(1, 0, 10, 4, 3)}


def test_spent_adds_up():
    """Each number by itself; tokens are what is priced."""
    assert Spent(1, 2, 3, 4, 5) + Spent(10, 20, 30, 40, 50) == Spent(11, 22, 33, 44, 55)
    assert Spent(1, 2, 3, 4, 5).usage == Usage(3, 4, 5)
