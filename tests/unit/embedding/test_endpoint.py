"""Encoders behind endpoints: requests, answers, providers."""

import logging
import threading
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from kgrag.config import EmbeddingConfig
from kgrag.embedding.endpoint import (
    PROVIDERS,
    Endpoint,
    EndpointEmbedder,
    endpoint_for,
    in_batches,
    read_vectors,
)
from kgrag.errors import (
    ModelError,
    ModelMismatchError,
    ModelOutputError,
    ModelUnavailableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm import endpoint as posting
from kgrag.llm.address import Place
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
        config = EmbeddingConfig(timeout_s=timeout_s, attempts=attempts, concurrency=concurrency)
        return EndpointEmbedder(endpoint_of(server, **options), config)

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


def test_embed_sends_equal_texts_once_and_empty_ones_never(encoder):
    """Empty texts have the zero vector; endpoints refuse them."""
    with FakeServer(answer) as server:
        vectors = encoder(server).embed(["甲", "", " \n", "甲", "乙"], "query")
    assert sent(server) == [["甲", "乙"]]
    assert not vectors[1:3].any()
    np.testing.assert_allclose(vectors[[0, 3, 4]], expected("甲甲乙"), atol=1e-6)


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


def test_dimension_is_asked_of_the_endpoint_where_it_can_cut(encoder):
    """The field `dimensions` goes with each request."""
    with FakeServer(answer) as server:
        embedder = encoder(server, dimension=4, dimensions=True)
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


def test_a_limit_that_names_no_time_is_waited_out_for_more_than_a_minute(encoder, monkeypatch):
    """Limits are counted by the minute: the four pauses of five attempts last longer."""
    slept: list[Any] = []
    patient = partial(retrying, sleep=slept.append)
    monkeypatch.setattr(posting, "retrying", patient)
    with FakeServer(in_turn(*[Reply("slow down", status=429)] * 4)) as server:
        encoder(server, attempts=5).embed(["甲"], "passage")
    assert slept == [20.0] * 4


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
                str(told.value).endswith(" (Searches that need no encoder: --system bm25.)") is ends
            )


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (Reply("bad model", status=404), ModelUnavailableError, "there is no .*/embeddings"),
        (Reply("odd", status=400), ModelError, r"answers 400: odd.*\[embedding\]"),
        (raw('{"data": [{"ind'), ModelOutputError, "not whole JSON"),
        (raw({"data": []}), ModelOutputError, "no vectors"),
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


PLACE = Place("http://h/v1", "m", key="sk-1234567890")


def data(*embeddings, **more):
    return {"data": [{"index": i, "embedding": e} | more for i, e in enumerate(embeddings)]}


def test_in_batches_parts_by_texts_and_tokens():
    """A text that is too large by itself stands alone; empty ones stand nowhere."""
    texts = ["长" * 8, "长" * 8, "", "长" * 50, "短", "短", "短"]
    assert in_batches(texts, most_texts=2, most_tokens=20) == [[0, 1], [3], [4, 5], [6]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("<html>sk-1234567890", r"no vectors, but '<html>\*\*\*'"),
        (None, "no vectors, but 'None'"),
        ({"object": "chat.completion"}, "no vectors, but .*chat.completion"),
        (data([1.0]), "1 vectors for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1]}] * 2}, r"numbers the vectors of 2 texts \[0\]"),
        ({"data": [{"index": i + 1, "embedding": [1]} for i in range(2)]}, r"\[1, 2\]"),
        ({"data": [{"index": 0, "embedding": [1]}, 7]}, r"an entry without a vector \(7\)"),
        (data([1.0], [1.0, 2.0]), "a row that is no vector"),
        (data("aGVsbG8=", "aGVsbG8="), r"a row that is no vector \(aGVsbG8=\)"),
        (data([], []), r"vectors of shape \(2, 0\)"),
        (data(1.0, 2.0), r"vectors of shape \(2,\)"),
        (data([1.0], [None]), "NaN"),
        (data([1.0], [float("inf")]), "NaN"),
    ],
)
def test_read_vectors_refuses_what_is_no_answer(answer, said):
    """With the endpoint's name, without the key."""
    with pytest.raises(ModelOutputError, match=said) as caught:
        read_vectors(answer, 2, PLACE)
    assert "m at http://h/v1" in str(caught.value)
    assert "sk-1234567890" not in str(caught.value)


BGE = "为这个句子生成表示以用于检索相关文章："


def test_endpoint_for_fills_in_the_provider():
    """Address, model, key variable and batches."""
    endpoint = endpoint_for(EmbeddingConfig(provider="dashscope"))
    assert endpoint.place.url == "https://dashscope.aliyuncs.com/compatible-mode/v1"
    assert endpoint.place.model == "text-embedding-v4"
    assert endpoint.place.key_env == "DASHSCOPE_API_KEY"
    assert endpoint.provider.batch_texts == 10
    assert not any(endpoint.tasks.values())


def test_endpoint_for_prefers_the_settings():
    """Whatever is set replaces what the provider has."""
    config = EmbeddingConfig(
        provider="openai", base_url="http://h/v1/embeddings/", model="x", api_key_env="KEY",
        batch_texts=3, batch_tokens=4, query_instruction="q", passage_instruction="p",
    )  # fmt: skip
    endpoint = endpoint_for(config)
    assert endpoint == Endpoint(
        place=Place("http://h/v1", "x", key_env="KEY"),
        provider=replace(PROVIDERS["openai"], batch_texts=3, batch_tokens=4),
        instructions={"query": "q", "passage": "p"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "model", "tasks"),
    [
        ("jina", "", ["retrieval.query", "retrieval.passage"]),
        ("jina", "jina-embeddings-v4", ["retrieval.query", "retrieval.passage"]),
        ("jina", "jina-embeddings-v2-base-zh", ["", ""]),
        ("vllm", "jina-embeddings-v3", ["", ""]),
    ],
)
def test_endpoint_for_has_tasks_with_jinas_models_since_v3(provider, model, tasks):
    """Others would refuse the field."""
    endpoint = endpoint_for(EmbeddingConfig(provider=provider, model=model))
    assert [endpoint.tasks["query"], endpoint.tasks["passage"]] == tasks


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("BAAI/bge-large-zh-v1.5", BGE, ""),
        ("BAAI/bge-m3", "", ""),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "", ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
    ],
)
def test_endpoint_for_knows_what_models_want_before_a_text(model, query, passage):
    endpoint = endpoint_for(EmbeddingConfig(provider="vllm", model=model))
    assert endpoint.instructions == {"query": query, "passage": passage}
