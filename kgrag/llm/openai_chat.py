"""Any endpoint that speaks the OpenAI protocol, as a chat model: one try, no retries."""

import json
import logging
import math
import threading
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from kgrag.choices import JsonMode
from kgrag.endpoint.address import CHAT, Place
from kgrag.endpoint.client import open_client
from kgrag.endpoint.errors import mapped
from kgrag.endpoint.faults import said_by
from kgrag.errors import BrokenOffError, BudgetExceededError, ModelError, TransientModelError
from kgrag.llm.chat import Completion, OnText, Request, Usage
from kgrag.llm.protocol import Dialect, Piece, read_answer, read_event, room_told
from kgrag.llm.streaming import gather, in_time, without_key, without_thoughts
from kgrag.llm.tokens import estimate_request, estimate_tokens

if TYPE_CHECKING:
    import openai

_log = logging.getLogger(__name__)
_TIMES_STREAMED = 5  # the time for a piece, at least, is what a whole stream may take
_SLOWEST = 4  # tokens a second: a model that is slower is of no use
_CHARS_PER_TOKEN = 8  # at most, for any language: a longer answer does not keep to its limit
_MOST_BYTES = 64_000_000  # of an answer that is not streamed
_NO_TIME = "the time for this question is over (verify.timeout_s)"
_MORE_TIME = "llm.timeout_s allows more"
_FALLBACKS = 8  # a dialect has six things that can be left out or lowered, and there is the room


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
            timeout_s: Seconds that an answer may take; for a streamed one, to wait for its first
                and each next piece: the whole may take as long as a slow model needs for an
                answer of `max_tokens`.
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

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`.

        Raises:
            BudgetExceededError: If the request's deadline is over; nothing is sent.
            RateLimitError: If the endpoint says that it is asked too often.
            BrokenOffError: If no whole answer came, or not in time.
            TransientModelError: If the call failed in a way that may pass.
            ModelUnavailableError: If it refuses the key or model, or the account is empty.
            ModelOutputError: If its filter withheld the answer.
            ModelError: If it refuses the request, e.g. for its length.
        """
        try:
            piece = self._answer(request, on_text)
        except Exception as exc:
            error = mapped(exc, self._place, CHAT)
            if error is None:
                raise
            cause = None if error is exc or self._place.tells(exc) else exc
        else:
            return self._completion(request, piece)
        # Out here, what was caught does not follow the error as its context: it may tell the key.
        raise error from cause

    def _completion(self, request: Request, piece: Piece) -> Completion:
        usage = piece.usage
        if usage is None:
            answered = estimate_tokens(piece.thought + piece.text)
            usage = Usage(estimate_request(request), answered, estimated=True)
        text = without_thoughts(piece.text)
        return Completion(text, self.name, piece.finish or "stop", usage)

    def _answer(self, request: Request, on_text: OnText | None) -> Piece:
        """Return the whole answer, which is streamed where somebody reads along.

        Raises:
            BudgetExceededError: If there is no time left to ask.
        """
        streamed = on_text is not None or request.streamed
        now = time.monotonic()
        deadline = math.inf if request.deadline is None else request.deadline
        if deadline <= now:
            raise BudgetExceededError(f"{self!r} is not asked: {_NO_TIME}")
        by_settings = now + (self._stream_s(request) if streamed else self._timeout_s)
        late = "no answer in time; "
        late += _NO_TIME if deadline < now + self._timeout_s else _MORE_TIME
        pieces = in_time(
            lambda: self._pieces(request, streamed=streamed),
            wait_s=self._timeout_s,
            deadline=min(deadline, by_settings),
            late=f"{self._place.model} at {self._place.url}: {late}",
        )
        with closing(pieces):
            return gather(
                without_key(pieces, self._place),
                on_text or (lambda _: None),
                most_chars=_CHARS_PER_TOKEN * (request.max_tokens or self._max_tokens),
            )

    def _stream_s(self, request: Request) -> float:
        """Return the seconds that a stream may take that is never silent for long."""
        most = self._dialect.longest(request, self._max_tokens)
        return max(_TIMES_STREAMED * self._timeout_s, self._timeout_s + most / _SLOWEST)

    def _pieces(self, request: Request, *, streamed: bool) -> Generator[Piece | None, None, None]:
        """Yield the answer as it comes; None where nothing of it has come."""
        with self._sent(request, streamed=streamed) as answer:
            response = answer.response
            if streamed and "application/json" not in response.headers.get("content-type", ""):
                for piece in map(read_event, answer):
                    yield piece if piece != Piece() else None  # which is no sign of life
                return
            body = bytearray()
            for part in response.iter_bytes():
                body += part
                if len(body) > _MOST_BYTES:
                    raise BrokenOffError(f"{self!r}: the answer has more than {_MOST_BYTES} bytes")
                yield None
            yield read_answer(_parsed(bytes(body)))

    def _sent(self, request: Request, *, streamed: bool) -> "openai.Stream[object]":
        """Return the response, not read yet, to the request, simpler where that is refused."""
        import openai

        client = self._opened()
        for _ in range(_FALLBACKS):
            dialect = self._dialect
            longest = dialect.longest(request, self._max_tokens)
            body = dialect.body(
                request,
                model=self.name,
                max_tokens=self._max_tokens,
                temperature=self._temperature,
                stream=streamed,
            )
            try:
                return client.post(
                    CHAT.path,
                    cast_to=object,
                    body=body,
                    stream=True,
                    stream_cls=openai.Stream[object],
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as exc:
                said = said_by(exc, self._place)
                simpler = dialect.without(said, sent=longest)
                if simpler is None and 0 < room_told(said) < longest:
                    request = replace(request, max_tokens=room_told(said))
                    continue
                if simpler is None:
                    raise
                self._settle(dialect, simpler, said)
        raise ModelError(f"{self!r} refuses the request in its simplest form, too")

    def _settle(self, refused: Dialect, simpler: Dialect, said: str) -> None:
        with self._lock:
            if self._dialect != refused:
                return  # another thread did it
            self._dialect = simpler
        _log.warning("%r refuses %s (%s); goes on with %s", self, refused, said, simpler)

    def _opened(self) -> "openai.OpenAI":
        with self._lock:
            if self._client is None:
                self._client = open_client(self._place, timeout_s=self._timeout_s)
            return self._client


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except RecursionError:
        raise TransientModelError("the answer is nested too deeply to be one") from None
