"""Folders that are gone with the process that made them, even if it was killed."""

import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

_LOCK = ".lock"  # beside its folder; held as long as the process lives


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
        """Delete it with all that it holds, as far as that can be done."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()
        with suppress(OSError):
            Path(self._lock.lock_file).unlink()


def _delete_if_left(lock: Path) -> None:
    with suppress(Timeout, OSError), FileLock(lock, timeout=0):
        shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
        lock.unlink(missing_ok=True)
