"""What is put around chat models: ledger, limits, retries, circuit breaker, cache, counters."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import monotonic
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import (
    BrokenOffError,
    BudgetExceededError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm.chat import OK, Completion, Message, Request, StageUsage, Usage
from kgrag.llm.ledger import Calls, request_key
from kgrag.llm.middleware import (
    Breaker,
    Cached,
    Circuit,
    Clock,
    Limited,
    Limits,
    Meter,
    Metered,
    Recorded,
    Retried,
    Window,
)
from kgrag.llm.tokens import estimate_request, estimate_tokens
from kgrag.testing.scripted import ScriptedChat

CHECK = Request((Message("user", "问甲乙"),), "verify", schema_name="cov", doc_id="d-1")
REQUEST = Request((Message("system", "读"), Message("user", "问")), "extract", doc_id="d-1")
LONG = Request((Message("user", "问" * 100),), "answer")
PROMPT = estimate_request(LONG)
PATIENT = Request((Message("user", "问"),), "answer")
QUESTION = replace(PATIENT, deadline=1e9)
PARAMETERS = {"base_url": "http://a/v1", "temperature": "0.0"}
DOWN = TransientModelError("busy")
BUSY = TransientModelError("busy (after 5 attempts)")
GONE = ModelUnavailableError("no connection (after 5 attempts)")
GONE.__cause__ = ModelUnreachableError("no connection")


class Time(Clock):
    """A clock that goes on when somebody sleeps, or is set by hand."""

    def __init__(self, seconds=0.0):
        super().__init__()
        self.seconds = seconds
        self.slept: list[Any] = []

    def now(self):
        """Return seconds."""
        return self.seconds

    def sleep(self, seconds):
        """Let seconds pass at once."""
        self.slept.append(seconds)
        self.seconds += seconds


class Line(NamedTuple):
    """A line of the ledger."""

    request: Request
    model: str
    usage: Usage
    seconds: float
    outcome: str


class Ledger(Calls):
    """Holds records instead of a file."""

    def __init__(self) -> None:
        self.records: list[Line] = []

    def record(self, request, model, **fields):
        """Take a record."""
        self.records.append(Line(request, model, **fields))
        return len(self.records)

    def amend(self, number, outcome):
        """Take what came of an answer."""
        self.records[number - 1] = self.records[number - 1]._replace(outcome=outcome)


def used(model, request):
    """Return an answer of which was said that it could be used."""
    completion = model.complete(request)
    completion.report(OK)
    return completion


def test_a_call_is_recorded_with_all_that_is_known(monkeypatch):
    """Who asked, about what, whom, what it took; a bad answer was paid for, too."""
    moments = iter((10.0, 12.5, 20.0, 21.0))
    monkeypatch.setattr("kgrag.llm.middleware.time.monotonic", lambda: next(moments))
    ledger = Ledger()
    answer = Completion("答", "m-2024", usage=Usage(7, 3, cached=2))
    model = Recorded(ScriptedChat([answer, answer], name="m"), calls=ledger)
    assert used(model, CHECK) == answer
    model.complete(CHECK).report("malformed")
    assert ledger.records == [
        Line(CHECK, "m", answer.usage, 2.5, "ok"),
        Line(CHECK, "m", answer.usage, 1.0, "malformed"),
    ]


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
    """It was sent: what was sent is paid for, and what was streamed, though nobody read along."""
    ledger = Ledger()

    class Breaking:
        name = "m"

        def complete(self, request, *, on_text=None):
            if on_text is not None:
                on_text("到2025年，")
                on_text("绿色建筑占比")
            raise error

    model = Recorded(Breaking(), calls=ledger)
    asked: list[Any] = [(CHECK, None), (CHECK, len), (replace(CHECK, streamed=True), None)]
    for request, on_text in asked:
        with pytest.raises(type(error)):
            model.complete(request, on_text=on_text)
    sent, answered = estimate_request(CHECK), estimate_tokens("到2025年，绿色建筑占比")
    assert [c.usage for c in ledger.records] == [
        Usage(sent, tokens, estimated=True) for tokens in (0, answered, answered)
    ]


def test_wait_lasts_until_enough_has_left_the_window():
    """Two uses of 40 in a limit of 100: 60 more must wait for the first to be a minute old."""
    budget = Window(100)
    budget.use(0.0, 40)
    budget.use(10.0, 40)
    assert budget.wait(20.0, 20) == 0.0
    assert budget.wait(20.0, 60) == 40.0
    assert budget.wait(20.0, 100) == 50.0


def test_wait_lets_more_than_the_limit_in_when_it_is_alone():
    """It would wait for ever otherwise."""
    budget = Window(100)
    assert budget.wait(0.0, 500) == 0.0
    budget.use(0.0, 500)
    assert budget.wait(1.0, 1) == 59.0
    assert budget.wait(60.0, 500) == 0.0


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(0.1, 40)), max_size=40))
def test_no_minute_holds_more_than_the_limit(uses):
    """Whoever waits as told never uses more than 100 in any 60 seconds."""
    budget, now, used = Window(100), 0.0, []
    for idle, amount in uses:
        now += idle
        while (wait := budget.wait(now, amount)) > 0:
            now += wait
        budget.use(now, amount)
        used.append((now, amount))
        assert sum(a for at, a in used if now - at < 60 - 1e-6) <= 100 + 1e-6


def test_sleep_ends_as_soon_as_the_clock_is_stopped():
    """Whoever waits hears that it is over; so does whoever would begin."""
    clock = Clock()
    clock.check()
    with ThreadPoolExecutor(1) as pool:
        sleeping = pool.submit(clock.sleep, 600)
        clock.stop()
        with pytest.raises(ModelUnavailableError, match="stopped"):
            sleeping.result(60)
    with pytest.raises(ModelUnavailableError, match="stopped"):
        clock.check()


def limited(script, **options):
    time = Time()
    limits = Limits(time, **{"concurrency": 8} | options)
    return Limited(ScriptedChat(script), limits=limits), limits, time


def refused(model):
    with pytest.raises(RateLimitError):
        model.complete(LONG)


def test_complete_really_has_as_many_calls_under_way_as_configured():
    """32 calls meet inside the model: none waits for another to end."""
    barrier = threading.Barrier(32, timeout=60)

    def meet(request):
        barrier.wait()
        return "好"

    model = Limited(ScriptedChat(meet), limits=Limits(Clock(), concurrency=32))
    with ThreadPoolExecutor(64) as pool:
        texts = [c.text for c in pool.map(model.complete, [LONG] * 64)]
    assert texts == ["好"] * 64


def test_a_refusal_halves_the_calls_at_a_time_and_successes_bring_them_back():
    """8, 4, 2, 1, 1 going down; going up, a window full of successes adds one."""
    model, limits, _ = limited([RateLimitError("slow")] * 4 + ["好"] * 40)
    seen = []
    for _ in range(4):
        refused(model)
        seen.append(limits.allowed)
    assert seen == [4, 2, 1, 1]
    up = []
    for _ in range(40):
        model.complete(LONG)
        up.append(limits.allowed)
    assert up[:7] == [2, 2, 3, 3, 3, 4, 4]
    assert up[27:] == [8] * 13


def test_refusals_without_a_time_make_pauses_that_double():
    """1, 2, 4 seconds; after a success, 1 again."""
    slow = RateLimitError("slow")
    model, _, time = limited([slow, slow, slow, "好", slow, "好"])
    for _ in range(3):
        refused(model)
    model.complete(LONG)
    refused(model)
    model.complete(LONG)
    assert time.slept == [1.0, 2.0, 4.0, 1.0]


def test_refusals_of_calls_that_were_under_way_together_halve_once():
    """One moment of being too fast is one piece of news, however many calls it hits."""
    limits = Limits(Clock(), concurrency=8)
    passes = [limits.enter(1) for _ in range(8)]
    for one in passes:
        limits.refused(one, None)
        limits.leave()
    assert limits.allowed == 4


def test_complete_keeps_to_the_calls_and_tokens_of_a_minute_as_they_really_were():
    """Estimated before; after the answer the endpoint's own count stands."""
    small = Completion("好", "m", usage=Usage(1, 1))
    model, _, time = limited([small] * 20, tokens_per_minute=2 * PROMPT)
    for _ in range(20):
        model.complete(LONG)
    assert time.slept == []
    model, _, time = limited(["好"] * 5, requests_per_minute=2)
    for _ in range(5):
        model.complete(LONG)
    assert time.slept == [60.0, 60.0]
    large = Completion("好", "m", usage=Usage(PROMPT, PROMPT))
    model, _, time = limited([large] * 2, tokens_per_minute=2 * PROMPT)
    for _ in range(2):
        model.complete(LONG)
    assert time.slept == [60.0]


def test_complete_gives_its_place_back_whatever_happens():
    """A call that fails must not take a place for ever."""
    errors = [TransientModelError("500"), ModelOutputError("bad", kind="empty"), OSError("bug")]
    model = Limited(ScriptedChat(errors), limits=Limits(Clock(), concurrency=1))
    for error in errors:
        with pytest.raises(type(error)):
            model.complete(LONG)


def test_a_place_is_not_waited_for_beyond_the_deadline():
    """Neither by the next in the row, nor by those behind."""
    limits = Limits(Clock(), concurrency=1)
    limits.enter(1)
    late = monotonic() + 0.05

    def enter(_):
        with pytest.raises(BudgetExceededError):
            limits.enter(1, deadline=late)

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(enter, range(3), timeout=60)) == [None] * 3
    limits.leave()
    limits.enter(1, deadline=monotonic() + 60)


def test_complete_does_not_start_over_when_the_reader_has_seen_a_part():
    """A second answer after the first half of another would read as one."""

    class HalfAnswer(ScriptedChat):
        def complete(self, request, *, on_text=None):
            on_text("半")
            return super().complete(request)

    inner, time = HalfAnswer([DOWN, "好"]), Time()
    seen: list[str] = []
    with pytest.raises(TransientModelError, match="the answer broke off"):
        Retried(inner, time).complete(LONG, on_text=seen.append)
    assert (len(inner.requests), seen, time.slept) == (1, ["半"], [])


@pytest.mark.parametrize(
    ("deadline", "tries", "slept"), [(101.6, 3, [0.5, 1.0]), (101.4, 2, [0.5])]
)
def test_complete_neither_waits_nor_tries_beyond_the_deadline(monkeypatch, deadline, tries, slept):
    """The second pause would end at 101.5; what happened is raised."""
    time, inner = Time(100.0), ScriptedChat([DOWN] * 5)
    monkeypatch.setattr("random.random", lambda: 0.5)
    model = Retried(inner, time)
    with pytest.raises(TransientModelError, match=f"busy .after {tries} attempts"):
        model.complete(replace(REQUEST, deadline=deadline))
    assert (len(inner.requests), time.slept) == (tries, slept)


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def circuit(time):
    return Circuit(time)


def breaker(circuit, script, trials=()):
    """Return a breaker with its model and the model of its trials."""
    inner, trial = ScriptedChat(script), ScriptedChat(trials)
    return Breaker(inner, trial=trial, circuit=circuit), inner, trial


def attempt(model, request=QUESTION):
    """Return what a call gives: its text, or the error's class."""
    try:
        return model.complete(request).text
    except ModelError as exc:
        return type(exc)


def test_a_question_fails_at_once_when_three_calls_in_a_row_failed(circuit, time):
    """What survived all retries three times will survive the next, too."""
    model, inner, _ = breaker(circuit, [BUSY, RateLimitError("slow"), BUSY, "好"])
    assert [attempt(model) for _ in range(3)] == [
        TransientModelError, RateLimitError, TransientModelError,
    ]  # fmt: skip
    with pytest.raises(ModelUnavailableError, match=r"3 calls in a row failed.*busy"):
        model.complete(QUESTION)
    assert (len(inner.requests), time.seconds) == (3, 0.0)


@pytest.mark.parametrize(
    "answer", ["好", ModelOutputError("bad", kind="invalid"), ModelError("too long")]
)
def test_complete_goes_on_when_the_endpoint_answers_between_failures(circuit, answer):
    """A bad answer, or a refusal of one request, shows that the endpoint is there."""
    model, _, _ = breaker(circuit, [BUSY, BUSY, answer, BUSY, BUSY, "好"])
    assert [attempt(model) for _ in range(6)][-1] == "好"


def test_trials_come_after_ten_seconds_then_thirty_then_sixty(circuit, time):
    """One call finds out whether the endpoint is back; the others do not wait for it."""
    model, inner, trial = breaker(circuit, [GONE, "好"], [BUSY, BUSY, BUSY, "回"])
    attempt(model)
    outcomes = []
    for now in (9.0, 10.0, 39.0, 40.0, 99.0, 100.0, 159.0, 160.0, 161.0):
        time.seconds = now
        outcomes.append((attempt(model), len(trial.requests)))
    gone, busy = ModelUnavailableError, TransientModelError
    assert outcomes == [
        (gone, 0), (busy, 1), (gone, 1), (busy, 2), (gone, 2), (busy, 3), (gone, 3),
        ("回", 4), ("好", 4),
    ]  # fmt: skip
    assert len(inner.requests) == 2


@pytest.mark.parametrize("error", [BUSY, GONE, RateLimitError("slow")])
def test_a_call_that_can_wait_outlasts_a_short_outage(circuit, time, error):
    """It failed, waits for a trial, and is answered by it."""
    model, _, trial = breaker(circuit, [error], [BUSY, "好"])
    assert model.complete(PATIENT).text == "好"
    assert time.seconds == 40.0
    assert len(trial.requests) == 2


def test_a_call_that_can_wait_fails_with_its_own_error_when_two_trials_failed(circuit, time):
    """And after that nobody waits: those who never tried hear why at once."""
    model, inner, trial = breaker(circuit, [GONE], [BUSY, BUSY])
    with pytest.raises(ModelUnavailableError) as caught:
        model.complete(PATIENT)
    assert caught.value is GONE
    assert time.seconds == 40.0
    for _ in range(100):
        with pytest.raises(ModelUnavailableError, match="no connection"):
            model.complete(PATIENT)
    assert (len(inner.requests), len(trial.requests), time.seconds) == (1, 2, 40.0)


def test_a_call_fails_by_itself_when_others_are_answered(circuit, time):
    """The endpoint is there: it is this request that cannot be answered."""

    def fail(request):
        time.seconds += 100
        circuit.succeeded(since=60.0)
        return BUSY

    model, inner, _ = breaker(circuit, fail)
    assert attempt(model, PATIENT) is TransientModelError
    assert (len(inner.requests), time.seconds) == (1, 100.0)


def test_a_call_does_not_wait_again_and_again(circuit, time):
    """However often others are answered in between."""

    def fail(request):
        time.seconds += 8
        return BUSY

    def refuse(request):
        circuit.succeeded(since=time.seconds - 9)
        return BUSY

    model, inner, _ = breaker(circuit, fail, refuse)
    assert attempt(model, PATIENT) is TransientModelError
    assert len(inner.requests) == 3


def test_no_call_is_made_where_none_is_wanted():
    clock = Clock()
    clock.stop()
    model, inner, _ = breaker(Circuit(clock), ["好"])
    with pytest.raises(ModelUnavailableError, match="stopped"):
        model.complete(PATIENT)
    with pytest.raises(ModelUnavailableError, match="stopped"):
        Limits(clock, concurrency=1).enter(1)
    assert inner.requests == []


def test_a_wait_for_an_endpoint_is_explained_once(caplog):
    """Whoever takes in a folder sees why nothing moves; a question that fails says so itself."""
    circuit = Circuit(Time(100.0))
    for _ in range(2):
        circuit.failed(TransientModelError("away"), since=0.0, can_wait=True)
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "away; waiting for the endpoint to come back" in caplog.text
    caplog.clear()
    other = Circuit(Time(100.0))
    for _ in range(4):
        other.failed(TransientModelError("away"), since=0.0)
    assert not caplog.records


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


def test_an_answer_that_is_refused_is_not_kept(calls):
    """The next one asks anew."""
    model, scripted = cached(["坏", "好"], calls)
    model.complete(REQUEST).report("invalid")
    assert not calls.has_answer(model.key(REQUEST))
    assert used(model, REQUEST).text == "好"
    assert len(scripted.requests) == 2


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
    """Whoever reads the document again goes on to its halves at once; a question is tried again."""
    model, scripted = cached([bad, bad, "整"], calls)
    again, other = cached([], calls)
    assert [asked(model), asked(again)] == [kind, kind]
    assert (len(scripted.requests), len(other.requests)) == (1, 0)
    assert not calls.has_answer(model.key(REQUEST))
    assert again.complete(replace(REQUEST, fresh=True)).from_cache
    assert calls.totals() == []
    question = replace(REQUEST, doc_id="")
    assert [asked(model, question), asked(model, question)] == [kind, "整"]


def test_an_answer_that_was_cut_is_asked_for_anew_where_the_providers_limit_is_another(calls):
    """That is no part of the key of whole answers, which are found under any."""
    script = ScriptedChat([CUT, "整"])
    short = Cached(script, calls=calls, parameters=PARAMETERS, limit="4095")
    longer = Cached(script, calls=calls, parameters=PARAMETERS, limit="8192")
    assert asked(short) == asked(short) == "truncated"
    assert asked(longer) == asked(short) == "整"
    assert len(script.requests) == 2


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
    """It was not sent, and takes no tokens."""
    model, _ = cached(["答案"], calls)
    used(model, REQUEST)
    assert used(model, replace(REQUEST, doc_id="d-2")).text == "答案"
    (total,) = calls.totals()
    assert (total.sent, total.from_cache, total.usage.prompt) == (0, 1, 0)


@pytest.mark.parametrize(
    ("script", "outcomes"),
    [
        (["答"], [(False, "答"), *[(True, "答")] * 3]),
        ([DOWN, "答"], [(False, ""), (False, "答"), *[(True, "答")] * 2]),
    ],
)
def test_equal_requests_under_way_are_sent_once(calls, script, outcomes):
    """The others wait, and get the kept answer; or try for themselves when the first fails."""
    entered, leave, left = threading.Event(), threading.Event(), list(script)

    def slow(_):
        entered.set()
        assert leave.wait(60)
        return left.pop(0)

    def ask(_):
        try:
            answer = used(model, REQUEST)
        except TransientModelError:
            return False, ""
        return answer.from_cache, answer.text

    model, scripted = cached(slow, calls)
    with ThreadPoolExecutor(4) as pool:
        asking = pool.map(ask, range(4))
        assert entered.wait(60)
        leave.set()
        assert sorted(asking) == sorted(outcomes)
    assert len(scripted.requests) == len(script)


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
        model.complete(replace(request, deadline=monotonic() + 0.02))
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
    monkeypatch.setattr("kgrag.llm.middleware._JUDGED_S", 0.01)
    model, scripted = cached(["一", "二"], calls)
    model.complete(REQUEST)
    assert used(model, REQUEST).text == "二"
    assert len(scripted.requests) == 2


PAID = Completion("一", "m", usage=Usage(10, 4, 3))


def test_meter_adds_up_by_stage():
    """Calls and tokens of every answer; what an earlier run paid adds no tokens."""
    meter = Meter()
    kept = Completion("二", "m", usage=Usage(7, 7), from_cache=True)
    script = ScriptedChat([PAID, PAID, kept])
    model = Metered(script, meter, stage="extract")
    unusable = Metered(ScriptedChat([PAID, kept]), meter, stage="answer")

    model.complete(CHECK).report(OK)
    Metered(script, meter, stage="summarize").complete(CHECK).report(OK)
    model.complete(CHECK).report(OK)
    for _ in range(2):  # what is paid counts though it is of no use; what is kept counts when used
        unusable.complete(CHECK).report("invalid")

    assert meter.spent == {
        "extract": StageUsage(1, 1, 10, 4, 3),
        "summarize": StageUsage(1, 0, 10, 4, 3),
        "answer": StageUsage(1, 0, 10, 4, 3),
    }
    assert model.name == "scripted"
