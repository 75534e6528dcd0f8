"""Calls that are kept: what is paid once, and what stands in the ledger."""

import threading
import time
from dataclasses import replace

import pytest

from kgrag.errors import (
    BrokenOffError,
    BudgetExceededError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm import ledger
from kgrag.llm.calls import CallRecord, Calls
from kgrag.llm.chat import OK, Completion, Message, Request, Usage
from kgrag.llm.ledger import Cached, Recorded, request_key
from kgrag.llm.tokens import estimate_request, estimate_tokens
from kgrag.testing.scripted import ScriptedChat

CHECK = Request((Message("user", "问甲乙"),), "verify", schema_name="cov", doc_id="d-1")
REQUEST = Request((Message("system", "读"), Message("user", "问")), "extract", doc_id="d-1")
PARAMETERS = {"base_url": "http://a/v1", "temperature": "0.0"}


class Ledger(Calls):
    """Holds records instead of a file."""

    def __init__(self) -> None:
        self.records: list[CallRecord] = []

    def record(self, call):
        """Take a record."""
        self.records.append(call)
        return len(self.records)

    def amend(self, number, outcome):
        """Take what came of an answer."""
        self.records[number - 1] = replace(self.records[number - 1], outcome=outcome)


def used(model, request):
    """Return an answer of which was said that it could be used."""
    completion = model.complete(request)
    completion.report(OK)
    return completion


def test_a_good_call_is_recorded_with_all_that_is_known(monkeypatch):
    """Who asked, about what, whom, what it took."""
    moments = iter((10.0, 12.5))
    monkeypatch.setattr("kgrag.llm.ledger.time.monotonic", lambda: next(moments))
    ledger = Ledger()
    answer = Completion("答", "m-2024", usage=Usage(7, 3, cached=2))
    assert used(Recorded(ScriptedChat([answer], name="m"), calls=ledger), CHECK) == answer
    (call,) = ledger.records
    assert (call.stage, call.doc_id, call.model, call.schema_name) == ("verify", "d-1", "m", "cov")
    assert (call.usage, call.outcome) == (Usage(7, 3, cached=2), "ok")
    assert (call.material_chars, call.estimated_prompt) == (3, 9)
    assert call.seconds == 2.5
    assert call.at > 1_700_000_000


def test_an_answer_that_is_refused_is_recorded_with_its_tokens():
    """It was paid for; the outcome is what was wrong."""
    ledger = Ledger()
    model = Recorded(ScriptedChat([Completion("坏", "m", usage=Usage(7, 3))]), calls=ledger)
    model.complete(CHECK).report("malformed")
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
        Recorded(ScriptedChat(fail), calls=ledger).complete(CHECK)
    assert [(c.outcome, c.usage) for c in ledger.records] == [(type(error).__name__, Usage())]


@pytest.mark.parametrize("error", [BrokenOffError("late"), KeyboardInterrupt()])
def test_a_call_that_broke_off_is_recorded_with_an_estimate(error):
    """It was sent: what was sent is paid for, and what was streamed."""
    ledger = Ledger()

    class Breaking:
        name = "m"

        def complete(self, request, *, on_text=None):
            if on_text is not None:
                on_text("到2025年，")
                on_text("绿色建筑占比")
            raise error

    shown: list[str] = []
    for on_text in (None, shown.append):
        with pytest.raises(type(error)):
            Recorded(Breaking(), calls=ledger).complete(CHECK, on_text=on_text)
    sent, answered = estimate_request(CHECK), estimate_tokens("到2025年，绿色建筑占比")
    assert [c.usage for c in ledger.records] == [
        Usage(sent, 0, estimated=True), Usage(sent, answered, estimated=True),
    ]  # fmt: skip


def test_a_call_that_was_not_sent_is_not_recorded():
    """A question had no time left for it."""
    ledger = Ledger()
    with pytest.raises(BudgetExceededError):
        Recorded(ScriptedChat([BudgetExceededError("late")]), calls=ledger).complete(CHECK)
    assert ledger.records == []


def test_text_is_handed_on_as_it_comes():
    """The wrapper hides nothing."""
    pieces: list[str] = []
    Recorded(ScriptedChat(["答"]), calls=Ledger()).complete(CHECK, on_text=pieces.append)
    assert pieces == ["答"]


def test_the_ledger_takes_what_is_recorded(tmp_path):
    """With the real file behind it."""
    calls = Calls.open(tmp_path / "calls.db")
    model = Recorded(ScriptedChat(["答", "坏"]), calls=calls)
    used(model, CHECK)
    model.complete(CHECK).report("invalid")
    (total,) = calls.totals("doc_id")
    assert (total.usage, total.sent, total.failed) == (Usage(6, 2), 2, 1)
    calls.close()


@pytest.fixture
def calls(tmp_path):
    opened = Calls.open(tmp_path / "calls.db")
    yield opened
    opened.close()


def cached(script, calls, **parameters):
    model = ScriptedChat(script)
    return Cached(model, calls=calls, parameters=PARAMETERS | parameters), model


def key(request=REQUEST, model="m", **parameters):
    return request_key(request, model=model, parameters=PARAMETERS | parameters)


def test_the_same_request_is_paid_once(calls):
    """Over models, too, that share the file; the hit says that it is one."""
    model, scripted = cached(["答"], calls)
    first = used(model, REQUEST)
    again, other = cached([], calls)
    second = used(again, REQUEST)
    assert (len(scripted.requests), len(other.requests)) == (1, 0)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert replace(second, from_cache=False) == first


@pytest.mark.parametrize(
    "other",
    [
        {"messages": (Message("system", "读"), Message("user", "问？"))},
        {"messages": (Message("user", "读"), Message("user", "问"))},
        {"messages": (Message("system", "读问"), Message("user", ""))},
        {"schema": {"type": "object"}},
        {"schema_name": "facts"},
        {"max_tokens": 10},
    ],
)
def test_whatever_decides_the_answer_is_in_the_key(other):
    """Messages with their roles, schema, length."""
    assert key(replace(REQUEST, **other)) != key()


def test_model_and_parameters_are_in_the_key():
    """Another model or endpoint answers otherwise; the order of parameters does not matter."""
    keys = [key(), key(model="n"), key(base_url="http://b/v1"), key(json="object")]
    assert len(set(keys)) == 4
    turned = dict(reversed(PARAMETERS.items()))
    assert request_key(REQUEST, model="m", parameters=turned) == key()


def test_document_and_stage_are_not_in_the_key():
    """Equal text is paid once across documents."""
    assert key(replace(REQUEST, doc_id="d-2", stage="summarize")) == key()


def test_a_corrected_answer_is_kept_for_the_question_itself():
    """What was added after a bad answer is no part of the key."""
    added = (Message("assistant", "坏"), Message("user", "再答"))
    longer = replace(REQUEST, messages=(*REQUEST.messages, *added))
    assert key(replace(longer, added=2)) == key()
    assert key(longer) != key()


def test_an_answer_that_is_refused_is_not_kept(calls):
    """The next one asks anew."""
    model, scripted = cached(["坏", "好"], calls)
    model.complete(REQUEST).report("invalid")
    assert not calls.has_answer(model.key(REQUEST))
    assert used(model, REQUEST).text == "好"
    assert len(scripted.requests) == 2


def test_a_kept_answer_that_is_refused_now_is_replaced(calls):
    """What reads it has changed; the hit does not stand in the ledger."""
    model, _ = cached(["旧", "新"], calls)
    used(model, REQUEST)
    model.complete(REQUEST).report("invalid")
    assert calls.totals("stage") == []
    assert used(model, replace(REQUEST, fresh=True)).text == "新"
    assert calls.answer(model.key(REQUEST)).text == "新"
    assert key(replace(REQUEST, fresh=True)) == key()


CUT = Completion("半", "m", "length")


def asked(model, request=REQUEST):
    """Return the text of an answer, or why it cannot be used: it was cut, or repeats."""
    completion = model.complete(request)
    outcome = OK
    if completion.finish == "length":
        outcome = "truncated"
    elif completion.text == "圈圈":
        outcome = "repeating"
    completion.report(outcome)
    return completion.text if outcome == OK else outcome


@pytest.mark.parametrize(("bad", "kind"), [(CUT, "truncated"), ("圈圈", "repeating")])
def test_an_answer_that_was_cut_is_refused_again_without_a_call(calls, bad, kind):
    """Whoever reads the document again goes on to its halves at once."""
    model, scripted = cached([bad], calls)
    again, other = cached([], calls)
    assert [asked(model), asked(again)] == [kind, kind]
    assert (len(scripted.requests), len(other.requests)) == (1, 0)
    assert not calls.has_answer(model.key(REQUEST))
    assert again.complete(replace(REQUEST, fresh=True)).from_cache
    assert calls.totals("stage") == []


def test_an_answer_that_was_cut_is_asked_for_anew_where_something_changes(calls):
    """A longer answer is allowed."""
    model, _ = cached([CUT], calls)
    assert asked(model) == "truncated"
    longer, _ = cached(["整"], calls, max_tokens="8192")
    assert asked(longer) == "整"


def test_an_answer_that_was_cut_is_asked_for_anew_where_the_providers_limit_is_another(calls):
    """That is no part of the key of whole answers, which are found under any."""
    script = ScriptedChat([CUT, "整"])
    short = Cached(script, calls=calls, parameters=PARAMETERS, limit="4095")
    longer = Cached(script, calls=calls, parameters=PARAMETERS, limit="8192")
    assert asked(short) == asked(short) == "truncated"
    assert asked(longer) == asked(short) == "整"
    assert len(script.requests) == 2


def test_what_a_former_version_was_told_is_cut_is_not_asked_again(calls):
    """Its halves are kept as well: a folder of the former version pays nothing."""
    former = replace(REQUEST, schema_name="former")
    model, _ = cached([CUT], calls)
    assert asked(model, former) == "truncated"
    again, scripted = cached(["整"], calls)
    assert asked(again, replace(REQUEST, former=former)) == "truncated"
    assert scripted.requests == []
    assert asked(again, replace(REQUEST, former=former, anew=True)) == "整"


def test_an_answer_that_was_cut_is_asked_for_anew_where_the_request_says_so(calls):
    """The endpoint may have been at fault; a good answer takes the place of the cut one."""
    model, _ = cached([CUT, CUT, "整"], calls)
    again = replace(REQUEST, anew=True)
    assert [asked(model), asked(model, again), asked(model, again)] == [
        *("truncated", "truncated"),
        "整",
    ]
    assert asked(model) == "整"
    assert key(again) == key()


def test_a_question_that_was_cut_is_tried_again(calls):
    """Who asks it again hopes for more; it is one call."""
    question = replace(REQUEST, doc_id="")
    model, _ = cached([CUT, "整"], calls)
    assert [asked(model, question), asked(model, question)] == ["truncated", "整"]


def test_a_loop_is_corrected_though_it_is_kept(calls):
    """The second try is a request of its own, bad or good; its good answer is the question's."""
    added = (Message("assistant", "圈圈"), Message("user", "再答"))
    again = replace(REQUEST, messages=(*REQUEST.messages, *added), added=2)
    model, scripted = cached(["圈圈", "圈圈", "好"], calls)
    assert [asked(model), asked(model, again)] == ["repeating", "repeating"]
    assert [asked(model), asked(model, again)] == ["repeating", "repeating"]
    assert len(scripted.requests) == 2
    other = replace(again, messages=(*REQUEST.messages, *added, *added), added=4)
    assert asked(model, other) == "好"
    assert asked(model) == "好"
    assert len(scripted.requests) == 3


def test_a_hit_is_in_the_ledger_and_handed_on_whole(calls):
    """For the document that asked now."""
    model, _ = cached(["答案"], calls)
    used(model, REQUEST)
    assert used(model, replace(REQUEST, doc_id="d-2")).text == "答案"
    (total,) = calls.totals("doc_id")
    assert (total.group, total.sent, total.from_cache, total.usage.prompt) == ("d-2", 0, 1, 0)


def test_equal_requests_under_way_are_sent_once(calls):
    """The others wait, and get the kept answer."""
    entered, leave = threading.Event(), threading.Event()

    def slow(_):
        entered.set()
        assert leave.wait(60)
        return "答"

    model, scripted = cached(slow, calls)
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(used(model, REQUEST))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    assert entered.wait(60)
    leave.set()
    for thread in threads:
        thread.join()
    assert len(scripted.requests) == 1
    assert sorted(a.from_cache for a in answers) == [False] + [True] * 7


def test_who_waits_tries_for_itself_when_the_first_fails(calls):
    """Nobody gets another's error, and nobody waits for ever."""
    entered, leave = threading.Event(), threading.Event()

    def script(_):
        if entered.is_set():
            return "答"
        entered.set()
        assert leave.wait(60)
        raise TransientModelError("reset")

    model, scripted = cached(script, calls)
    outcomes = []

    def ask():
        try:
            outcomes.append(used(model, REQUEST).text)
        except TransientModelError:
            outcomes.append("failed")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    threads[0].start()
    assert entered.wait(60)
    for thread in threads[1:]:
        thread.start()
    leave.set()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["failed", "答", "答", "答"]
    assert len(scripted.requests) == 2


def test_different_requests_do_not_wait_for_each_other(calls):
    """Only equal ones are held back."""
    both = threading.Barrier(2, timeout=60)

    def script(_):
        both.wait()
        return "答"

    model, scripted = cached(script, calls)
    other = replace(REQUEST, max_tokens=5)
    thread = threading.Thread(target=model.complete, args=(other,))
    thread.start()
    model.complete(REQUEST)
    thread.join()
    assert len(scripted.requests) == 2


def test_an_equal_call_is_not_waited_for_beyond_the_deadline(calls):
    """A question does not wait for what somebody else has all the time for."""
    begun, going_on = threading.Event(), threading.Event()

    def slow(request):
        begun.set()
        going_on.wait(60)
        return "答"

    model = Cached(ScriptedChat(slow), calls=calls, parameters={})
    request = Request((Message("user", "问"),), "answer")
    first = threading.Thread(target=used, args=(model, request))
    first.start()
    begun.wait(60)
    with pytest.raises(BudgetExceededError, match="under way"):
        model.complete(replace(request, deadline=time.monotonic() + 0.02))
    going_on.set()
    first.join(60)
    assert model.complete(replace(request, deadline=0.0)).from_cache


def test_who_waits_tries_for_itself_when_the_answer_was_of_no_use(calls):
    """The others wait until it has been read, not only until it came."""
    model, scripted = cached(["坏", "好"], calls)
    first = model.complete(REQUEST)
    texts = []
    thread = threading.Thread(target=lambda: texts.append(used(model, REQUEST).text))
    thread.start()
    thread.join(0.05)
    assert (len(scripted.requests), texts) == (1, [])
    first.report("invalid")
    thread.join(5)
    assert (len(scripted.requests), texts) == (2, ["好"])


def test_an_answer_of_which_nothing_is_said_blocks_nobody(calls, monkeypatch):
    """For longer than it takes to read one."""
    monkeypatch.setattr(ledger, "_JUDGED_S", 0.01)
    model, scripted = cached(["一", "二"], calls)
    model.complete(REQUEST)
    assert used(model, REQUEST).text == "二"
    assert len(scripted.requests) == 2


def test_a_fresh_answer_that_another_caller_just_paid_is_taken(calls):
    """Both found the kept one of no use; one call is enough."""
    model, scripted = cached(["旧", "新"], calls)
    used(model, REQUEST)
    fresh = replace(REQUEST, fresh=True)
    first = model.complete(fresh)
    texts = []
    thread = threading.Thread(target=lambda: texts.append(used(model, fresh).text))
    thread.start()
    first.report(OK)
    thread.join(5)
    assert texts == ["新"]
    assert len(scripted.requests) == (2)


def test_a_streamed_answer_that_breaks_off_is_charged_with_what_came(calls):
    """Though nobody read along."""

    class Broken:
        name = "m"

        def complete(self, request, *, on_text=None):
            on_text("绿色工厂" * 10)
            raise BrokenOffError("gone")

    with pytest.raises(BrokenOffError):
        Recorded(Broken(), calls=calls).complete(replace(REQUEST, streamed=True))
    (total,) = calls.totals("stage")
    assert total.usage.completion > 0
