"""What a request looks like in the OpenAI protocol, and how answers are read, trusting none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from kgrag.choices import JsonMode
from kgrag.errors import BrokenOffError, TransientModelError
from kgrag.llm.chat import Finish, Request, Usage

JSON_MODES: tuple[JsonMode, ...] = get_args(JsonMode)

_ABOUT_JSON = re.compile(r"response_?format|json_?schema|json_?object|guided|structured|schema")
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
_LEAST_ROOM = 256  # tokens: a shorter answer is none
_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filter",
    "sensitive": "filter",  # GLM's word
}
# The endpoint gave up, as GLM, DeepSeek and vLLM word it.
_BROKEN = frozenset(["network_error", "insufficient_system_resource", "error", "abort"])


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which of the protocol's optional fields an endpoint takes.

    Attributes:
        json: How JSON is asked for: `schema` sends the schema, `object` asks for any JSON,
            `none` leaves it to the prompt.
        limit: Name of the field for the longest answer; OpenAI's newer models have the second.
        temperature: Whether a temperature is sent; some models have theirs fixed.
        stream_usage: Whether streams are asked to end with their token counts.
        most: Longest answer that it takes; 0 where it has refused none.
    """

    json: JsonMode = "schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    stream_usage: bool = True
    most: int = 0

    def without(self, complaint: str, *, sent: int = 0) -> "Dialect | None":
        """Return the next simpler dialect after a refusal; None where it is not about a field.

        Args:
            complaint: What the endpoint said with its status 400 or 422.
            sent: Longest answer that was asked for.

        >>> Dialect().without("Unknown field: response_format.json_schema").json
        'object'
        """
        said = complaint.lower()
        if self.stream_usage and ("stream_options" in said or "include_usage" in said):
            return replace(self, stream_usage=False)
        if most := _longest_told(said, sent):
            return replace(self, most=most)
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return replace(self, temperature=False)
        if self.json != "none" and _ABOUT_JSON.search(said):
            return replace(self, json=JSON_MODES[JSON_MODES.index(self.json) + 1])
        return None

    def body(
        self, request: Request, *, model: str, max_tokens: int, temperature: float, stream: bool
    ) -> dict[str, object]:
        """Return the JSON that is posted.

        Args:
            request: What is asked.
            model: The model's name.
            max_tokens: Longest answer where the request sets none.
            temperature: 0 for the most likely answer.
            stream: Whether the answer is wanted in pieces.
        """
        body: dict[str, object] = {
            "model": model,
            "messages": [
                {"role": m.role, "content": _sendable(m.content)} for m in request.messages
            ],
            self.limit: self.longest(request, max_tokens),
        }
        if self.temperature:
            body["temperature"] = temperature
        if request.schema is not None and self.json != "none":
            body["response_format"] = self._response_format(request.schema, request.schema_name)
        if stream:
            body["stream"] = True
            if self.stream_usage:
                body["stream_options"] = {"include_usage": True}
        return body

    def longest(self, request: Request, max_tokens: int) -> int:
        """Return the longest answer that is asked for.

        Args:
            request: What is asked.
            max_tokens: Where the request sets none.
        """
        wanted = max_tokens if request.max_tokens is None else request.max_tokens
        return min(wanted, self.most) if self.most else wanted

    def _response_format(self, schema: Mapping[str, object], name: str) -> dict[str, object]:
        if self.json == "object":
            return {"type": "json_object"}
        named = {"name": name or "answer", "schema": schema, "strict": True}
        return {"type": "json_schema", "json_schema": named}


def room_told(complaint: str) -> int:
    """Return the tokens that a context leaves for an answer, as a refusal tells; 0 if it does not.

    >>> room_told("maximum context length is 8192 tokens. However, you requested 9000 tokens "
    ...           "(2808 in the messages, 6192 in the completion)")
    5384
    """
    context, prompt = _CONTEXT.search(complaint), _IN_PROMPT.search(complaint)
    room = int(context[1]) - int(prompt[1] or prompt[2]) if context and prompt else 0
    return room if room >= _LEAST_ROOM else 0


def _longest_told(said: str, sent: int) -> int:
    """Return the longest answer that a refusal in lower case tells, below what was sent; else 0."""
    if not _ABOUT_LIMIT.search(said) or _CONTEXT.search(said):
        return 0
    told = [int(n) for match in _LONGEST.finditer(said) for n in match.groups() if n]
    return max((n for n in told if _LEAST_ROOM <= n < sent), default=0)


def _sendable(text: str) -> str:
    """Return text that has a form in UTF-8: halves of characters, as damaged files give, are ?."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class Piece:
    """A whole answer, or what one event of a stream adds to it.

    Attributes:
        text: The words; empty where the event has none.
        thought: What a reasoning model thought, set apart by the endpoint.
        finish: Why the answer ended; None while it goes on.
        usage: Tokens, where the event says them.
    """

    text: str = ""
    thought: str = ""
    finish: Finish | None = None
    usage: Usage | None = None


def read_answer(body: object) -> Piece:
    """Return the answer in a response's body, as parsed from JSON.

    Raises:
        TransientModelError: If there is none: gateways answer so when what is behind them fails.
            Its text holds the body as it is, to be cut where the key is hidden.
    """
    piece = _read(body, "message")
    if piece is None:
        raise TransientModelError(f"the answer has no choices: {body}")
    return piece if piece.finish else Piece(piece.text, piece.thought, "stop", piece.usage)


def read_event(event: object) -> Piece:
    """Return what an event of a stream adds; nothing for events of a kind that is not known.

    Raises:
        TransientModelError: If the endpoint says that it gave up.
    """
    usage = read_usage(event.get("usage")) if isinstance(event, Mapping) else None
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
            return Piece(text, thought, finish, read_usage(rest.get("usage")))
    return None


def _finish(reason: object) -> Finish | None:
    if reason is None or reason == "":
        return None
    if reason in _BROKEN:
        raise BrokenOffError(f"the endpoint gave up in the middle of the answer: {reason}")
    return _FINISH.get(str(reason), "other")


def read_usage(usage: object) -> Usage | None:
    """Return the tokens in a field `usage`; None where it does not say both counts.

    The endpoint's own cache is told in one of three ways: OpenAI's, DeepSeek's and Moonshot's.
    """
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int) or not prompt:
        return None
    details = usage.get("prompt_tokens_details")
    told = [details.get("cached_tokens")] if isinstance(details, Mapping) else []
    told += [usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens")]
    return Usage(prompt, completion, next((n for n in told if isinstance(n, int)), 0))


def _text(content: object) -> str:
    """Return words that come as a string, or as a list of parts with a string each."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
