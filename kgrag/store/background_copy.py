"""A copy of a server's knowledge base for a process that goes on asking, gone with the process.

The server answers until the copy is like it, and again while the copy catches up: nobody waits
for it, and no older state ever answers.
"""

import atexit
import logging
import math
import secrets
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from kgrag.errors import StoreError
from kgrag.store.local_copy import LocalCopy
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.store.whole import CopiedStore, ServerState

_LOCK = ".lock"  # beside its folder; held as long as the process lives

logger = logging.getLogger(__name__)

FIRST = 10  # questions that the server answers before a copy is begun: most processes ask one
MOST_CHUNKS = 200_000  # of all sizes; more would be copied for minutes
_NOTED = 32  # documents between two looks at whether the process ends


class _EndedError(Exception):
    """The process ends."""


class BackgroundCopy:
    """What answers instead of a server once it is there."""

    def __init__(
        self, server: CopiedStore, parent: Path, warm: Callable[[SQLiteStore], None]
    ) -> None:
        """Begin nothing yet.

        Args:
            server: What is copied.
            parent: Of the folders of all processes; it may not exist yet.
            warm: Makes the copy quick to ask, say by indexing words, a few documents at a time.
        """
        self._server = server
        self._parent = parent
        self._warm = warm
        self._asked = 0
        self._from: float = FIRST
        self._has_answered = False
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._folder: ProcessFolder | None = None
        self._copy: LocalCopy | None = None

    def current(self) -> SQLiteStore | None:
        """Return the copy if it is like the server is now; None: ask the server.

        It costs one round trip where there is a copy, nothing where there is none.

        Raises:
            StoreError: If the server cannot be asked.
        """
        with self._lock:
            self._asked += 1
            if self._asked <= self._from or self._is_working():
                return None
        state = self._server.state()
        with self._lock:
            if self._ending.is_set() or self._is_working():
                return None
            here = self._copy.at_hand(state) if self._copy else None
            self._has_answered |= here is not None
            if here is None and state.can_be_copied:
                self._begin(state)
            return here

    def close(self) -> None:
        """End the copying, and delete what was copied."""
        atexit.unregister(self.close)
        self._ending.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread:
            thread.join()
        self._discard()

    def _discard(self) -> None:
        """Delete what was copied: half a copy helps nobody, and may be what fills the disk."""
        if self._copy:
            self._copy.close()
        if self._folder:
            self._folder.delete()
        self._copy = self._folder = None

    def wait(self) -> None:
        """Wait until nothing is being copied."""
        thread = self._thread
        if thread:
            thread.join()

    def _is_working(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _begin(self, state: ServerState) -> None:
        atexit.register(self.close)
        self._thread = threading.Thread(
            target=self._make, args=(state,), name="kgrag-copy", daemon=True
        )
        self._thread.start()

    def _make(self, state: ServerState) -> None:
        try:
            if not self._is_small():
                self._from = math.inf
            elif self._opened().like(state) is None:
                self._later()
        except _EndedError:
            pass
        # RuntimeError: no thread can be begun in a process that ends.
        except (OSError, StoreError, Timeout, RuntimeError) as exc:
            logger.info("%s: no copy of the knowledge base: %s", self._parent, exc)
            self._later()
            if not self._has_answered:  # else a question may be under way there
                self._discard()

    def _is_small(self) -> bool:
        return sum(self._server.counts().chunks.values()) <= MOST_CHUNKS

    def _later(self) -> None:
        """Try again after as many questions as there were: no question pays for it twice."""
        self._from = 2 * self._asked

    def _opened(self) -> LocalCopy:
        if self._copy is None:
            self._folder = self._folder or ProcessFolder(self._parent)
            self._copy = LocalCopy(
                self._server,
                self._folder.path,
                noted=_NOTED,
                after_noting=self._noted,
                told_as=logging.INFO,  # nobody waits for it
            )
        return self._copy

    def _noted(self, store: SQLiteStore) -> None:
        if self._ending.is_set():
            raise _EndedError
        self._warm(store)


class ProcessFolder:
    """A new folder, closed to other users."""

    def __init__(self, parent: Path) -> None:
        """Make it, and delete those of processes that were killed.

        Args:
            parent: A folder of such folders alone; it may not exist yet.

        Raises:
            OSError: If it cannot be made.
        """
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for lock in parent.glob(f"*{_LOCK}"):
            _delete_if_left(lock)
        name = secrets.token_hex(8)
        self._lock = FileLock(parent / f"{name}{_LOCK}")
        self._lock.acquire(timeout=0)
        self.path = parent / name
        self.path.mkdir(mode=0o700)

    def delete(self) -> None:
        """Delete it with its content, as far as possible."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()
        with suppress(OSError):
            Path(self._lock.lock_file).unlink()


def _delete_if_left(lock: Path) -> None:
    with suppress(Timeout, OSError), FileLock(lock, timeout=0):
        shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
        lock.unlink(missing_ok=True)
