"""Any endpoint that speaks the OpenAI protocol, as a chat model: one try, no retries."""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from kgrag.errors import ModelError, TransientModelError
from kgrag.llm.chat import Accept, Completion, OnText, Request, Usage
from kgrag.llm.dialect import Dialect, JsonMode
from kgrag.llm.openai_errors import Place, mapped, said_by
from kgrag.llm.protocol import Piece, read_answer, read_event, shown
from kgrag.llm.thoughts import Thoughts, without_thoughts
from kgrag.llm.tokens import estimate_request, estimate_tokens

if TYPE_CHECKING:
    import openai

_log = logging.getLogger(__name__)
_PATH = "/chat/completions"
_LOCAL = frozenset(["localhost", "127.0.0.1", "::1"])
_CONNECT_S = 10.0  # to wait for a connection, at most
_FALLBACKS = 6  # a dialect has five things that can be left out
_T = TypeVar("_T")


class OpenAIChat:
    """A model behind an OpenAI-compatible endpoint.

    Fields that the endpoint refuses (a schema, a temperature, ...) are left out from then on.
    Whatever goes wrong is raised as an error of ours, and no text of it holds the key.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        api_key_env: str = "",
        timeout_s: float = 120.0,
        max_tokens: int = 4000,
        temperature: float = 0.0,
        json_mode: JsonMode = "schema",
    ) -> None:
        """Keep the settings; nothing is sent, and no client built, before the first call.

        Args:
            base_url: The endpoint, without `/chat/completions`.
            model: Name of the model.
            api_key: Empty for an endpoint that wants none.
            api_key_env: The variable that the key came from, for errors.
            timeout_s: Seconds to wait for an answer, or the next piece of a streamed one.
            max_tokens: Longest answer where a request sets none.
            temperature: 0 for the most likely answer.
            json_mode: How JSON is asked for, to begin with.
        """
        self._place = Place(base_url, model, api_key, api_key_env)
        self._timeout_s = timeout_s
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._dialect = Dialect(json=json_mode)
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None

    def __repr__(self) -> str:
        return f"OpenAIChat({self._place.model!r} at {self._place.url!r})"

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._place.model

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def complete(
        self, request: Request, *, accept: Accept | None = None, on_text: OnText | None = None
    ) -> Completion:
        """Return the model's answer; see `ChatModel.complete`.

        Raises:
            RateLimitError: If the endpoint says that it is asked too often.
            TransientModelError: If the call failed in a way that may pass.
            ModelUnavailableError: If it refuses the key or model, or the account is empty.
            ModelOutputError: If its filter withheld the answer, or `accept` refuses it.
            ModelError: If it refuses the request, e.g. for its length.
        """
        try:
            piece = self._whole(request) if on_text is None else self._streamed(request, on_text)
        except Exception as exc:
            error = mapped(exc, self._place)
            if error is None:
                raise
            cause = None if error is exc or self._place.tells(exc) else exc
        else:
            completion = self._completion(request, piece)
            if accept is not None:
                accept(completion)
            return completion
        # Out here, what was caught does not follow the error as its context: it may tell the key.
        raise error from cause

    def _completion(self, request: Request, piece: Piece) -> Completion:
        usage = piece.usage
        if usage is None:
            answered = estimate_tokens(piece.thought + piece.text)
            usage = Usage(estimate_request(request), answered, estimated=True)
        text = without_thoughts(piece.text)
        return Completion(text, self.name, piece.finish or "stop", usage)

    def _whole(self, request: Request) -> Piece:
        client = self._opened()
        body = self._sent(
            request,
            lambda body: client.post(_PATH, cast_to=object, body=body),
            stream=False,
        )
        return read_answer(json.loads(body) if isinstance(body, str) else body)

    def _streamed(self, request: Request, on_text: OnText) -> Piece:
        from openai import Stream

        client = self._opened()
        with self._sent(
            request,
            lambda body: client.post(
                _PATH, cast_to=object, body=body, stream=True, stream_cls=Stream[object]
            ),
            stream=True,
        ) as stream:
            if "application/json" in stream.response.headers.get("content-type", ""):
                # It does not stream, and answers whole.
                piece = read_answer(json.loads(stream.response.read()))
                on_text(without_thoughts(piece.text))
                return piece
            return _gathered(stream, on_text)

    def _sent(
        self, request: Request, post: Callable[[Mapping[str, object]], _T], *, stream: bool
    ) -> _T:
        """Return what posting the request gives, left simpler where the endpoint refuses it."""
        import openai

        for _ in range(_FALLBACKS):
            dialect = self._dialect
            body = dialect.body(
                request,
                model=self.name,
                max_tokens=self._max_tokens,
                temperature=self._temperature,
                stream=stream,
            )
            try:
                return post(body)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as exc:
                simpler = dialect.without(said_by(exc))
                if simpler is None:
                    raise
                self._settle(dialect, simpler, self._place.hide(said_by(exc)))
        raise ModelError(f"{self!r} refuses the request in its simplest form, too")

    def _settle(self, refused: Dialect, simpler: Dialect, said: str) -> None:
        with self._lock:
            if self._dialect != refused:
                return  # another thread did it
            self._dialect = simpler
        _log.warning("%r refuses %s (%s); goes on with %s", self, refused, said, simpler)

    def _opened(self) -> "openai.OpenAI":
        import openai

        with self._lock:
            if self._client is None:
                url = self._place.url
                timeout = openai.Timeout(self._timeout_s, connect=min(self._timeout_s, _CONNECT_S))
                self._client = openai.OpenAI(
                    base_url=url,
                    api_key=self._place.key or "none",  # empty would take OPENAI_API_KEY
                    max_retries=0,
                    timeout=timeout,
                    http_client=openai.DefaultHttpxClient(
                        timeout=timeout,
                        # A proxy for the world does not lead to this machine.
                        trust_env=urlsplit(url).hostname not in _LOCAL,
                    ),
                )
                # Read from the environment for OpenAI's own; no business of other endpoints.
                self._client.organization = self._client.project = None
            return self._client


def _gathered(events: Iterable[object], on_text: OnText) -> Piece:
    """Return a streamed answer whole, having shown it piece by piece.

    Raises:
        TransientModelError: If the stream ends before the answer does.
    """
    thoughts, whole = Thoughts(), Piece()
    for event in events:
        piece = read_event(event)
        if new := thoughts.feed(piece.text):
            on_text(new)
        whole = Piece(
            whole.text + piece.text,
            whole.thought + piece.thought,
            piece.finish or whole.finish,
            piece.usage or whole.usage,
        )
    if rest := thoughts.end():
        on_text(rest)
    if whole.finish is None:
        raise TransientModelError(f"the stream ended before the answer did: {shown(whole.text)}")
    return whole
