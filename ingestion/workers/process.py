"""The process that reads files: takes tasks from its standard input until that is closed.

It is started by `kgrag.ingestion.workers.worker`, and ends with the process that did, however
that ends: the system kills it, and what it has started, once the lifeline is closed.
"""

import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from kgrag.errors import KgragError
from kgrag.ingestion.load import progress
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
    progress.listen(process.page_done)
    process.tell("ready", None)
    with suppress(EOFError, OSError):
        process.serve(memory_mb << 20)


class _Process:
    """Takes tasks and answers them.

    Answers are pairs: `ready`; `page`, one is done; `log`, a record; `made`, of what was asked,
    and whether this process goes on; `error`, an exception that is no matter of the file;
    `memory`, it needs more than is allowed.
    """

    def __init__(
        self, tasks: BinaryIO, answers: BinaryIO, setting: Setting, seconds: float
    ) -> None:
        self._tasks, self._answers = tasks, answers
        self._setting, self._seconds = setting, seconds
        self._lock = threading.Lock()

    def serve(self, most_bytes: int) -> None:
        """Answer tasks until there are none, or too much memory is held.

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

    def page_done(self) -> None:
        """Tell that the time limit counts anew."""
        _alarm_in(self._seconds + _GRACE_S)
        self.tell("page", None)

    def tell(self, kind: str, what: object) -> None:
        """Write an answer."""
        with self._lock:
            write_frame(self._answers, (kind, what))


class _Forward(logging.Handler):
    """Passes log records on to the process that started this one."""

    def __init__(self, process: _Process) -> None:
        super().__init__()
        self._process = process

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            text = self.format(record)  # with the traceback, which does not travel otherwise
            self._process.tell("log", (record.name, record.levelno, text))


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes of tasks and answers, out of the way of libraries that read or print."""
    tasks, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(tasks, "rb"), os.fdopen(answers, "wb")


def _end_with_parent() -> None:
    """Have this process, and those that it starts, killed once the one that started it is gone.

    A library may hold Python back for minutes, so on Linux the system sees to it. Elsewhere a
    thread does, as soon as it has its turn, and the alarm of the time limit in any case.
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
    """Have the system end this process after so many seconds; 0 calls it off."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _bound_memory(most_bytes: int) -> None:
    """Refuse this process, and each that it starts, more memory than that; on Linux only.

    What counts is what can be written to, not what is only reserved, as numeric libraries do.
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
    """Return the memory that this process holds; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - asked after every file
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
