"""Messages of commands that end early: stopped, or out of resources."""

import errno
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType

from kgrag.cli.chinese import told
from kgrag.cli.printing import echo
from kgrag.text.messages import Message, message

_GO_ON: Mapping[str, str] = {
    "ingest": message("what models answered is kept: run it again to go on"),
    "sync": message("what was stored is whole: run it again to go on"),
    "watch": message("what was stored is whole: run it again to go on"),
    "reembed": message("the old vectors answer, what is encoded is kept: run it again to go on"),
    "copy": message("each document that was copied is whole: run it again to go on"),
    "import-facts": message("what was imported is whole: run it again to go on"),
    "import-summaries": message("what was imported is whole: run it again to go on"),
    "drop": message("what is left cannot be opened any more: run it again to delete it"),
    "models": message("no model was changed: run it again"),
}
_ENOUGH = (
    "memory is short ({what}): end other programs, take in fewer files at once, or allow more "
    "memory; what was stored is whole: run it again to go on"
)
# Messages of libraries in C, C++ and Rust with other classes of errors, or on loading.
_ALLOCATION = re.compile(
    r"bad_alloc|cannot allocate|failed to (?:allocate|spawn)|out of memory|can't start new thread"
    r"|failed to map segment|memory allocation",
    re.IGNORECASE,
)
_FILES = re.compile(r"too many open files", re.IGNORECASE)
_MORE_FILES = message("allow more open files (ulimit -n), and run it again")
_REMEDIES = {
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), _MORE_FILES),
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
        message("free space on the disk, or allow larger files, and run it again"),
    ),
}
_OTHER = message("see to that place, or name another")


@contextmanager
def ended_by_signals() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt for the first SIGINT or SIGTERM; the second ends the process at once.

    Yields a list that gets the first one's number: libraries raise the exception anew.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came  # only the main thread handles signals
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        for again in (signal.SIGINT, signal.SIGTERM):
            signal.signal(again, lambda number, _: os._exit(128 + number))
        came.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(code: object) -> None:
    """End this process if a signal ended its command, whatever threads are running."""
    if code not in (128 + signal.SIGINT, 128 + signal.SIGTERM):
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(int(str(code)))


def print_stopped(command: str | None) -> None:
    """Print that a command was stopped, and how to continue if it wrote something."""
    more = _GO_ON.get(command or "")
    echo(told("kgrag: stopped; {more}", more=more) if more else told("kgrag: stopped"), err=True)


def shortage(exc: BaseException) -> Message | None:
    """Return the message for an error due to a lack of resources; None for any other.

    >>> shortage(OSError(28, "No space left on device", "x"))
    'x: No space left on device: free space on the disk, or allow larger files, and run it again'
    >>> shortage(KeyError("a")) is None
    True
    """
    if isinstance(exc, MemoryError):
        return message(_ENOUGH, what=str(exc) or "MemoryError")
    if isinstance(exc, OSError) and exc.errno is not None:
        if exc.errno == errno.ENOMEM:
            return message(_ENOUGH, what=exc.strerror)
        remedy = _REMEDIES.get(exc.errno, _OTHER)
        if exc.filename:
            said = "{file}: {error}: {remedy}"
            return message(said, file=exc.filename, error=exc.strerror, remedy=remedy)
        return message("{error}: {remedy}", error=exc.strerror, remedy=remedy)
    said = str(exc)
    if _FILES.search(said):
        return message("{error}: {remedy}", error=said, remedy=_MORE_FILES)
    return message(_ENOUGH, what=said) if _ALLOCATION.search(said) else None
