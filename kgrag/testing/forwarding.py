"""Replies of a local server that replays recordings, or that forwards to a model and records it."""

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from kgrag.errors import ModelError, RateLimitError
from kgrag.llm.address import Place
from kgrag.llm.chat import ChatModel, Message, Request
from kgrag.llm.client import OpenAIChat
from kgrag.llm.replay import Player, Recorder
from kgrag.testing.reply import Body, Reply

_TIMEOUT_S = 600.0  # for an answer that is not streamed on


def playing(path: str | Path) -> Callable[[Body], Reply]:
    """Return a reply function for `FakeServer` that replays a file of `Recorder`.

    A prompt that was not recorded is refused with status 400.

    Raises:
        EvaluationError: As `Player.read`.
    """
    player = Player.read(path)
    return lambda body: _reply(player, body, refusal=400)


def recording(path: str | Path, *, base_url: str, api_key: str = "") -> Callable[[Body], Reply]:
    """Return a reply function for `FakeServer` that forwards to an endpoint, and records it.

    So whole commands are recorded: they use the server as their endpoint.
    """
    lock = threading.Lock()

    def reply(body: Body) -> Reply:
        chat = OpenAIChat(
            Place(base_url, str(body.get("model", "")), api_key),
            timeout_s=_TIMEOUT_S,
            temperature=_number(body, "temperature"),
            json_mode="schema" if _request(body).schema else "object",
        )
        with closing(chat):
            return _reply(Recorder(chat, path, lock=lock), body, refusal=502)

    return reply


def _reply(model: ChatModel, body: Body, *, refusal: int) -> Reply:
    """Return a model's answer to a request; an error with a status, that of its own for limits."""
    try:
        completion = model.complete(_request(body))
    except ModelError as exc:
        return Reply(str(exc), status=429 if isinstance(exc, RateLimitError) else refusal)
    ended = {"length": "length", "filter": "content_filter"}.get(completion.finish, "stop")
    return Reply(completion.text, finish_reason=ended, usage=completion.usage)


def _request(body: Body) -> Request:
    """Parse a request: its messages, the form of its answer, its limit."""
    most = int(_number(body, "max_tokens") or _number(body, "max_completion_tokens"))
    sent = body.get("messages")
    rows = [m for m in sent if isinstance(m, Mapping)] if isinstance(sent, list) else []
    messages = [Message(m.get("role", "user"), str(m.get("content", ""))) for m in rows]
    asked = Request(tuple(messages), "answer", max_tokens=most or None, streamed=True)
    match body.get("response_format"):
        case {"json_schema": {"name": str(name), "schema": Mapping() as schema}}:
            return replace(asked, schema=schema, schema_name=name)
        case {"type": "json_object"}:
            return replace(asked, schema={})
    return asked


def _number(body: Body, name: str) -> float:
    value = body.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
