"""Every error that kgrag raises on purpose.

KgragError
├── ConfigError                 a setting is unknown or out of range
├── MissingDependencyError      an optional package is not installed
├── PluginError                 what another package adds cannot be used
├── StoreError                  the knowledge base refuses or is damaged
│   ├── StoreUnavailableError   it cannot be opened, reached or locked
│   └── StatementError          a query to it was refused
├── ModelError                  a model cannot be used
│   ├── ModelNotFoundError      its files are not on this machine
│   ├── ModelMismatchError      it is not the model that the knowledge base was built with
│   ├── ModelUnavailableError   its endpoint cannot be reached, or refuses the key or the model
│   ├── BudgetExceededError     a question has used up its calls or seconds; nothing was sent
│   ├── TransientModelError     a call failed in a way that may pass: 5xx, timeout, reset
│   │   ├── BrokenOffError      it was sent, and no whole answer came: it may have been charged
│   │   ├── RateLimitError      it was asked too often
│   │   └── ModelUnreachableError  no connection to it came about
│   └── ModelOutputError        its answer cannot be used
├── IngestionError              a document cannot be taken in
│   └── UnsupportedFormatError  no loader for this kind of file
├── OutOfRangeError             a question is too long, or a number outside what is allowed
├── GarbledTextError            a text lost its characters on the way here
├── BusyError                   a server has as many requests as it can work on
├── NotFoundError               a document, entity or chunk that was asked for is not stored
└── EvaluationError             a query or run file is malformed
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kgrag.text.messages import message


class KgragError(Exception):
    """Base of all errors; the text has the problem, the value seen, and the remedy.

    A text with values is the template of a message, which `kgrag.text.messages` translates.
    """

    def __init__(self, text: str, /, **values: object) -> None:
        super().__init__(message(text, **values) if values else text)


class ConfigError(KgragError):
    """A setting is unknown or out of range."""


class MissingDependencyError(KgragError):
    """An optional package is not installed; the text names the extra."""


class PluginError(KgragError):
    """A plugin cannot be used; names entry point, package and remedy."""


class StoreError(KgragError):
    """The knowledge base refuses or is damaged."""


class StoreUnavailableError(StoreError):
    """The knowledge base cannot be opened, reached or locked."""


class NoKnowledgeBaseError(StoreUnavailableError):
    """There is no knowledge base at this place."""


class NewerVersionError(StoreError):
    """A newer kgrag made the knowledge base."""


class StatementError(StoreError):
    """A query to the store was refused."""


class ModelError(KgragError):
    """A model cannot be used."""


class ModelNotFoundError(ModelError):
    """A model's files are not on this machine."""


class ModelMismatchError(ModelError):
    """The model is not the one that the knowledge base was built with."""


class ModelUnavailableError(ModelError):
    """A model's endpoint cannot be reached, or refuses the key or the model."""


class BudgetExceededError(ModelError):
    """A question has used up its calls or seconds; the call was not sent."""


class TransientModelError(ModelError):
    """A call to a model failed, and may succeed later.

    Attributes:
        retry_after_s: Seconds to wait, if the endpoint says so.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class BrokenOffError(TransientModelError):
    """A call was sent, and no complete answer came: its tokens may have been charged."""


class RateLimitError(TransientModelError):
    """A model was asked too often."""


class ModelUnreachableError(TransientModelError):
    """No connection to a model's endpoint could be made."""


class ModelOutputError(ModelError):
    """A model's answer cannot be used.

    Attributes:
        kind: What is wrong: `empty`, `truncated`, `repeating`, `refused`, `filtered`,
            `malformed` (no JSON), `invalid` (JSON of another form), `language`, `uncited`;
            `too long` if the endpoint refuses the prompt for its length.
        answer: The answer, as far as it came.
    """

    def __init__(self, message: str, *, kind: str, answer: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.answer = answer


class IngestionError(KgragError):
    """A document cannot be ingested."""


class UnsupportedFormatError(IngestionError):
    """No loader for this kind of file."""


class GarbledTextError(KgragError, ValueError):
    """A text was damaged before it arrived: it has lone surrogates, or ? for its characters."""


class OutOfRangeError(KgragError, ValueError):
    """A question is too long, or a number is outside what is allowed."""


class BusyError(KgragError):
    """A server has as many requests as it can work on; a later one may be answered."""


class NotFoundError(KgragError):
    """A document, entity or chunk does not exist.

    Attributes:
        name: What was asked for; empty if nothing could stand in its place.
        nearest: Names there are that may be meant, the likeliest first.
    """

    def __init__(
        self, text: str, /, *, name: str = "", nearest: Sequence[str] = (), **values: object
    ) -> None:
        super().__init__(text, **values)
        self.name, self.nearest = name, tuple(nearest)


class EvaluationError(KgragError):
    """A query or run file is malformed."""


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Turn a failed import into an error that names the extra to install.

    Args:
        extra: Its name in pyproject.toml.
        what: What the packages are for; begins the message.

    Raises:
        MissingDependencyError: If an import fails.
    """
    try:
        yield
    except ImportError as exc:
        raise MissingDependencyError(
            f"{what} needs packages that are not installed ({exc}). "
            f"Remedy: pip install 'kgrag[{extra}]'"
        ) from exc
