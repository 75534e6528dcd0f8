"""A process that reads files, as its parent sees it."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, cast

from kgrag.config import IngestConfig
from kgrag.errors import IngestionError
from kgrag.ingestion.load import Failure
from kgrag.ingestion.load.context import Pages
from kgrag.ingestion.workers.frames import read_frame, write_frame
from kgrag.ingestion.workers.task import Made, Setting, Task
from kgrag.text.messages import message

_START_S = 120  # a process that takes longer than that to begin is not coming
_CLOSE_S = 10  # to be gone after it was killed
# What is imported is what is imported here, from where it is: also what a plugin brings.
_BEGIN = (
    "import json,sys;sys.path[:]=json.loads(open(0,'rb',0,closefd=False).readline());"
    "from kgrag.ingestion.workers.process import main;main()"
)


class Worker:
    """A process that reads files one by one. It can be killed from another thread."""

    def __init__(self, setting: Setting, limits: IngestConfig) -> None:
        """Start it.

        Raises:
            IngestionError: If it cannot be started.
        """
        self._limits = limits
        self._is_late = False
        self._goes_on = True
        self._process, self._lifeline = _started()
        settings = (setting, limits.parse_seconds, limits.parse_memory_mb, _log_level())
        answer = None
        with suppress(OSError, EOFError):
            self._send(json.dumps(sys.path).encode() + b"\n")
            self._send(settings)
            answer = self._answer(_START_S)
        if answer is None:
            self.end()
            code = self._process.returncode
            raise IngestionError(
                "files are read in a process of their own, and {executable!r} ended with "
                "{code} before it began; allow it to start, and memory for it",
                executable=sys.executable,
                code=code,
            )

    def read(self, task: Task, told: Pages = max) -> Made:
        """Return a file's result, or a failure; `told` hears of the pages that are recognised.

        Raises:
            KgragError: For errors that are not the file's.
        """
        try:
            self._send(task)
            while True:
                answer = self._answer(self._limits.parse_seconds)
                if answer is None:
                    return self._failure(task, is_greedy=False)
                kind, what = answer
                if kind == "page":
                    told(*what)
                if kind == "made":
                    self._goes_on = what[1]
                    return cast("Made", what[0])
                if kind == "error":
                    raise what
                if kind == "memory":
                    return self._failure(task, is_greedy=True)
        except OSError:
            return self._failure(task, is_greedy=False)

    @property
    def goes_on(self) -> bool:
        """Return whether it can read another file."""
        return self._goes_on and self._process.poll() is None

    def kill(self) -> None:
        """Kill the process and its children."""
        if self._process.poll() is None:
            with suppress(OSError):
                if os.name == "posix":
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()

    def end(self) -> None:
        """Kill it, and wait."""
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None

    def _send(self, message: object) -> None:
        pipe = self._process.stdin
        if pipe is None:
            raise OSError
        if isinstance(message, bytes):
            pipe.write(message)
            pipe.flush()
        else:
            write_frame(pipe, message)

    def _answer(self, seconds: float) -> tuple[str, Any] | None:
        """Return the next answer that is not a log record; None if the process has ended."""
        pipe = self._process.stdout
        timer = threading.Timer(seconds, self._too_late)
        timer.daemon = True
        timer.start()
        try:
            while pipe is not None:
                kind, what = read_frame(pipe)
                if kind != "log":
                    return kind, what
                name, level, text = what
                logging.getLogger(name).log(level, "%s", text)
        except (EOFError, OSError):
            pass
        finally:
            timer.cancel()
        return None

    def _too_late(self) -> None:
        self._is_late = True
        self.kill()

    def _failure(self, task: Task, *, is_greedy: bool) -> Failure:
        """Return the failure of a file that ended the process."""
        self._goes_on = False
        self.end()
        seconds, memory = self._limits.parse_seconds, self._limits.parse_memory_mb
        code = self._process.returncode
        if is_greedy:
            reason = message(
                "needs more than {n:,} MB of memory to be read; raise ingest.parse_memory_mb, or "
                "split it",
                n=memory,
            )
        elif self._is_late or (os.name == "posix" and code == -signal.SIGALRM):
            said = "took more than {n:,} s; raise ingest.parse_seconds, or split it"
            reason = message(said, n=seconds)
        else:
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            reason = message(
                "ended the process that read it ({how}); it may be damaged, or need more than "
                "{n:,} MB: open it and save it again, or raise ingest.parse_memory_mb",
                how=how,
                n=memory,
            )
        return Failure(task.name, reason)


def _started() -> tuple["subprocess.Popen[bytes]", int | None]:
    """Start a process; return it and the lifeline's end (None on Windows)."""
    options = ["-X", "utf8"] if sys.flags.utf8_mode else []
    command = [sys.executable, *options, "-c", _BEGIN]
    # One file after the other is read in each: threads of numeric libraries would take turns.
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
    theirs, ours = (None, None) if os.name != "posix" else os.pipe()
    ends = () if theirs is None else (theirs,)
    try:
        process = subprocess.Popen(
            [*command, *map(str, ends)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if _log_level() <= logging.INFO else subprocess.DEVNULL,
            env=environment,
            pass_fds=ends,
            start_new_session=True,  # Ctrl-C is for us, and what it starts can be ended with it
        )
    except (OSError, ValueError) as exc:
        if ours is not None:
            os.close(ours)
        raise IngestionError(
            "files are read in a process of their own, and {executable!r} cannot be started: "
            "{error}; allow it",
            executable=sys.executable,
            error=exc,
        ) from exc
    finally:
        for end in ends:
            os.close(end)
    return process, ours


def n_workers(limits: IngestConfig) -> int:
    """Return the number of processes: as configured, else one for each processor."""
    if limits.workers:
        return limits.workers
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _log_level() -> int:
    return logging.getLogger().getEffectiveLevel()
