"""What requests will take, learned from those of the past."""

from dataclasses import replace

import pytest

from kgrag.ingestion.requests import SCHEMA_NAMES
from kgrag.llm.calls import CallRecord, Calls, PastCall
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.llm.ledger import request_key
from kgrag.llm.prediction import Rates, cost, predict, rates_of
from kgrag.llm.prompts import fence
from kgrag.llm.tokens import estimate_request, estimate_tokens

PARAMETERS = {"base_url": "http://a/v1"}


def past(completion=10, chars=100, *, prompt=120, estimated=100, cached=0, used=True):
    return PastCall(prompt, completion, cached, estimated, chars, used)


def rates(*calls: PastCall) -> Rates:
    """Return the rates of calls that have some."""
    found = rates_of(calls)
    assert found
    return found


def test_no_answer_gives_no_rates():
    """Neither without calls nor where none of them could be used."""
    assert rates_of([]) is None
    assert rates_of([past(used=False)]) is None


def test_few_calls_give_a_share_of_the_material():
    """10 + 30 tokens for 100 + 300 characters."""
    learned = rates(past(10, 100), past(30, 300))
    assert (learned.completion_per_call, learned.completion_per_char) == (0.0, 0.1)
    assert learned.completion(1000) == 100.0


def test_many_calls_give_a_line():
    """20 tokens a call and one for 10 characters, exactly."""
    learned = rates(*(past(20 + n * 10, n * 100) for n in range(1, 11)))
    assert learned.completion_per_call == pytest.approx(20)
    assert learned.completion_per_char == pytest.approx(0.1)


def test_answers_that_do_not_grow_give_a_flat_line():
    """As long whatever is read."""
    learned = rates(*(past(50, n * 100) for n in range(1, 11)))
    assert learned.completion(10) == pytest.approx(50)
    assert learned.completion(5000) == pytest.approx(50)


def test_a_line_never_leads_below_zero():
    """Answers that grow faster than their material start at nothing; shrinking ones are flat."""
    fast = rates(*(past(max(0, n * 20 - 100), n * 100) for n in range(1, 11)))
    assert fast.completion_per_call == pytest.approx(0)
    assert fast.completion(550) == pytest.approx(sum(max(0, n * 20 - 100) for n in range(11)) / 10)
    shrinking = rates(*(past(200 - n * 10, n * 100) for n in range(1, 11)))
    assert shrinking.completion_per_char == 0


def test_material_of_one_length_gives_a_share():
    """Points above each other have no slope."""
    learned = rates(*(past(n, 100) for n in range(1, 11)))
    assert (learned.completion_per_call, learned.completion_per_char) == (0.0, 0.055)


def test_unusable_answers_are_paid_by_the_others():
    """Two used, one wasted: 1.5 attempts; 360 tokens sent for 200; 45 answered for 30."""
    learned = rates(past(10), past(20), past(15, used=False))
    assert learned.calls == 3
    assert learned.attempts == 1.5
    assert learned.prompt == 1.8
    assert learned.completion(100) == pytest.approx(22.5)


def test_the_endpoints_cache_is_a_share_of_what_is_sent():
    """30 of 240."""
    assert rates(past(cached=30), past()).cached == 0.125


def test_requests_without_material_take_the_mean():
    """Nothing to be in proportion to."""
    assert rates(past(10, 0), past(20, 0)).completion(0) == 15.0


@pytest.fixture
def calls(tmp_path):
    opened = Calls.open(tmp_path / "calls.db")
    yield opened
    opened.close()


def request(text, **options):
    message = Message("user", "读出事实：\n" + fence(text, label="text"))
    return Request((message,), "extract", **{"schema_name": "facts"} | options)


def predicted(requests, calls):
    return predict(requests, model="m", parameters=PARAMETERS, calls=calls)


def test_without_history_the_estimate_stands_in(calls):
    """And the basis says so: no call."""
    one = request("碳" * 1000, schema_name="knowledge_rows")
    result = predicted([one], calls)
    assert (result.calls, result.cached_calls, result.basis) == (1, 0, 0)
    assert result.prompt_tokens == estimate_request(one)
    assert result.completion_tokens == 30 + round(2.1 * estimate_tokens("碳" * 1000))


@pytest.mark.parametrize("name", SCHEMA_NAMES.values())
def test_without_history_an_answer_grows_with_the_tokens_of_the_text(calls, name):
    """Whatever its language: 1,000 Latin characters state as much as 380 Chinese ones."""
    short, latin = request("碳" * 380, schema_name=name), request("a" * 1000, schema_name=name)
    long = request("碳" * 3800, schema_name=name)
    one, other, more = (predicted([r], calls).completion_tokens for r in (short, latin, long))
    assert one == other
    assert 8 * one < more < 10 * one


def test_a_schema_without_default_takes_a_short_answer(calls):
    """Whatever it reads."""
    one = request("碳" * 5000, schema_name="cov")
    assert predicted([one], calls).completion_tokens == 250


def test_equal_requests_are_counted_once(calls):
    """The document that they are about makes no difference."""
    requests = [request("甲", doc_id="d-1"), request("甲", doc_id="d-2"), request("乙")]
    assert predicted(requests, calls).calls == 2


def test_an_answer_that_is_kept_costs_nothing(calls):
    """It is counted apart."""
    kept = request("甲" * 500)
    calls.keep(request_key(kept, model="m", parameters=PARAMETERS), Completion("答", "m"))
    result = predicted([kept, request("乙")], calls)
    assert (result.calls, result.cached_calls) == (1, 1)
    assert result.prompt_tokens == estimate_request(request("乙"))


def test_history_corrects_the_estimates(calls):
    """1.25 tokens sent for one estimated, half of them cached; one answered for 2 characters."""
    past = CallRecord("extract", "d", "m", "facts", Usage(1000, 500, 500), 1000, 800, 1, "ok", 1)
    for _ in range(5):
        calls.record(past)
    one = request("碳" * 100)
    result = predicted([one], calls)
    assert result.basis == 5
    assert result.prompt_tokens == round(1.25 * estimate_request(one))
    assert result.cached_tokens == round(0.625 * estimate_request(one))
    assert result.completion_tokens == 50


def test_requests_that_had_to_be_repeated_count_as_calls(calls):
    """Every other answer was unusable: 10 requests take 15 calls with 2 used of 3."""
    past = CallRecord("extract", "d", "m", "facts", Usage(100, 50), 100, 100, 1, "ok", 1)
    for outcome in ("ok", "ok", "malformed"):
        calls.record(replace(past, outcome=outcome))
    assert predicted([request(str(i)) for i in range(10)], calls).calls == 15


def test_the_basis_is_that_of_the_kind_with_least_history(calls):
    """One kind without any makes it 0."""
    past = CallRecord("extract", "d", "m", "facts", Usage(100, 50), 100, 100, 1, "ok", 1)
    calls.record(past)
    assert predicted([request("甲")], calls).basis == 1
    assert predicted([request("甲"), request("乙", schema_name="summaries")], calls).basis == 0


def test_nothing_to_ask_takes_nothing(calls):
    """Also where all is kept."""
    result = predicted([], calls)
    assert (result.calls, result.usage) == (0, Usage(0, 0, 0, estimated=True))


def test_cost_prices_fresh_cached_and_answered_tokens():
    """1,000 fresh at 2, 500 cached at 1, 2,000 answered at 4, per million."""
    usage = Usage(1500, 2000, cached=500)
    assert cost(usage, price_in=2, price_cached=1, price_out=4) == pytest.approx(0.0105)
