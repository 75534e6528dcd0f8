"""The protocol of chat models, and its types."""

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field, replace
from operator import add
from typing import Literal, Protocol

from kgrag.errors import ModelOutputError
from kgrag.llm.tools import Function, ToolCall

OK = "ok"  # outcome of a usable answer
Stage = Literal["extract", "summarize", "analyse", "answer", "verify", "vision"]
Finish = Literal["stop", "length", "filter", "calls", "other"]
Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: `tool` for the result of a call.
        content: The text; may be empty where an assistant calls tools.
        calls: Of an assistant.
        call_id: Of the call whose result this is.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    images: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """What the message says, for hashes: those of plain messages are role and content."""
        called = (part for c in self.calls for part in ("call", c.call_id, c.name, c.arguments))
        return (self.role, self.content, *called, *filter(None, (self.call_id,)), *self.images)


@dataclass(frozen=True, slots=True)
class Request:
    """A call of a model.

    Only messages, tools, schema, its name and `max_tokens` are part of the cache key; not the last
    `added` messages, which followed a bad answer, so that the corrected answer is cached for the
    question.

    Attributes:
        messages: The conversation so far, the last one by the user.
        stage: For settings and the ledger.
        schema: JSON schema of the answer; None for plain text.
        schema_name: Its name, letters and underscores; empty without a schema.
        tools: Functions that the model may call instead of answering; not with a schema.
        doc_id: The document concerned, for the ledger.
        max_tokens: Longest answer; None for the model's configured limit.
        deadline: Of waiting and sending, on `time.monotonic`; None for none.
        anew: Whether to ask again though a truncated answer is cached.
        fresh: Whether to ask again though an answer is cached, which was unusable.
        streamed: Whether to stream the answer without a reader.
    """

    messages: tuple[Message, ...]
    stage: Stage
    schema: Schema | None = None
    schema_name: str = ""
    tools: tuple[Function, ...] = ()
    doc_id: str = ""
    max_tokens: int | None = None
    added: int = 0
    deadline: float | None = None
    anew: bool = False
    fresh: bool = False
    streamed: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call."""

    prompt: int = 0  # sent
    completion: int = 0  # answered
    cached: int = 0  # part of `prompt` in the endpoint's own cache
    estimated: bool = False  # by us, where the endpoint does not count


@dataclass(frozen=True, slots=True)
class StageUsage:
    """Calls of a stage and their tokens, as in `Usage`."""

    calls: int = 0  # paid answers, unusable ones included
    kept: int = 0  # answers from the cache, without tokens
    prompt: int = 0
    completion: int = 0
    cached: int = 0

    @property
    def usage(self) -> Usage:
        """Return the tokens, for pricing."""
        return Usage(self.prompt, self.completion, self.cached)

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with the names of `--json`."""
        return {
            "calls": self.calls,
            "kept": self.kept,
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "cached_tokens": self.cached,
        }

    def __add__(self, other: "StageUsage") -> "StageUsage":
        """Return the sum."""
        return StageUsage(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class Completion:
    """The result of a call.

    Attributes:
        finish: `stop`, `length` (limit reached), `filter` (withheld), `calls` or `other`.
        from_cache: Whether it was paid before and nothing was sent.
        calls: Of tools, if `finish` is `calls`; the text is then no answer.
    """

    text: str
    model: str
    finish: Finish = "stop"
    usage: Usage = Usage()
    from_cache: bool = False
    calls: tuple[ToolCall, ...] = ()
    reports_to: tuple[Callable[[str], object], ...] = field(default=(), repr=False, compare=False)

    def reporting_to(self, listener: Callable[[str], object]) -> "Completion":
        """Return the same answer with another listener to `report`."""
        return replace(self, reports_to=(*self.reports_to, listener))

    def report(self, outcome: str) -> None:
        """Report the outcome, `OK` or from `outcome_of`; only `OK` is cached."""
        for listener in self.reports_to:
            listener(outcome)


def outcome_of(error: BaseException) -> str:
    """Return the outcome of an error: the kind of a bad answer, or the error's class."""
    return error.kind if isinstance(error, ModelOutputError) else type(error).__name__


OnText = Callable[[str], None]


class ChatModel(Protocol):
    """A chat model, or a wrapper around one."""

    @property
    def name(self) -> str:
        """Return the model's name, as facts record it."""
        ...

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the answer to a request; thread-safe.

        The caller calls `Completion.report` when it is known whether the answer was usable: only
        then is it cached. `on_text` is called with each piece of the answer as it arrives, but not
        with a cached one.

        Raises:
            BudgetExceededError: If the request's deadline is over before the call could be sent.
            RateLimitError: If the endpoint goes on refusing for being asked too often.
            ModelUnavailableError: If it cannot be reached, or refuses the key or model.
            ModelOutputError: If the endpoint withholds the answer, or refuses the prompt for its
                length.
            ModelError: If the call fails otherwise.
        """
        ...
