"""What becomes of a command that ends early: by Ctrl-C, by the system (SIGTERM), by a failure."""

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING

from kgrag.cli_print import echo
from kgrag.cli_shared import amount
from kgrag.errors import KgragError, StoreError, StoreUnavailableError

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase

_GO_ON: Mapping[str, str] = MappingProxyType(
    {
        "ingest": "what models answered is kept: run it again to go on",
        "reembed": "the old vectors answer, what is encoded is kept: run it again to go on",
        "copy": "each document that was copied is whole: run it again to go on",
        "import-facts": "what was imported is whole: run it again to go on",
        "import-summaries": "what was imported is whole: run it again to go on",
        "models": "no model was changed: run it again",
    }
)


class Terminated(KeyboardInterrupt):
    """The system asked for an end (SIGTERM): it comes about as after Ctrl-C."""


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Raise Terminated for the first SIGTERM inside; a second one ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated


def exit_code(cause: BaseException | None) -> int:
    """Return the exit code of who was ended by a signal: 128 and its number."""
    ended_by = signal.SIGTERM if isinstance(cause, Terminated) else signal.SIGINT
    return 128 + ended_by


def say_stopped(command: str | None) -> None:
    """Say that a command was stopped, and how it goes on where it wrote something."""
    more = _GO_ON.get(command or "")
    echo(f"kgrag: stopped; {more}" if more else "kgrag: stopped", err=True)


@contextmanager
def telling_what_is_stored(base: "KnowledgeBase") -> Iterator[None]:
    """Say how many documents are stored where a command that stores them ends early."""
    try:
        yield
    except StoreUnavailableError:
        raise  # nor can be asked what it holds
    except (StoreError, KeyboardInterrupt, MemoryError, OSError):
        with suppress(KgragError, MemoryError, OSError):
            stored = amount(base.counts().documents, "document")
            echo(f"stored, each whole: {stored}; the rest when you run it again", err=True)
        raise
