import pytest

from kgrag.errors import (
    BrokenOffError,
    BudgetExceededError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
)
from kgrag.llm.calls import Calls
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.llm.recorded import Recorded
from kgrag.llm.tokens import estimate_request, estimate_tokens
from kgrag.testing.scripted import ScriptedChat

REQUEST = Request((Message("user", "问甲乙"),), "verify", schema_name="cov", doc_id="d-1")


class Ledger:
    """Holds records instead of a file."""

    def __init__(self):
        self.records = []

    def record(self, call):
        """Take a record."""
        self.records.append(call)


def refuse(_):
    raise ModelOutputError("no", kind="malformed")


def test_a_good_call_is_recorded_with_all_that_is_known():
    """Who asked, about what, whom, what it took."""
    ledger = Ledger()
    answer = Completion("答", "m-2024", usage=Usage(7, 3, cached=2))
    assert Recorded(ScriptedChat([answer], name="m"), calls=ledger).complete(REQUEST) is answer
    (call,) = ledger.records
    assert (call.stage, call.doc_id, call.model, call.schema_name) == ("verify", "d-1", "m", "cov")
    assert (call.usage, call.outcome) == (Usage(7, 3, cached=2), "ok")
    assert (call.material_chars, call.estimated_prompt) == (3, 9)
    assert 0 <= call.seconds < 1
    assert call.at > 1_700_000_000


def test_an_answer_that_is_refused_is_recorded_with_its_tokens():
    """It was paid for; the outcome is what was wrong."""
    ledger = Ledger()
    model = Recorded(ScriptedChat([Completion("坏", "m", usage=Usage(7, 3))]), calls=ledger)
    with pytest.raises(ModelOutputError):
        model.complete(REQUEST, accept=refuse)
    assert [(c.outcome, c.usage) for c in ledger.records] == [("malformed", Usage(7, 3))]


@pytest.mark.parametrize(
    "error",
    [RateLimitError("slow"), ModelUnreachableError("refused"), ModelUnavailableError("401")],
)
def test_a_call_that_is_refused_is_recorded_without_tokens(error):
    """By the error's name; the error goes on."""
    ledger = Ledger()

    def fail(_):
        raise error

    with pytest.raises(type(error)):
        Recorded(ScriptedChat(fail), calls=ledger).complete(REQUEST)
    assert [(c.outcome, c.usage) for c in ledger.records] == [(type(error).__name__, Usage())]


@pytest.mark.parametrize("error", [BrokenOffError("late"), KeyboardInterrupt()])
def test_a_call_that_broke_off_is_recorded_with_an_estimate(error):
    """It was sent: what was sent is paid for, and what was streamed."""
    ledger = Ledger()

    class Breaking:
        name = "m"

        def complete(self, request, *, accept=None, on_text=None):
            if on_text is not None:
                on_text("到2025年，")
                on_text("绿色建筑占比")
            raise error

    for on_text in (None, len):
        with pytest.raises(type(error)):
            Recorded(Breaking(), calls=ledger).complete(REQUEST, on_text=on_text)
    sent, answered = estimate_request(REQUEST), estimate_tokens("到2025年，绿色建筑占比")
    assert [c.usage for c in ledger.records] == [
        Usage(sent, 0, estimated=True), Usage(sent, answered, estimated=True),
    ]  # fmt: skip


def test_a_call_that_was_not_sent_is_not_recorded():
    """A question had no time left for it."""
    ledger = Ledger()
    with pytest.raises(BudgetExceededError):
        Recorded(ScriptedChat([BudgetExceededError("late")]), calls=ledger).complete(REQUEST)
    assert ledger.records == []


def test_text_is_handed_on_as_it_comes():
    """The wrapper hides nothing."""
    pieces = []
    Recorded(ScriptedChat(["答"]), calls=Ledger()).complete(REQUEST, on_text=pieces.append)
    assert pieces == ["答"]


def test_the_ledger_takes_what_is_recorded(tmp_path):
    """With the real file behind it."""
    calls = Calls.open(tmp_path / "calls.db")
    Recorded(ScriptedChat(["答"]), calls=calls).complete(REQUEST)
    assert calls.totals("doc_id")[0].usage == Usage(3, 1)
    calls.close()
