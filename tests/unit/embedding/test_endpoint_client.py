"""What the client is told about trying again; requests are in `test_endpoint.py`."""

from dataclasses import dataclass, field

import pytest

from kgrag.embedding.endpoint_client import advise, open_client
from kgrag.openai_endpoint import Place

PLACE = Place("https://h.example/v1", "m", attempts=5)


@dataclass
class Answer:
    """A response of the HTTP library, as far as it matters."""

    status_code: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def read(self):
        """Return the body."""
        return self.body.encode()


@pytest.mark.parametrize(
    ("response", "headers"),
    [
        (Answer(200, "too long"), {}),
        (Answer(500, "oops"), {}),
        (Answer(500, "input is too large to process"), {"x-should-retry": "false"}),
        (Answer(429, "insufficient_quota"), {"x-should-retry": "false"}),
        (Answer(429, "slow down"), {"retry-after": "20"}),
        (Answer(429, "", {"retry-after": "3"}), {"retry-after": "3"}),
        (Answer(429, "", {"retry-after-ms": "3"}), {"retry-after-ms": "3"}),
        (Answer(429, "", {"retry-after": "soon"}), {"retry-after": "20"}),
        (Answer(429, "", {"retry-after": "120"}), {"retry-after": "120"}),
        (
            Answer(429, "", {"retry-after": "86400"}),
            {"retry-after": "86400", "x-should-retry": "false"},
        ),
    ],
)
def test_advise_says_when_another_try_can_help(response, headers):
    """Not with an empty account or too long a text; after a while where none was named."""
    advise(PLACE, response)
    assert response.headers == headers


def test_advise_tells_of_a_pause_and_of_no_other(caplog):
    """One that is too long is not waited for: the error says what was asked."""
    advise(PLACE, Answer(429, "", {"retry-after": "86400"}))
    assert caplog.text == ""
    advise(PLACE, Answer(429, "slow down"))
    assert "asked too often (429); pause in seconds: 20" in caplog.text


def test_the_tries_outlast_the_minute_that_limits_are_counted_by():
    """With the default of five attempts, there are four pauses."""
    response = Answer(429, "slow down")
    advise(PLACE, response)
    assert 4 * float(response.headers["retry-after"]) > 60


def test_a_client_takes_nothing_of_openais_environment(monkeypatch):
    """Neither its key nor its organization goes to other endpoints."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("OPENAI_ORG_ID", "o")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://other")
    with open_client(PLACE, timeout_s=60) as client:
        assert (client.api_key, client.organization, client.project) == ("none", None, None)
        assert str(client.base_url) == "https://h.example/v1/"
        assert (client.max_retries, client.timeout.connect, client.timeout.read) == (4, 10, 60)
