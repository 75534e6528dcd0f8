"""The command line as faults run it: a process of its own, ended where it does not end."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

KGRAG = (sys.executable, "-c", "from kgrag.cli.main import main; main()")
LIMIT_S = 120.0  # a command of these sizes takes seconds


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left.

    Attributes:
        code: Exit code; negative where a signal ended it.
        out: Standard output.
        err: Standard error.
        hung: Whether it had to be ended.
    """

    code: int
    out: str
    err: str
    hung: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with settings that need no model.

    Attributes:
        folder: Holds the settings; made where it is not there.
        program: The command line.
    """

    folder: Path
    program: tuple[str, ...] = KGRAG

    def start(
        self,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> "subprocess.Popen[bytes]":
        """Begin a command.

        Args:
            words: The command and its options.
            env: More of the environment.
            before: Called in the new process, for limits.
        """
        return subprocess.Popen(
            [*self.program, "--config", str(self.settings()), *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **(env or {})},
            preexec_fn=before,
            start_new_session=True,
        )

    def run(
        self,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
        limit_s: float = LIMIT_S,
    ) -> Done:
        """Run a command to its end, or to the limit."""
        return ended(self.start(*words, env=env, before=before), limit_s=limit_s)

    def settings(self) -> Path:
        """Return the file of settings."""
        file = self.folder / "kgrag.toml"
        if not file.is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            file.write_text('[embedding]\nmodel = "hash"\n', "utf-8")
        return file


def ended(process: "subprocess.Popen[bytes]", *, limit_s: float = LIMIT_S) -> Done:
    """Return what a command left; it is ended, with all it started, where time is up."""
    hung = False
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        hung = True
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    return Done(
        process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), hung
    )
