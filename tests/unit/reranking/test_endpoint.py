"""The cross-encoder behind an endpoint, against a server on this machine."""

import json
import logging
import re
from dataclasses import replace

import pytest

from kgrag.config import RerankConfig
from kgrag.errors import (
    ConfigError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    TransientModelError,
)
from kgrag.reranking.endpoint import PROVIDERS, EndpointCrossEncoder
from kgrag.testing.reply import Reply
from kgrag.testing.server import FakeServer
from tests.fixtures.rerankers import answering

PASSAGES = ["甲", "乙乙", "丙丙丙"]
SECRET = "sk-geheim.0123456789abcdef"
AT_ONCE = {"retry-after-ms": "1"}


def by_length(question, passage):
    """Return a score that the test can reckon."""
    return len(passage) / 10 - len(question)


def opened(server, **options):
    """Return the encoder at a server, with short limits."""
    settings = RerankConfig(base_url=server.base_url, model="m", timeout_s=5)
    return EndpointCrossEncoder.from_config(replace(settings, **options))


def failing(reply):
    """Return what a question ends with when the endpoint gives that reply."""
    with FakeServer(lambda body: reply) as server, pytest.raises(ModelError) as raised:
        opened(server).scores("问", PASSAGES)
    return raised.value


def results(*pairs):
    return Reply(
        raw=json.dumps({"results": [{"index": i, "relevance_score": s} for i, s in pairs]})
    )


@pytest.mark.parametrize("order", [list, lambda items: items[::-1]])
def test_scores_come_in_the_order_of_the_passages(order):
    """Endpoints send the best first; the index tells whose a score is."""
    with FakeServer(answering(by_length, order=order)) as server:
        scores = opened(server).scores("问", PASSAGES)
    assert scores == pytest.approx([-0.9, -0.8, -0.7])
    (request,) = server.requests
    assert request.path == "/v1/rerank"
    assert request.body == {"model": "m", "query": "问", "documents": PASSAGES, "top_n": 3}


def test_tei_is_asked_in_its_own_form():
    """Its path is not below /v1, and it cuts what is too long only when told to."""
    with FakeServer(answering(by_length)) as server:
        scores = opened(server, provider="tei", model="").scores("问", PASSAGES)
    assert scores == pytest.approx([-0.9, -0.8, -0.7])
    (request,) = server.requests
    assert request.path == "/rerank"
    assert request.body == {"query": "问", "texts": PASSAGES, "truncate": True}


def test_the_address_may_be_copied_with_its_path():
    with FakeServer(answering(by_length)) as server:
        opened(server, base_url=f"{server.base_url}/rerank").scores("问", PASSAGES)
    assert server.requests[0].path == "/v1/rerank"


def test_half_characters_are_replaced():
    """Broken files bring lone surrogates, which no JSON can carry."""
    with FakeServer(answering(by_length)) as server:
        opened(server).scores("问\ud800", ["甲\udfff"])
    body = server.requests[0].body
    assert (body["query"], body["documents"]) == ("问?", ["甲?"])


def test_what_is_too_much_at_once_is_sent_in_halves():
    """TEI takes 32 texts by default and says so with 413."""
    score = answering(by_length)

    def reply(body):
        is_much = len(body["texts"]) > 2
        return Reply("batch size 3 > maximum allowed batch size 2", status=413) if is_much else (
            score(body)
        )  # fmt: skip

    with FakeServer(reply) as server:
        scores = opened(server, provider="tei").scores("问", PASSAGES)
    assert scores == pytest.approx([-0.9, -0.8, -0.7])
    assert [r.body["texts"] for r in server.requests] == [PASSAGES, PASSAGES[:1], PASSAGES[1:]]


def test_one_passage_that_is_too_long_is_an_error():
    """It cannot be halved."""
    told = Reply("input is too long", status=413)
    with FakeServer(lambda body: told) as server, pytest.raises(ModelOutputError):
        opened(server).scores("问", ["甲"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (results((0, 0.1), (1, 0.2)), r"2 scores, of \[0, 1\], for 3 passages"),
        (results((0, 0.1), (1, 0.2), (1, 0.3)), r"3 scores, of \[0, 1\], for 3 passages"),
        (results((1, 0.1), (2, 0.2), (3, 0.3)), r"of \[1, 2, 3\], for 3"),
        (results((0, 0.1), (1, 0.2), (-1, 0.3)), r"of \[-1, 0, 1\]"),
        (results((0, 0.1), (1, 0.2), (2, 0.3), (2, 0.4)), "4 scores"),
        (results((0, 0.1), (1, float("nan")), (2, 0.3)), "a score that is none"),
        (results((0, 0.1), (1, float("-inf")), (2, 0.3)), "a score that is none"),
        (results((0, 0.1), (1, 10**400), (2, 0.3)), "a score that is none"),
        (results((0, "0.1"), (1, 0.2), (2, 0.3)), "without index or score"),
        (results((0.0, 0.1), (1, 0.2), (2, 0.3)), "without index or score"),
        (Reply(raw='{"results": [null]}'), "without index or score"),
        (Reply(raw='{"results": null}'), "no scores, but"),
        (Reply(raw='{"data": [{"embedding": [1.0], "index": 0}]}'), "no scores, but"),
        (Reply(raw="3"), "no scores, but '3'"),
        (Reply("好"), "no scores, but"),  # a chat model's answer
        (Reply(raw="<html>"), "not whole JSON"),
        (Reply(raw="[1", headers={"content-type": "text/plain"}), "no scores, but"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error_of_ours(reply, text):
    """Also one that is nearly right: whose a score is must not be guessed."""
    error = failing(reply)
    assert isinstance(error, ModelOutputError)
    assert re.search(text, str(error))
    assert str(error).startswith("m at http://127.0.0.1")


@pytest.mark.parametrize(
    ("reply", "kind", "n_requests"),
    [
        (Reply("no", status=401), ModelUnavailableError, 1),
        (Reply("no such path", status=404), ModelUnavailableError, 1),
        (Reply("not a reranker", status=424), ModelUnavailableError, 1),
        (Reply("oops", status=500, headers=AT_ONCE), TransientModelError, 2),
        (Reply("slow", status=429, headers=AT_ONCE), TransientModelError, 2),
        (Reply("slow", status=429, headers={"retry-after": "30"}), TransientModelError, 1),
        (Reply(drop="before", headers=AT_ONCE), TransientModelError, 2),
    ],
)
def test_a_fault_is_tried_again_only_where_it_may_pass_in_time(reply, kind, n_requests):
    """A question waits for nobody who asks for more than `rerank.timeout_s`."""
    with FakeServer(lambda body: reply) as server, pytest.raises(kind):
        opened(server).scores("问", PASSAGES)
    assert len(server.requests) == n_requests


def test_a_server_that_is_away_is_told_with_its_address():
    with FakeServer() as server:
        address = server.base_url
    encoder = EndpointCrossEncoder.from_config(RerankConfig(base_url=address, model="m"))
    with pytest.raises(ModelUnavailableError, match=r"no connection .*rerank\.base_url right\?"):
        encoder.scores("问", PASSAGES)


def test_an_answer_that_does_not_come_ends_in_time():
    """After `rerank.timeout_s`, and no second try begins then."""
    with FakeServer(lambda body: Reply(hang_s=30)) as server:
        encoder = opened(server, timeout_s=0.2, attempts=5)
        with pytest.raises(TransientModelError, match=r"raise rerank\.timeout_s"):
            encoder.scores("问", PASSAGES)
        assert len(server.requests) == 1


def test_the_key_comes_from_the_environment_and_no_error_shows_it(monkeypatch, caplog):
    """The server says what it was sent, as some do."""
    caplog.set_level(logging.DEBUG, "kgrag")
    monkeypatch.setenv("SOME_KEY", SECRET)
    with FakeServer(answering(by_length), api_key=SECRET) as server:
        assert len(opened(server, api_key_env="SOME_KEY").scores("问", PASSAGES)) == 3
    with FakeServer(answering(by_length), api_key="another") as server:
        encoder = opened(server, api_key_env="SOME_KEY")
        with pytest.raises(ModelUnavailableError, match="SOME_KEY") as raised:
            encoder.scores("问", PASSAGES)
    for text in (str(raised.value), repr(encoder), caplog.text):
        assert "geheim" not in text
    monkeypatch.delenv("SOME_KEY")
    with pytest.raises(ModelUnavailableError, match="set the environment variable SOME_KEY"):
        opened(server, api_key_env="SOME_KEY").scores("问", PASSAGES)


def test_providers_fill_in_address_model_and_key():
    """What is their own goes before."""
    place = EndpointCrossEncoder.from_config(RerankConfig(provider="siliconflow"))._post.place
    assert (place.url, place.model) == ("https://api.siliconflow.cn/v1", "BAAI/bge-reranker-v2-m3")
    assert place.key_env == "SILICONFLOW_API_KEY"
    own = RerankConfig(provider="cohere", model="mine", base_url="https://proxy.example/v2")
    place = EndpointCrossEncoder.from_config(own)._post.place
    assert (place.url, place.model) == ("https://proxy.example/v2", "mine")
    assert place.key_env == "COHERE_API_KEY"
    assert set(PROVIDERS) == {"jina", "siliconflow", "cohere", "vllm", "tei"}


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (RerankConfig(base_url="nowhere", model="m"), "rerank.base_url must be a web address"),
        (RerankConfig(provider="vllm"), "set rerank.model"),
        (RerankConfig(provider="jina", api_key_env="sk-1"), "rerank.api_key_env must be the name"),
    ],
)
def test_wrong_settings_are_named(config, text):
    """Before anything is sent."""
    with pytest.raises(ConfigError, match=text):
        EndpointCrossEncoder.from_config(config)
