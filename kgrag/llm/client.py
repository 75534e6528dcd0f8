"""A client for a chat model behind an OpenAI-compatible endpoint, without retries.

Requests (`Dialect`), parsing of answers (`Piece`), streams, and the client.
"""

import json
import logging
import math
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar, get_args

from kgrag.config import JsonMode
from kgrag.errors import (
    BrokenOffError,
    BudgetExceededError,
    ModelError,
    TransientModelError,
)
from kgrag.llm.address import CHAT, Place
from kgrag.llm.chat import Completion, Finish, Message, OnText, Request, Usage
from kgrag.llm.endpoint import attempt, open_client, said_by
from kgrag.llm.structured import ThoughtFilter, repeats, without_thoughts
from kgrag.llm.tokens import estimate_request, estimate_tokens
from kgrag.llm.tools import ToolCall

if TYPE_CHECKING:
    import openai

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

JSON_MODES: tuple[JsonMode, ...] = get_args(JsonMode)

_ABOUT_JSON = re.compile(r"response_?format|json_?schema|json_?object|guided|structured|schema")
_ABOUT_TOOLS = re.compile(r"\btools?\b|tool_?(?:calls?|choice)|function")
_ABOUT_LIMIT = re.compile(r"max_(?:completion_)?tokens|completion tokens|output tokens")
# at most 4096 completion tokens; valid range of max_tokens is [1, 8192]; <= 4095; 最大值为4095
_LONGEST = re.compile(
    r"\[\s*\d+\s*,\s*(\d+)\s*\]"
    r"|(?:at most|<=|less than or equal to|not exceed|up to|between \d+ and"
    r"|maximum(?: value)?(?: allowed)?(?: is| of|:)|不超过|不能超过|最大值?为?|小于等于)\s*(\d+)"
)
_CONTEXT = re.compile(r"maximum context length (?:is|of) (\d+)", re.IGNORECASE)
_IN_PROMPT = re.compile(
    r"(\d+) (?:in the messages|input tokens|prompt tokens)|prompt contains (\d+)"
)
_LEAST_ROOM = 256  # tokens of the shortest useful limit
_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filter",
    "sensitive": "filter",  # GLM's word
}
# The endpoint gave up, in the words of GLM, DeepSeek and vLLM.
_BROKEN = frozenset(["network_error", "insufficient_system_resource", "error", "abort"])

_LOOK = 2_000  # characters between checks for repetition
_SEEN = 8_000  # latest characters, which are checked
_LOOKS = 2  # positive checks in a row: the first may be a rule of dashes, or a row of a table
_MOST_THOUGHT = 1_000_000  # characters; some endpoints do not count them as answered

_TIMES_STREAMED = 5  # minimum time for a stream, in times of that for a piece
_SLOWEST = 4  # tokens a second of the slowest useful model
_CHARS_PER_TOKEN = 8  # at most, in any language: a longer answer exceeds its limit
_MOST_BYTES = 64_000_000  # of an answer that is not streamed
_NO_TIME = "the time for this question is over (verify.timeout_s)"
_FALLBACKS = 10  # a dialect has eight fields to drop or lower; one more for the context length


@dataclass(frozen=True, slots=True)
class Dialect:
    """The optional fields of the protocol that an endpoint accepts."""

    json: JsonMode = "schema"  # sends the schema; `object` asks for any JSON, `none` for nothing
    tools: bool = True  # functions
    limit: str = "max_tokens"  # OpenAI's newer models have `max_completion_tokens`
    temperature: bool = True  # some models have theirs fixed
    stream_usage: bool = True  # whether streams are asked to end with their token counts
    most: int = 0  # longest accepted answer; 0 if unknown

    def without(self, complaint: str, *, sent: int = 0) -> "Dialect | None":
        """Return a simpler dialect after a refusal (400 or 422); None if no field helps.

        `sent` is the largest answer length requested, in tokens.

        >>> Dialect().without("Unknown field: response_format.json_schema").json
        'object'
        """
        said = complaint.lower()
        if self.stream_usage and ("stream_options" in said or "include_usage" in said):
            return replace(self, stream_usage=False)
        if most := _longest_allowed(said, sent):
            return replace(self, most=most)
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return replace(self, temperature=False)
        if self.json != "none" and _ABOUT_JSON.search(said):
            return replace(self, json=JSON_MODES[JSON_MODES.index(self.json) + 1])
        return None

    def without_functions(self, complaint: str) -> "Dialect | None":
        """Return the dialect after a refusal of a request with functions; None if not for them.

        >>> Dialect().without_functions("this model does not support tools").tools
        False
        """
        refused = self.tools and _ABOUT_TOOLS.search(complaint.lower())
        return replace(self, tools=False) if refused else None

    def body(
        self, request: Request, *, model: str, max_tokens: int, temperature: float, stream: bool
    ) -> dict[str, object]:
        """Return the JSON to post; `max_tokens` is the default for the request's."""
        body: dict[str, object] = {
            "model": model,
            "messages": [*map(_message, request.messages)],
            self.limit: self.longest(request, max_tokens),
        }
        if self.temperature:
            body["temperature"] = temperature
        if request.schema is not None and self.json == "object":
            body["response_format"] = {"type": "json_object"}
        elif request.schema is not None and self.json == "schema":
            name = request.schema_name or "answer"
            named = {"name": name, "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        if request.tools:
            body["tools"] = list(request.tools)
        if stream:
            body["stream"] = True
            if self.stream_usage:
                body["stream_options"] = {"include_usage": True}
        return body

    def longest(self, request: Request, max_tokens: int) -> int:
        """Return the requested length of the answer, by default `max_tokens`."""
        wanted = max_tokens if request.max_tokens is None else request.max_tokens
        return min(wanted, self.most) if self.most else wanted


def _message(message: Message) -> dict[str, object]:
    told: dict[str, object] = {"role": message.role, "content": _content(message)}
    if message.calls:
        told["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return told | ({"tool_call_id": message.call_id} if message.call_id else {})


def _content(message: Message) -> object:
    # Lone surrogates of damaged files cannot be encoded in UTF-8.
    text = message.content.encode("utf-8", "replace").decode("utf-8")
    pictures = [{"type": "image_url", "image_url": {"url": uri}} for uri in message.images]
    return [{"type": "text", "text": text}, *pictures] if pictures else text


def _room(complaint: str) -> int:
    """Return the tokens that the context leaves for an answer, parsed from a refusal; else 0."""
    context, prompt = _CONTEXT.search(complaint), _IN_PROMPT.search(complaint)
    room = int(context[1]) - int(prompt[1] or prompt[2]) if context and prompt else 0
    return room if room >= _LEAST_ROOM else 0


def _longest_allowed(said: str, sent: int) -> int:
    """Return the longest answer that a refusal allows, if less than requested; else 0."""
    if not _ABOUT_LIMIT.search(said) or _CONTEXT.search(said):
        return 0
    told = [int(n) for match in _LONGEST.finditer(said) for n in match.groups() if n]
    return max((n for n in told if _LEAST_ROOM <= n < sent), default=0)


@dataclass(frozen=True, slots=True)
class Piece:
    """A complete answer, or one event of a stream."""

    text: str = ""
    thought: str = ""  # of a reasoning model, where the endpoint separates it
    finish: Finish | None = None  # None while the answer goes on
    usage: Usage | None = None
    calls: tuple[tuple[int, ToolCall], ...] = ()  # or parts of them, with their positions

    @property
    def size(self) -> int:
        """Characters that count as answered."""
        return len(self.text) + sum(len(call.arguments) for _, call in self.calls)


def read_answer(body: object) -> Piece:
    """Parse the JSON body of a response.

    Raises:
        TransientModelError: If it has no answer, as of gateways whose backend fails. Its text is
            the body, to be truncated where the key is hidden.
    """
    piece = _read(body, "message")
    if piece is None:
        raise TransientModelError(f"the answer has no choices: {body}")
    return piece if piece.finish else replace(piece, finish="stop")


def read_event(event: object) -> Piece:
    """Parse an event of a stream; BrokenOffError if the endpoint gave up."""
    usage = _read_usage(event.get("usage")) if isinstance(event, Mapping) else None
    return _read(event, "delta") or Piece(usage=usage)


def _read(body: object, part: str) -> Piece | None:
    match body:
        case {"choices": [{**choice}, *_], **rest}:
            words = choice.get(part)
            words = words if isinstance(words, Mapping) else {}
            finish = _finish(choice.get("finish_reason"))
            text, refusal = _text(words.get("content")), _text(words.get("refusal"))
            if refusal and not text:
                text, finish = refusal, finish and "filter"
            thought = _text(words.get("reasoning_content")) or _text(words.get("reasoning"))
            calls = tuple(_calls(words.get("tool_calls")))
            return Piece(text, thought, finish, _read_usage(rest.get("usage")), calls)
    return None


def _calls(listed: object) -> Iterator[tuple[int, ToolCall]]:
    """Yield the calls of an answer, or their parts in an event, with their positions."""
    for place, call in enumerate(listed if isinstance(listed, list) else ()):
        match call:
            case {"function": {**function}}:
                at, name = call.get("index"), _text(function.get("name"))
                arguments = as_arguments(function.get("arguments"))
                made = ToolCall(_text(call.get("id")), name, arguments)
                yield at if isinstance(at, int) else place, made


def _joined(parts: Iterable[tuple[int, ToolCall]]) -> tuple[tuple[int, ToolCall], ...]:
    """Return calls of which parts came one after the other, in the order of their positions."""
    joined: dict[int, ToolCall] = {}
    for at, part in parts:
        begun = joined.get(at, ToolCall("", "", ""))
        joined[at] = ToolCall(
            begun.call_id or part.call_id,
            begun.name or part.name,
            begun.arguments + part.arguments,
        )
    return tuple(sorted(joined.items(), key=itemgetter(0)))


def _finish(reason: object) -> Finish | None:
    if reason is None or reason == "":
        return None
    if reason in _BROKEN:
        raise BrokenOffError(f"the endpoint gave up in the middle of the answer: {reason}")
    return _FINISH.get(str(reason), "other")


def _read_usage(usage: object) -> Usage | None:
    """Parse a field `usage`; None where it lacks a count.

    Cached tokens have one of three forms: OpenAI's, DeepSeek's and Moonshot's.
    """
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int) or not prompt:
        return None
    details = usage.get("prompt_tokens_details")
    cached = [details.get("cached_tokens")] if isinstance(details, Mapping) else []
    cached += [usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens")]
    return Usage(prompt, completion, next((n for n in cached if isinstance(n, int)), 0))


def _text(content: object) -> str:
    """Return a text given as a string, or as a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def gather(pieces: Iterable[Piece], on_text: OnText, *, most_chars: int) -> Piece:
    """Return a complete answer, passing on pieces without thoughts.

    One that repeats itself, or exceeds `most_chars` characters without separate thoughts, is ended
    and counts as truncated.

    Raises:
        BrokenOffError: If the pieces end before the answer does.
    """
    thoughts = ThoughtFilter()
    text = thought = recent = ""
    unseen = loops = 0  # characters since the last check; positive checks
    finish: Finish | None = None
    usage: Usage | None = None
    size, calls = 0, list[tuple[int, ToolCall]]()
    try:
        for piece in pieces:
            size += piece.size
            calls += piece.calls
            text += piece.text
            thought += piece.thought
            finish, usage = piece.finish or finish, piece.usage or usage
            if new := thoughts.feed(piece.text):
                on_text(new)
            recent = (recent + piece.thought + piece.text)[-_SEEN:]
            unseen += len(piece.thought) + len(piece.text)
            if unseen >= _LOOK:
                unseen, loops = 0, loops + 1 if repeats(recent) else 0
            if size > most_chars or len(thought) > _MOST_THOUGHT or loops >= _LOOKS:
                finish = finish or "length"
                break
    except BrokenOffError:
        if finish is None:  # else complete: the endpoint only keeps the connection open
            raise
    if rest := thoughts.end():
        on_text(rest)
    if finish is None:
        raise BrokenOffError(f"the stream ended before the answer did: {text}")
    return Piece(text, thought, finish, usage, _joined(calls))


def in_time(
    produce: Callable[[], Generator[_T | None, None, None]],
    *,
    wait_s: float,
    deadline: float,
    late: str,
) -> Generator[_T, None, None]:
    """Yield items that a thread produces, and raise its errors.

    A library's timeout is for each read: an endpoint that sends blanks, or a hanging name lookup,
    never reaches it. A None that is produced neither resets the wait nor is yielded. An abandoned
    thread ends at its next item.

    Raises:
        BrokenOffError: With the text `late`, if the next item does not arrive within `wait_s`
            seconds and before `deadline`, on the clock of `time.monotonic`.
    """
    arrived: SimpleQueue[_T | BaseException | None] = SimpleQueue()
    gone = threading.Event()

    def run() -> None:
        end = None
        try:
            with closing(produce()) as items:
                for item in items:
                    if gone.is_set():
                        break
                    if item is not None:
                        arrived.put(item)
        except BaseException as exc:  # raised in the waiting thread
            end = exc
        arrived.put(end)

    threading.Thread(target=run, name="call", daemon=True).start()
    try:
        while True:
            left = min(wait_s, deadline - time.monotonic())
            try:
                item = arrived.get(timeout=max(0.0, left))
            except Empty:
                raise BrokenOffError(late) from None
            if isinstance(item, BaseException):
                raise item
            if item is None:
                return
            yield item
    finally:
        gone.set()


def without_key(pieces: Iterable[Piece], place: Place) -> Iterator[Piece]:
    """Yield the pieces of an answer without the endpoint's key, even if split.

    Some models repeat their prompt, and gateways the headers. A possible start of the key is held
    back until its end is known.
    """
    text = thought = ""
    for piece in pieces:
        text, thought = place.hide(text + piece.text), place.hide(thought + piece.thought)
        ends = len(text), len(thought)
        if piece.finish is None:  # else nothing may follow
            ends = ends[0] - _begun(text, place), ends[1] - _begun(thought, place)
        yield replace(piece, text=text[: ends[0]], thought=thought[: ends[1]])
        text, thought = text[ends[0] :], thought[ends[1] :]


def _begun(text: str, place: Place) -> int:
    """Return how many characters at a text's end may be the start of a secret."""
    parts = (secret[:n] for secret in place.secrets for n in range(1, len(secret)))
    return max((len(part) for part in parts if text.endswith(part)), default=0)


def without_tools(request: Request) -> Request:
    """Return a request without functions; earlier calls and their results become messages."""
    told: list[Message] = []
    for message in request.messages:
        content, role = message.content, message.role
        if message.calls:
            content = "\n".join(f"{c.name} {c.arguments}" for c in message.calls)
        if role == "tool":
            role = "user"
            if told[-1].role == "user":  # some endpoints want them to alternate
                content = f"{told.pop().content}\n\n{content}"
        told.append(replace(message, role=role, content=content, calls=(), call_id=""))
    return replace(request, messages=tuple(told), tools=())


def as_arguments(given: object) -> str:
    """Return the arguments of a call as JSON; some models and servers give them parsed."""
    if isinstance(given, Mapping):
        return json.dumps(given, ensure_ascii=False)
    return given if isinstance(given, str) else ""


class OpenAIChat:
    """A model behind an OpenAI-compatible endpoint; errors do not contain its key.

    Fields that the endpoint refuses (a schema, a temperature, ...) are omitted from then on.
    """

    def __init__(
        self,
        place: Place,
        *,
        timeout_s: float = 120.0,
        max_tokens: int = 4000,
        temperature: float = 0.0,
        json_mode: JsonMode = "schema",
    ) -> None:
        """Store the settings; no client is created before the first call.

        `timeout_s` is for an answer, or for each piece of a streamed one, which in all may take as
        long as a slow model needs for `max_tokens`, the longest answer where a request sets none.
        `json_mode` is the first mode of requesting JSON.
        """
        self._place = place
        self._timeout_s = timeout_s
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._dialect = Dialect(json=json_mode)
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None

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
            RateLimitError: If the endpoint is asked too often.
            BrokenOffError: If the answer is incomplete or late.
            TransientModelError: If the call failed temporarily.
            ModelUnavailableError: If it refuses the key or model, or the account is empty.
            ModelOutputError: If its filter withheld the answer.
            ModelError: If it refuses the request, e.g. for its length.
        """
        piece = attempt(lambda: self._answer(request, on_text), self._place, CHAT)
        usage = piece.usage
        called = [call for _, call in piece.calls]
        if usage is None:
            said = "".join((piece.thought, piece.text, *(c.name + c.arguments for c in called)))
            usage = Usage(estimate_request(request), estimate_tokens(said), estimated=True)
        text, hide = without_thoughts(piece.text), self._place.hide
        calls = tuple(
            ToolCall(c.call_id or f"call-{n}", hide(c.name), hide(c.arguments))
            for n, c in enumerate(called)
        )
        finish = "calls" if calls and piece.finish != "length" else piece.finish or "stop"
        return Completion(text, self.name, finish, usage, calls=calls)

    def _answer(self, request: Request, on_text: OnText | None) -> Piece:
        """Return the complete answer, streamed for a reader."""
        streamed = on_text is not None or request.streamed
        now = time.monotonic()
        deadline = math.inf if request.deadline is None else request.deadline
        if deadline <= now:
            raise BudgetExceededError(f"{self._place} is not asked: {_NO_TIME}")
        by_settings = self._timeout_s
        if streamed:  # each piece within timeout_s
            most = self._dialect.longest(request, self._max_tokens)
            by_settings = max(_TIMES_STREAMED * by_settings, by_settings + most / _SLOWEST)
        ends_first = deadline < now + self._timeout_s
        remedy = _NO_TIME if ends_first else "llm.timeout_s allows more"
        pieces = in_time(
            lambda: self._pieces(request, streamed=streamed),
            wait_s=self._timeout_s,
            deadline=min(deadline, now + by_settings),
            late=f"{self._place}: no answer in time; {remedy}",
        )
        with closing(pieces):
            return gather(
                without_key(pieces, self._place),
                on_text or (lambda _: None),
                most_chars=_CHARS_PER_TOKEN * (request.max_tokens or self._max_tokens),
            )

    def _pieces(self, request: Request, *, streamed: bool) -> Generator[Piece | None, None, None]:
        """Yield the answer as it arrives; None for data without content."""
        with self._sent(request, streamed=streamed) as answer:
            response = answer.response
            if streamed and "application/json" not in response.headers.get("content-type", ""):
                for piece in map(read_event, answer):
                    yield piece if piece != Piece() else None
                return
            body = bytearray()
            for part in response.iter_bytes():
                body += part
                if len(body) > _MOST_BYTES:
                    raise BrokenOffError(f"{self._place}: more than {_MOST_BYTES} bytes of answer")
                yield None
            try:
                yield read_answer(json.loads(body))
            except RecursionError:
                told = "the answer is nested too deeply to be one"
                raise TransientModelError(told) from None

    def _sent(self, request: Request, *, streamed: bool) -> "openai.Stream[object]":
        """Return the unread response to the request, simplified where that is refused."""
        import openai

        client = self._opened()
        for _ in range(_FALLBACKS):
            dialect = self._dialect
            longest = dialect.longest(request, self._max_tokens)
            body = dialect.body(
                request if dialect.tools else without_tools(request),
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
            except (
                openai.BadRequestError,
                openai.UnprocessableEntityError,
                openai.NotFoundError,
            ) as exc:
                said = said_by(exc, self._place)
                called = request.tools or any(m.calls for m in request.messages)
                simpler = dialect.without_functions(said) if called else None
                if isinstance(exc, openai.NotFoundError) and simpler is None:
                    raise  # of the model or address
                simpler = simpler or dialect.without(said, sent=longest)
                if simpler is not None:
                    self._settle(dialect, simpler, said)
                elif 0 < _room(said) < longest:
                    request = replace(request, max_tokens=_room(said))
                else:
                    raise
        raise ModelError(f"{self._place} refuses the request in its simplest form, too")

    def _settle(self, refused: Dialect, simpler: Dialect, said: str) -> None:
        with self._lock:
            if self._dialect != refused:
                return  # another thread did it
            self._dialect = simpler
        was, now = asdict(refused), asdict(simpler)
        changed = ", ".join(f"{name}: {now[name]}" for name in now if now[name] != was[name])
        _log.warning("%s refuses a request (%s); goes on with %s", self._place, said, changed)

    def _opened(self) -> "openai.OpenAI":
        with self._lock:
            if self._client is None:
                self._client = open_client(self._place, timeout_s=self._timeout_s)
            return self._client
