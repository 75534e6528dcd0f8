"""The process that reads files: takes tasks from standard input until that is closed.

It is started by `kgrag.ingestion.workers.worker`, and is killed with its parent, together with
its own children, when the lifeline pipe is closed.
"""

import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from kgrag.errors import KgragError
from kgrag.ingestion.load import context
from kgrag.ingestion.workers.frames import read_frame, write_frame
from kgrag.ingestion.workers.task import Setting, Task, made_of

_GRACE_S = 5  # after the time limit, the process ends itself: nobody may be there to end it
_F_SETSIG = 10  # Linux: which signal tells of a closed pipe
_KEPT = 3  # of the memory limit, the share (1/n) that a process may hold between two files


def main() -> None:
    """Answer tasks until there are none."""
    tasks, answers = _own_pipes()
    _end_with_parent()
    setting, seconds, memory_mb, level = read_frame(tasks)
    process = _Process(tasks, answers, setting, seconds)
    logging.basicConfig(level=level, handlers=[_Forward(process)], force=True)
    _bound_memory(memory_mb << 20)
    context.listen(process.page_done)
    process.tell("ready", None)
    with suppress(EOFError, OSError):
        process.serve(memory_mb << 20)


class _Process:
    """Receives tasks and sends answers.

    Answers are pairs: `ready`; `page`, which is done of how many; `log`, a record; `made`, the
    result and whether this process continues; `error`, an exception that is not the file's;
    `memory`, over the limit.
    """

    def __init__(
        self, tasks: BinaryIO, answers: BinaryIO, setting: Setting, seconds: float
    ) -> None:
        self._tasks, self._answers = tasks, answers
        self._setting, self._seconds = setting, seconds
        self._lock = threading.Lock()

    def serve(self, most_bytes: int) -> None:
        """Answer tasks until there are none, or memory grows too large.

        Args:
            most_bytes: The memory limit.
        """
        while isinstance(task := read_frame(self._tasks), Task):
            _alarm_in(self._seconds + _GRACE_S)
            try:
                made = made_of(task, self._setting)
                goes_on = _held_bytes() < most_bytes // _KEPT
                _alarm_in(0)
                self.tell("made", (made, goes_on))
            except MemoryError:
                made = None
                self.tell("memory", None)
                return
            except KgragError as exc:
                _alarm_in(0)
                self.tell("error", exc)
                return
            if not goes_on:
                return

    def page_done(self, *page: int) -> None:
        """Restart the time limit, and tell of the page."""
        _alarm_in(self._seconds + _GRACE_S)
        self.tell("page", page)

    def tell(self, kind: str, what: object) -> None:
        """Send an answer."""
        with self._lock:
            write_frame(self._answers, (kind, what))


class _Forward(logging.Handler):
    """Forwards log records to the parent."""

    def __init__(self, process: _Process) -> None:
        super().__init__()
        self._process = process

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            text = self.format(record)  # with the traceback, which does not travel otherwise
            self._process.tell("log", (record.name, record.levelno, text))


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes of tasks and answers, moved away from standard input and output."""
    tasks, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(tasks, "rb"), os.fdopen(answers, "wb")


def _end_with_parent() -> None:
    """Have this process and its children killed when the parent is gone.

    A library may hold the interpreter for minutes, so on Linux the kernel sends the signal.
    Elsewhere a thread does, or at the latest the alarm of the time limit.
    """
    if len(sys.argv) < 2:  # Windows passes no pipes on: reading tasks ends there
        return
    lifeline = int(sys.argv[1])

    def wait() -> None:
        os.read(lifeline, 1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
            fcntl.fcntl(lifeline, _F_SETSIG, signal.SIGKILL)
            flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
            fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)


def _alarm_in(seconds: float) -> None:
    """Have the system end this process after so many seconds; 0 cancels it."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _bound_memory(most_bytes: int) -> None:
    """Limit the memory of this process and its children; Linux only.

    Writable memory counts, not reserved address space.
    """
    if sys.platform != "linux":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most_bytes = min(most_bytes, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))


def _held_bytes() -> int:
    """Return the resident memory of this process; 0 if unknown."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - asked after every file
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
