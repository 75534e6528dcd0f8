"""The client of an endpoint."""

import openai
import pytest

from kgrag.endpoint.address import Place
from kgrag.endpoint.client import open_client

PLACE = Place("https://h.example/v1", "m", attempts=5)


def test_a_client_takes_nothing_of_openais_environment(monkeypatch):
    """Neither its key nor its organization goes to other endpoints."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("OPENAI_ORG_ID", "o")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://other")
    with open_client(PLACE, timeout_s=60) as client:
        assert (client.api_key, client.organization, client.project) == ("none", None, None)
        assert str(client.base_url) == "https://h.example/v1/"
        assert isinstance(client.timeout, openai.Timeout)
        assert (client.max_retries, client.timeout.connect, client.timeout.read) == (0, 10, 60)


def test_a_client_finds_no_connection_sooner_than_no_answer():
    """What holds it up is told apart."""
    with open_client(PLACE, timeout_s=5) as client:
        assert isinstance(client.timeout, openai.Timeout)
        assert (client.timeout.connect, client.timeout.read) == (4, 5)


@pytest.mark.parametrize(
    ("url", "is_proxied"), [("http://localhost:8/v1", False), (PLACE.url, True)]
)
def test_a_proxy_for_the_world_does_not_lead_to_this_machine(monkeypatch, url, is_proxied):
    """Whatever the environment says."""
    seen = {}
    real = openai.DefaultHttpxClient

    def make(**options):
        seen.update(options)
        return real(**options)

    monkeypatch.setattr(openai, "DefaultHttpxClient", make)
    open_client(Place(url, "m"), timeout_s=5).close()
    assert seen["trust_env"] is is_proxied
