"""What every chat model is: one call with messages in, one completion out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from kgrag.errors import ModelOutputError

OK = "ok"  # outcome of an answer that could be used
Role = Literal["system", "user", "assistant"]
Stage = Literal["extract", "summarize", "analyse", "answer", "verify"]
Finish = Literal["stop", "length", "filter", "other"]
Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """What one call asks.

    Attributes:
        messages: The conversation so far, the last one by the user.
        stage: Who asks, for settings and the ledger.
        schema: JSON schema of the answer; None where the answer is plain text.
        schema_name: Its name, letters and underscores; empty without a schema.
        doc_id: The document that it is about, for the ledger; no part of the cache's key, so
            that equal text is paid once across documents.
        max_tokens: Longest answer; the model's configured limit for None.
        added: How many of the last messages were added after a bad answer; no part of the
            cache's key, so that the corrected answer is kept for the question itself.
        deadline: Moment, on the clock of `time.monotonic`, after which nothing is waited for and
            nothing more is sent; None for a call that may take as long as it takes, and may
            wait for an endpoint that is down to come back. No part of the cache's key.
        anew: Whether to ask again though the answer was cut before; no part of the cache's key.
        fresh: Whether to ask again though an answer is kept, which turned out to be of no use; no
            part of the cache's key.
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
    """Tokens of a call.

    Attributes:
        prompt: Tokens sent.
        completion: Tokens answered.
        cached: Those of `prompt` that the endpoint had in its own cache.
        estimated: Whether the endpoint did not tell and they are our estimate.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """What a call gave.

    Attributes:
        text: The answer.
        model: The model that gave it.
        finish: Why it ended: `stop`, `length` (cut at the limit), `filter` (withheld), `other`.
        usage: Tokens.
        from_cache: Whether it was paid before and nothing was sent now.
        reports_to: Who is told what came of it.
    """

    text: str
    model: str
    finish: Finish = "stop"
    usage: Usage = Usage()
    from_cache: bool = False
    reports_to: tuple[Callable[[str], object], ...] = field(default=(), repr=False, compare=False)

    def reporting_to(self, listener: Callable[[str], object]) -> "Completion":
        """Return the same answer with one more who is told what came of it."""
        return replace(self, reports_to=(*self.reports_to, listener))

    def report(self, outcome: str) -> None:
        """Tell what came of the answer; only one that is reported `OK` is kept.

        Args:
            outcome: `OK`, or as `outcome_of` names what was wrong.
        """
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

        Safe to call from several threads. Who reads the answer says by `Completion.report` whether
        it could be used: only then is it kept for later.

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
