"""The protocol of chat models, one call with messages in and one completion out, and its types."""

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field, replace
from operator import add
from typing import Literal, Protocol

from kgrag.errors import ModelOutputError

OK = "ok"  # outcome of an answer that could be used
Stage = Literal["extract", "summarize", "analyse", "answer", "verify"]
Finish = Literal["stop", "length", "filter", "other"]
Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """What one call asks.

    Only messages, schema, its name and `max_tokens` are part of the cache's key.

    Attributes:
        messages: The conversation so far, the last one by the user.
        stage: Who asks, for settings and the ledger.
        schema: JSON schema of the answer; None where the answer is plain text.
        schema_name: Its name, letters and underscores; empty without a schema.
        doc_id: The document that it is about, for the ledger.
        max_tokens: Longest answer; the model's configured limit for None.
        added: How many of the last messages were added after a bad answer; they are no part of
            the key, so that the corrected answer is kept for the question itself.
        deadline: Moment, on the clock of `time.monotonic`, at which waiting and sending end; None
            for a call that may take as long as it takes, also wait for an endpoint that is down.
        anew: Whether to ask again though the answer was cut before.
        fresh: Whether to ask again though an answer is kept, which turned out to be of no use.
        streamed: Whether the answer is to be streamed though nobody reads along.
        former: The same request as an earlier version of kgrag sent it, for the cache.
    """

    messages: tuple[Message, ...]
    stage: Stage
    schema: Schema | None = None
    schema_name: str = ""
    doc_id: str = ""
    max_tokens: int | None = None
    added: int = 0
    deadline: float | None = None
    anew: bool = False
    fresh: bool = False
    streamed: bool = False
    former: "Request | None" = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call."""

    prompt: int = 0  # sent
    completion: int = 0  # answered
    cached: int = 0  # those of `prompt` that the endpoint had in its own cache
    estimated: bool = False  # by us, the endpoint having given none


@dataclass(frozen=True, slots=True)
class StageUsage:
    """Calls of a stage and their tokens, as in `Usage`."""

    calls: int = 0  # answers that were paid for, also those that could not be used
    kept: int = 0  # answers that had been paid for before; they add no tokens
    prompt: int = 0
    completion: int = 0
    cached: int = 0

    @property
    def usage(self) -> Usage:
        """Return the tokens, to be priced."""
        return Usage(self.prompt, self.completion, self.cached)

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with the names that `--json` gives."""
        return {
            "calls": self.calls,
            "kept": self.kept,
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "cached_tokens": self.cached,
        }

    def __add__(self, other: "StageUsage") -> "StageUsage":
        """Return both together."""
        return StageUsage(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class Completion:
    """What a call gave.

    Attributes:
        text: The answer.
        model: The model that gave it.
        finish: Why it ended: `stop`, `length` (cut at the limit), `filter` (withheld), `other`.
        usage: Tokens.
        from_cache: Whether it was paid before and nothing was sent now.
        reports_to: Called with what came of it.
    """

    text: str
    model: str
    finish: Finish = "stop"
    usage: Usage = Usage()
    from_cache: bool = False
    reports_to: tuple[Callable[[str], object], ...] = field(default=(), repr=False, compare=False)

    def reporting_to(self, listener: Callable[[str], object]) -> "Completion":
        """Return the same answer with one more listener to `report`."""
        return replace(self, reports_to=(*self.reports_to, listener))

    def report(self, outcome: str) -> None:
        """Report what came of the answer, `OK` or as `outcome_of` names it; only `OK` is kept."""
        for listener in self.reports_to:
            listener(outcome)


def outcome_of(error: BaseException) -> str:
    """Return the name of what was wrong: the kind of a bad answer, or the error's class."""
    return error.kind if isinstance(error, ModelOutputError) else type(error).__name__


OnText = Callable[[str], None]


class ChatModel(Protocol):
    """A chat model, or a wrapper around one."""

    @property
    def name(self) -> str:
        """Return the model's name, as facts record it."""
        ...

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the answer to a request.

        Safe for threads. The reader of the answer calls `Completion.report` when it is known
        whether it could be used: only then is it kept for later.

        Args:
            request: What is asked.
            on_text: Called with each piece of the answer as it comes; not with one that was paid
                before, which its reader shows when it can be used.

        Raises:
            BudgetExceededError: If the request's deadline is over before the call could be sent.
            RateLimitError: If the endpoint goes on refusing for being asked too often.
            ModelUnavailableError: If it cannot be reached, or refuses the key or model.
            ModelOutputError: If the endpoint withholds the answer, or refuses the prompt for its
                length.
            ModelError: If the call fails otherwise.
        """
        ...
