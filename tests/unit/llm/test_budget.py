"""Amounts in a sliding minute."""

from hypothesis import given
from hypothesis import strategies as st

from kgrag.llm.budget import Budget


def test_wait_is_none_when_there_is_no_limit():
    """0 stands for no limit."""
    budget = Budget(0)
    budget.use(0.0, 1e9)
    assert budget.wait(0.0, 1e9) == 0.0


def test_wait_lasts_until_enough_has_left_the_window():
    """Two uses of 40 in a limit of 100: 60 more must wait for the first to be a minute old."""
    budget = Budget(100)
    budget.use(0.0, 40)
    budget.use(10.0, 40)
    assert budget.wait(20.0, 20) == 0.0
    assert budget.wait(20.0, 60) == 40.0
    assert budget.wait(20.0, 100) == 50.0


def test_wait_lets_more_than_the_limit_in_when_it_is_alone():
    """It would wait for ever otherwise."""
    budget = Budget(100)
    assert budget.wait(0.0, 500) == 0.0
    budget.use(0.0, 500)
    assert budget.wait(1.0, 1) == 59.0
    assert budget.wait(60.0, 500) == 0.0


def test_wait_counts_the_corrected_amount():
    """What was estimated before the call is corrected after it."""
    budget = Budget(100)
    entry = budget.use(0.0, 100)
    entry.amount = 30
    assert budget.wait(1.0, 70) == 0.0
    assert budget.wait(1.0, 71) == 59.0


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(0.1, 40)), max_size=40))
def test_no_minute_holds_more_than_the_limit(uses):
    """Whoever waits as told never uses more than 100 in any 60 seconds."""
    budget, now, used = Budget(100), 0.0, []
    for idle, amount in uses:
        now += idle
        while (wait := budget.wait(now, amount)) > 0:
            now += wait
        budget.use(now, amount)
        used.append((now, amount))
        assert sum(a for at, a in used if now - at < 60 - 1e-6) <= 100 + 1e-6
