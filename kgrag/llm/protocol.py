"""Read what endpoints answer in the OpenAI protocol, whole or in pieces, trusting none of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from kgrag.errors import BrokenOffError, TransientModelError
from kgrag.llm.chat import Finish, Usage

_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filter",
    "sensitive": "filter",  # GLM's word
}
# The endpoint gave up, as GLM, DeepSeek and vLLM word it.
_BROKEN = frozenset(["network_error", "insufficient_system_resource", "error", "abort"])


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
