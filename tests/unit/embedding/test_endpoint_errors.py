"""What endpoints say, told apart; requests that really fail are in `test_endpoint.py`."""

import pytest

from kgrag.embedding.endpoint_errors import is_money, is_size, mapped
from kgrag.openai_endpoint import Place


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (413, "Request Entity Too Large"),
        (413, "input batch size 473 > maximum allowed batch size 64"),
        (422, "batch size 33 > maximum allowed batch size 32"),
        (400, "Value error, batch size is invalid, it should not be larger than 10.: input"),
        (400, "Each input list can contain at most 512 items."),
        (400, "This model's maximum context length is 8192 tokens, however you requested 9000"),
        (400, "Requested 400000 tokens, max 300000 tokens per request"),
        (400, "Input validation error: `inputs` must have less than 512 tokens. Given: 785"),
        (400, "the input length exceeds the context length"),
        (400, "Range of input length should be [1, 8192]"),
        (500, "input is too large to process. increase the physical batch size"),
    ],
)
def test_is_size_knows_what_providers_say(status, said):
    """Of too many texts, and of too long ones."""
    assert is_size(status, said)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (429, "Rate limit reached: max tokens per minute"),
        (401, "token too long"),
        (404, "model not found"),
        (400, "unknown field dimensions"),
        (503, "too many requests"),
        (500, "internal error"),
    ],
)
def test_is_size_leaves_other_faults_alone(status, said):
    """To send less would not help."""
    assert not is_size(status, said)


def test_is_money_looks_at_words_where_the_status_has_other_meanings():
    """402 has none; 429 means to wait, and 403 a wrong key."""
    assert is_money(402, "")
    assert is_money(403, "AUTHZ_INSUFFICIENT_BALANCE: Insufficient account balance")
    assert is_money(429, "insufficient_quota")
    assert is_money(400, "Arrearage: your account is in arrears")
    assert not is_money(429, "slow down")
    assert not is_money(500, "insufficient_quota")


def test_mapped_leaves_other_errors_alone():
    """An error in the code is not the endpoint's."""
    assert mapped(ZeroDivisionError(), Place("u", "m")) is None
