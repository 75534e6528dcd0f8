import pytest

from kgrag.llm.rates import PastCall, rates_of


def past(completion=10, chars=100, *, prompt=120, estimated=100, cached=0, used=True):
    return PastCall(prompt, completion, cached, estimated, chars, used)


def test_no_answer_gives_no_rates():
    """Neither without calls nor where none of them could be used."""
    assert rates_of([]) is None
    assert rates_of([past(used=False)]) is None


def test_few_calls_give_a_share_of_the_material():
    """10 + 30 tokens for 100 + 300 characters."""
    rates = rates_of([past(10, 100), past(30, 300)])
    assert (rates.completion_per_call, rates.completion_per_char) == (0.0, 0.1)
    assert rates.completion(1000) == 100.0


def test_many_calls_give_a_line():
    """20 tokens a call and one for 10 characters, exactly."""
    rates = rates_of([past(20 + n * 10, n * 100) for n in range(1, 11)])
    assert rates.completion_per_call == pytest.approx(20)
    assert rates.completion_per_char == pytest.approx(0.1)


def test_answers_that_do_not_grow_give_a_flat_line():
    """As long whatever is read."""
    rates = rates_of([past(50, n * 100) for n in range(1, 11)])
    assert rates.completion(10) == pytest.approx(50)
    assert rates.completion(5000) == pytest.approx(50)


def test_a_line_never_leads_below_zero():
    """Answers that grow faster than their material start at nothing; shrinking ones are flat."""
    fast = rates_of([past(max(0, n * 20 - 100), n * 100) for n in range(1, 11)])
    assert fast.completion_per_call == pytest.approx(0)
    assert fast.completion(550) == pytest.approx(sum(max(0, n * 20 - 100) for n in range(11)) / 10)
    shrinking = rates_of([past(200 - n * 10, n * 100) for n in range(1, 11)])
    assert shrinking.completion_per_char == 0


def test_material_of_one_length_gives_a_share():
    """Points above each other have no slope."""
    rates = rates_of([past(n, 100) for n in range(1, 11)])
    assert (rates.completion_per_call, rates.completion_per_char) == (0.0, 0.055)


def test_unusable_answers_are_paid_by_the_others():
    """Two used, one wasted: 1.5 attempts; 360 tokens sent for 200; 45 answered for 30."""
    rates = rates_of([past(10), past(20), past(15, used=False)])
    assert rates.calls == 3
    assert rates.attempts == 1.5
    assert rates.prompt == 1.8
    assert rates.completion(100) == pytest.approx(22.5)


def test_the_endpoints_cache_is_a_share_of_what_is_sent():
    """30 of 240."""
    assert rates_of([past(cached=30), past()]).cached == 0.125


def test_requests_without_material_take_the_mean():
    """Nothing to be in proportion to."""
    assert rates_of([past(10, 0), past(20, 0)]).completion(0) == 15.0
