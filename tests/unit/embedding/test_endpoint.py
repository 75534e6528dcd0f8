"""The encoder behind an endpoint, against a server on this machine."""

import gc
import logging
import socket
import threading
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np
import pytest

from kgrag.config import EmbeddingConfig
from kgrag.embedding.endpoint import EndpointEmbedder, open_endpoint
from kgrag.errors import (
    ConfigError,
    ModelError,
    ModelMismatchError,
    ModelOutputError,
    ModelUnavailableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm import endpoint as posting
from kgrag.llm.endpoint import retrying
from kgrag.testing.reply import Reply
from kgrag.testing.server import FakeServer
from tests.fixtures.vectors_server import (
    AT_ONCE,
    DIMENSION,
    answer,
    endpoint_of,
    in_turn,
    raw,
    vector,
)

TEXTS = [f"第{n}条" for n in range(10)]
SECRET = "sk-geheim.0123456789abcdef"


@pytest.fixture
def encoder():
    """Return a maker of encoders with short limits."""

    def make(server, *, timeout_s=60.0, attempts=3, concurrency=4, **options):
        return EndpointEmbedder(
            endpoint_of(server, **options),
            timeout_s=timeout_s,
            attempts=attempts,
            concurrency=concurrency,
        )

    return make


def expected(texts, dimension=DIMENSION):
    return np.array([vector(text, dimension) for text in texts])


def sent(server):
    return [request.body["input"] for request in server.requests]


def test_embed_gives_unit_vectors_in_the_order_of_the_texts(encoder):
    """Rows are normalised here, whatever the endpoint gives."""
    with FakeServer(answer) as server:
        vectors = encoder(server).embed(TEXTS, "passage")
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-6)
    (request,) = server.requests
    assert request.body == {"model": "m", "input": TEXTS, "encoding_format": "float"}


def test_embed_sorts_an_answer_by_its_index(encoder):
    """The order in which vectors are sent means nothing."""
    with FakeServer(lambda body: answer(body, order=lambda items: items[::-1])) as server:
        vectors = encoder(server).embed(TEXTS, "passage")
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-6)


def test_embed_keeps_the_order_where_later_batches_are_answered_first(encoder):
    """Several requests are under way at the same time, and the first takes longest."""
    all_there = threading.Barrier(5)

    def reply(body):
        all_there.wait(timeout=60)  # so that five are under way
        return answer(body)

    with FakeServer(reply) as server:
        embedder = encoder(server, batch_texts=2, concurrency=5, dimension=DIMENSION)
        vectors = embedder.embed(TEXTS, "passage")
        assert server.most == 5
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-6)


def test_embed_has_no_more_requests_under_way_than_allowed(encoder):
    """`concurrency` bounds them."""
    with FakeServer(answer, latency_s=0.01) as server:
        encoder(server, batch_texts=1, concurrency=2).embed(TEXTS, "passage")
        assert server.most <= 2


def test_embed_sends_equal_texts_once_and_empty_ones_never(encoder):
    """Empty texts have the zero vector; endpoints refuse them."""
    with FakeServer(answer) as server:
        vectors = encoder(server).embed(["甲", "", " \n", "甲", "乙"], "query")
    assert sent(server) == [["甲", "乙"]]
    assert not vectors[1:3].any()
    np.testing.assert_allclose(vectors[[0, 3, 4]], expected("甲甲乙"), atol=1e-6)


def test_embed_of_nothing_gives_no_rows(encoder):
    """With the right width, too."""
    with FakeServer(answer) as server:
        assert encoder(server).embed([], "query").shape == (0, DIMENSION)


def test_embed_keeps_batches_to_texts_and_tokens(encoder):
    """Of ten texts at most three are sent at once, and of long ones fewer."""
    with FakeServer(answer) as server:
        encoder(server, batch_texts=3, concurrency=1).embed(TEXTS, "passage")
        encoder(server, batch_tokens=30, concurrency=1).embed(["长" * 20, "长" * 21], "passage")
    assert [len(batch) for batch in sent(server)] == [3, 3, 3, 1, 1, 1]


def test_embed_puts_the_instruction_of_the_task_before_each_text(encoder):
    """`query` has its own; the field `task` is sent where the provider knows it."""
    instructions = {"query": "问：", "passage": ""}
    tasks = {"query": "retrieval.query", "passage": "retrieval.passage"}
    with FakeServer(answer) as server:
        embedder = encoder(server, instructions=instructions, tasks=tasks)
        embedder.embed(["甲"], "query")
        embedder.embed(["甲"], "passage")
    assert sent(server) == [["问：甲"], ["甲"]]
    assert [r.body["task"] for r in server.requests] == ["retrieval.query", "retrieval.passage"]


def test_embed_replaces_half_characters(encoder):
    """Broken files bring lone surrogates, which no JSON can carry."""
    with FakeServer(answer) as server:
        encoder(server).embed(["甲\ud800乙"], "passage")
    assert sent(server) == [["甲?乙"]]


def test_dimension_is_asked_of_the_endpoint_where_it_can_cut(encoder):
    """The field `dimensions` goes with each request."""
    with FakeServer(answer) as server:
        embedder = encoder(server, dimension=4, asks_dimension=True)
        vectors = embedder.embed(["甲"], "query")
    assert server.requests[0].body["dimensions"] == 4
    np.testing.assert_allclose(vectors, expected("甲", 4), atol=1e-6)


def test_dimension_is_cut_here_where_the_endpoint_cannot(encoder):
    """The first numbers of the vector, made one of unit length again."""
    with FakeServer(answer) as server:
        embedder = encoder(server, dimension=4)
        vectors = embedder.embed(["甲"], "query")
    assert "dimensions" not in server.requests[0].body
    cut = vector("甲")[:4]
    np.testing.assert_allclose(vectors[0], cut / np.linalg.norm(cut), atol=1e-6)


def test_dimension_needs_no_request_where_the_settings_say_it(encoder):
    """Nor does the name."""
    with FakeServer(answer) as server:
        embedder = encoder(server, dimension=4)
        assert (embedder.dimension, embedder.name[:13]) == (4, "endpoint-m-4-")
        assert not server.requests


def test_dimension_is_asked_once_and_only_when_wanted(encoder):
    """Commands that need no encoder make no call."""
    with FakeServer(answer) as server:
        embedder = encoder(server)
        assert embedder.settings == {"model": "m", "query": "", "passage": ""}
        assert not server.requests
        assert embedder.dimension == DIMENSION
        assert embedder.name.startswith(f"endpoint-m-{DIMENSION}-")
        assert sent(server) == [["维"]]


def test_name_changes_with_what_decides_vectors_only(encoder):
    """Instructions and tasks are part of it; host, key and batches are not."""
    instructed = {"query": "问：", "passage": ""}
    with FakeServer(answer) as one, FakeServer(answer) as other:
        name = encoder(one).name
        assert encoder(other, batch_texts=1).name == name
        assert encoder(one, instructions=instructed).name != name
        assert encoder(one, tasks=instructed).name != name
        assert encoder(one, dimension=4).name != name


def test_settings_tell_instructions_and_tasks(encoder):
    """For people, so in words."""
    with FakeServer(answer) as server:
        embedder = encoder(
            server,
            dimension=4,
            instructions={"query": "问：", "passage": ""},
            tasks={"query": "retrieval.query", "passage": "retrieval.passage"},
        )
    assert embedder.settings == {
        "model": "m",
        "dimension": "4",
        "query": "task retrieval.query, instruction 问：",
        "passage": "task retrieval.passage",
    }


def test_a_dimension_that_changes_is_refused(encoder):
    """In the middle of a run, both are named, and the remedy."""
    with FakeServer(in_turn()) as server:
        embedder = encoder(server)
        embedder.embed(["甲"], "passage")
        server._reply = lambda body: answer(body, dimension=6)
        with pytest.raises(ModelMismatchError, match=r"of 6 numbers, 8 were before.*kgrag reembed"):
            embedder.embed(["乙"], "passage")


def test_a_dimension_below_the_asked_one_is_refused(encoder):
    """A vector cannot be made longer."""
    with (
        FakeServer(answer) as server,
        pytest.raises(ModelMismatchError, match=r"of 8 numbers, 99 were asked for.*dimension"),
    ):
        encoder(server, dimension=99).embed(["甲"], "passage")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (413, "input batch size 8 > maximum allowed batch size 3"),
        (400, "Value error, batch size is invalid, it should not be larger than 3.: input"),
        (422, "batch size 8 > maximum allowed batch size 3"),
        (500, "input is too large to process. increase the physical batch size"),
    ],
)
def test_a_batch_that_is_too_large_is_halved(encoder, status, said):
    """Until it fits; it is not tried again as it is."""

    def reply(body):
        return answer(body) if len(body["input"]) <= 3 else Reply(said, status=status)

    with FakeServer(reply) as server:
        vectors = encoder(server).embed(TEXTS[:8], "passage")
    assert [len(batch) for batch in sent(server)] == [8, 4, 2, 2, 4, 2, 2]
    np.testing.assert_allclose(vectors, expected(TEXTS[:8]), atol=1e-6)


def test_a_text_that_is_too_long_is_cut_to_its_first_half(encoder):
    """And again, until it fits; its neighbours are sent whole."""

    def reply(body):
        if any(len(text) > 30 for text in body["input"]):
            return Reply("maximum context length is 30 tokens", status=400)
        return answer(body)

    with FakeServer(reply) as server:
        vectors = encoder(server).embed(["甲" * 100, "乙"], "passage")
    assert sent(server)[-2:] == [["甲" * 25], ["乙"]]
    np.testing.assert_allclose(vectors, expected(["甲" * 25, "乙"]), atol=1e-6)


def test_a_text_that_never_fits_is_an_error(encoder):
    """Shortened to a few characters, it is not the text's fault."""
    with (
        FakeServer(lambda body: Reply("too long", status=400)) as server,
        pytest.raises(ModelOutputError, match=r"too long.*batch_texts"),
    ):
        encoder(server).embed(["甲" * 100], "passage")
    assert [len(batch[0]) for batch in sent(server)] == [100, 50, 25, 12]


def test_a_limit_of_requests_is_waited_out(encoder, caplog):
    """As long as Retry-After says, and the log tells of it."""
    limited = Reply("slow down", status=429, headers={"retry-after": "0.03"})
    with FakeServer(in_turn(limited)) as server:
        vectors = encoder(server).embed(["甲"], "passage")
    first, second = server.requests
    assert second.at - first.at >= 0.03
    assert (
        "m at " + server.base_url + " is asked too often (429); pause in seconds: 0.03"
        in caplog.text
    )
    np.testing.assert_allclose(vectors, expected("甲"), atol=1e-6)


def test_a_limit_that_names_no_time_is_waited_out_for_more_than_a_minute(encoder, monkeypatch):
    """Limits are counted by the minute: the four pauses of five attempts last longer."""
    slept: list[Any] = []
    patient = partial(retrying, sleep=slept.append)
    monkeypatch.setattr(posting, "retrying", patient)
    with FakeServer(in_turn(*[Reply("slow down", status=429)] * 4)) as server:
        encoder(server, attempts=5).embed(["甲"], "passage")
    assert slept == [20.0] * 4


def test_a_limit_that_lasts_is_an_error(encoder):
    """After all attempts, with what to do."""
    limited = Reply("slow down", status=429, headers=AT_ONCE)
    with (
        FakeServer(lambda body: limited) as server,
        pytest.raises(
            RateLimitError, match=r"slow down; asked too often.*: lower embedding\.concurrency"
        ),
    ):
        encoder(server).embed(["甲"], "passage")
    assert len(server.requests) == 3


def test_a_limit_that_asks_for_too_long_is_told_at_once(encoder):
    """Nobody waits for an hour without knowing."""
    limited = Reply("daily quota", status=429, headers={"retry-after": "3600"})
    with (
        FakeServer(lambda body: limited) as server,
        pytest.raises(RateLimitError, match=r"it asks to wait 3600 s"),
    ):
        encoder(server).embed(["甲"], "passage")
    assert len(server.requests) == 1


def test_a_fault_of_the_server_is_tried_again(encoder):
    """What passes leaves no trace."""
    broken = Reply("oops", status=500, headers=AT_ONCE)
    with FakeServer(in_turn(broken, broken)) as server:
        vectors = encoder(server).embed(["甲"], "passage")
    np.testing.assert_allclose(vectors, expected("甲"), atol=1e-6)


def test_a_fault_that_lasts_is_an_error(encoder):
    """It says how often it was tried."""
    broken = Reply("oops", status=503, headers=AT_ONCE)
    with (
        FakeServer(lambda body: broken) as server,
        pytest.raises(TransientModelError, match=r"answers 503: oops \(after 3 attempts\)"),
    ):
        encoder(server).embed(["甲"], "passage")


def test_an_empty_account_is_not_tried_again(encoder):
    """Some say it with 429, which else means to wait."""
    empty = Reply("insufficient_quota: check your plan", status=429)
    with (
        FakeServer(lambda body: empty) as server,
        pytest.raises(ModelUnavailableError, match="nothing left: top it up"),
    ):
        encoder(server).embed(["甲"], "passage")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, ModelUnavailableError), (429, RateLimitError), (503, TransientModelError)],
)
def test_a_search_whose_question_is_not_encoded_is_told_what_needs_no_encoder(
    encoder, status, kind
):
    """Taking in cannot go on by words alone, and is not told so."""
    fault = Reply("no", status=status, headers=AT_ONCE)
    with FakeServer(lambda body: fault) as server:
        for task, ends in (("query", True), ("passage", False)):
            with pytest.raises(kind, match=f"answers {status}: no") as told:
                encoder(server, attempts=1).embed(["甲"], task)
            assert type(told.value) is kind
            assert (
                str(told.value).endswith("\nSearches that need no encoder: --system bm25.") is ends
            )


def test_an_endpoint_that_is_down_is_told(encoder):
    """With the setting to check."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    class Down:
        base_url = f"http://127.0.0.1:{port}/v1"

    with pytest.raises(
        ModelUnavailableError, match=r"no connection.*\(after 1 attempt\).*base_url"
    ):
        encoder(Down, attempts=1).embed(["甲"], "passage")


def test_an_answer_that_does_not_come_in_time_is_an_error(encoder):
    """With the setting that allows more."""
    with (
        FakeServer(answer, latency_s=5) as server,
        pytest.raises(TransientModelError, match=r"no answer in time.*embedding\.timeout_s"),
    ):
        encoder(server, timeout_s=0.05, attempts=1).embed(["甲"], "passage")


@pytest.mark.parametrize("drop", ["before", "inside"])
def test_a_connection_that_breaks_off_is_an_error(encoder, drop):
    """Before the answer or in the middle of it."""
    with (
        FakeServer(lambda body: Reply("好", drop=drop)) as server,
        pytest.raises(TransientModelError, match="the connection broke off"),
    ):
        encoder(server, attempts=1).embed(["甲"], "passage")


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (Reply("bad model", status=404), ModelUnavailableError, "there is no .*/embeddings"),
        (
            Reply("The model `m` does not exist", status=404),
            ModelUnavailableError,
            r"check embedding\.model",
        ),
        (
            Reply("The model does not support Embeddings API", status=400),
            ModelUnavailableError,
            "must be an encoder",
        ),
        (Reply("odd", status=400), ModelError, r"answers 400: odd.*\[embedding\]"),
        (raw('{"data": [{"ind'), ModelOutputError, "not whole JSON"),
        (raw("<html>login</html>"), ModelOutputError, r"not whole JSON \(Expecting value: line 1"),
        (raw({"error": "no such thing"}), ModelOutputError, "no vectors, but .*no such thing"),
        (raw({"data": []}), ModelOutputError, "no vectors"),
        (
            raw({"data": [{"index": i, "embedding": [1, 2]} for i in range(2)]}),
            ModelOutputError,
            "2 vectors for 1 texts",
        ),
        (raw('{"data": [{"embedding": [1, NaN]}]}'), ModelOutputError, "NaN"),
        (raw({"data": [{"embedding": [0, 0]}]}), ModelOutputError, "zeros for '甲'"),
    ],
)
def test_a_useless_answer_is_an_error_that_names_the_endpoint(encoder, reply, error, said):
    """What, where, and what to do."""
    with FakeServer(lambda body: reply) as server:
        with pytest.raises(error, match=said) as caught:
            encoder(server).embed(["甲"], "passage")
        assert f"m at {server.base_url}" in str(caught.value)


def test_a_wrong_key_is_told_without_showing_it(encoder, monkeypatch, caplog):
    """Endpoints repeat the key that they refuse; no error, cause, log or repr of ours does."""
    monkeypatch.setenv("MY_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    with FakeServer(answer, api_key="another") as server:
        embedder = encoder(server, api_key_env="MY_KEY")
        with pytest.raises(ModelUnavailableError, match=r"variable MY_KEY") as caught:
            embedder.embed(["甲"], "passage")
    error = caught.value
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    told = [str(error), repr(error.__cause__), repr(error.__context__), caplog.text, repr(embedder),
            repr(embedder._post.place)]  # fmt: skip
    assert not any(SECRET in text or SECRET.split(".")[1] in text for text in told)


def test_a_key_that_is_not_set_is_told_at_the_first_request(encoder, monkeypatch):
    """And not before: commands that need no encoder need no key."""
    monkeypatch.delenv("MY_KEY", raising=False)
    with FakeServer(answer) as server:
        embedder = encoder(server, api_key_env="MY_KEY")
        with pytest.raises(ModelUnavailableError, match="set the environment variable MY_KEY"):
            embedder.embed(["甲"], "passage")
        assert not server.requests


def test_embed_batches_gives_what_is_paid_before_the_error(encoder, monkeypatch):
    """A request that fails does not take along one that is under way, but ends those to come."""
    ended, all_ended, cancel = [], threading.Event(), Future.cancel

    def counted(future):
        ended.append(cancel(future))
        if len(ended) == len(TEXTS):
            all_ended.set()
        return ended[-1]

    def reply(body):
        if "第0条" in body["input"]:
            return Reply("odd", status=400)
        all_ended.wait(60)
        return answer(body)

    monkeypatch.setattr(Future, "cancel", counted)

    seen: list[Any] = []
    with FakeServer(reply) as server:
        batches = encoder(server, batch_texts=1, concurrency=2).embed_batches(TEXTS, "passage")
        with pytest.raises(ModelError, match="odd"):
            seen.extend(places[0] for places, _ in batches)
        assert len(server.requests) <= 3  # the refused one, and one for each of two threads
    assert 1 in seen
    assert len(seen) == len(server.requests) - 1


def test_embed_batches_ends_what_is_to_come_when_nobody_reads_on(encoder):
    """An interrupted run sends nothing more."""
    with FakeServer(answer) as server:
        batches = encoder(server, batch_texts=1, concurrency=1).embed_batches(TEXTS, "passage")
        next(batches)
        batches.close()
        assert len(server.requests) < len(TEXTS)


def test_an_encoder_that_is_gone_leaves_no_connection(encoder):
    """Nobody has to close it."""
    with FakeServer(answer) as server:
        embedder = encoder(server)
        embedder.embed(["甲"], "passage")
        client = embedder._post._client
        assert not client.is_closed()
        del embedder
        gc.collect()
        assert client.is_closed()


def test_open_endpoint_takes_the_settings():
    """Nothing is sent, so that no server and no key are needed."""
    embedder = open_endpoint(EmbeddingConfig(provider="jina", dimension=256, languages="zh,en"))
    assert (embedder.dimension, embedder.languages) == (256, "zh,en")
    assert embedder.name.startswith("endpoint-jina-embeddings-v3-256-")
    assert repr(embedder) == "EndpointEmbedder('jina-embeddings-v3' at 'https://api.jina.ai/v1')"


def test_open_endpoint_refuses_settings_that_lack_something():
    """At once, not at the first request."""
    with pytest.raises(ConfigError, match="no model is named"):
        open_endpoint(EmbeddingConfig(provider="vllm"))
