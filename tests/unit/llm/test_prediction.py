from dataclasses import replace

import pytest

from kgrag.llm.cached import request_key
from kgrag.llm.calls import CallRecord, Calls
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.llm.fence import fence
from kgrag.llm.prediction import cost, predict
from kgrag.llm.tokens import estimate_request

PARAMETERS = {"base_url": "http://a/v1"}


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
    one = request("碳" * 1000)
    result = predicted([one], calls)
    assert (result.calls, result.cached_calls, result.basis) == (1, 0, 0)
    assert result.prompt_tokens == estimate_request(one)
    assert result.completion_tokens == 720


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
