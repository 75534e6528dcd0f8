"""The folder of search caches: the commit that each reflects, and write locks."""

import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kgrag.store.sqlite.changes import Mark

logger = logging.getLogger(__name__)

_LOCK_TIMEOUT_S = 600.0  # another process may be building a large index
_REMOVALS = 5  # of a folder


class CacheUnwritableError(Exception):
    """The folder cannot be written; callers do without (never reaches the user)."""


@dataclass(frozen=True, slots=True)
class Note:
    """Metadata of a cache on disk."""

    mark: Mark  # the commit that it reflects
    content: Path  # its file or folder
    details: Mapping[str, object]  # further data for its reader


class CacheFolder:
    """Named caches in one folder, each with a note.

    Writing the note last makes the replacement atomic: without it there is no cache, and a crash
    only makes the next reader rebuild.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str, format_: str) -> Note | None:
        """Return a cache's note; None where there is none, or in another format."""
        try:
            note = json.loads(self._note(name).read_text(encoding="utf-8"))
            content = self.folder / str(note["content"])
            if note["format"] != format_ or not content.exists():
                return None
            mark = Mark(int(note["seq"]), str(note["stamp"]))
            return Note(mark, content, dict(note["details"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as exc:
            logger.info("search cache %s is unreadable and will be rebuilt: %s", name, exc)
            return None

    def write(self, name: str, format_: str, note: Note) -> None:
        """Make `note.content` the cache of this name, and remove the previous content."""
        text = json.dumps(
            {
                "format": format_,
                "seq": note.mark.seq,
                "stamp": note.mark.stamp,
                "content": note.content.name,
                "details": dict(note.details),
            }
        )
        new = self._note(name).with_suffix(".new")
        with new.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._note(name))
        for old in self.folder.glob(f"{name}.*"):
            if old != note.content and old.suffix not in (".json", ".lock"):
                remove(old)

    def forget(self, name: str) -> None:
        """Invalidate a cache; its content is removed by the next write."""
        with suppress(OSError):
            self._note(name).unlink()

    def fresh(self, name: str, mark: Mark) -> Path:
        """Return an unused path for new content."""
        path = self.folder / f"{name}.{mark.seq}-{mark.stamp}"
        counter = 0
        while path.exists():
            counter += 1
            path = self.folder / f"{name}.{mark.seq}-{mark.stamp}-{counter}"
        return path

    @contextmanager
    def exclusive(self, name: str) -> Iterator[None]:
        """Lock a cache against other writers, processes and threads.

        Raises:
            CacheUnwritableError: If the folder cannot be written, or the lock times out.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / f"{name}.lock", timeout=_LOCK_TIMEOUT_S)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except (OSError, Timeout) as exc:
            raise CacheUnwritableError(str(exc)) from exc
        try:
            yield
        finally:
            lock.release()

    def names(self, prefix: str) -> list[str]:
        """Return the names of caches with a prefix, in order."""
        return sorted(path.stem for path in self.folder.glob(f"{prefix}*.json"))

    def _note(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def remove(path: Path) -> None:
    """Remove a file or folder, ignoring failures.

    A folder is tried several times: tantivy's watcher of an index creates a lock file in it at any
    moment.
    """
    # On some systems a file that another process has open cannot be removed.
    with suppress(OSError):
        if not path.is_dir():
            path.unlink()
        for _ in range(_REMOVALS):
            if not path.exists():
                break
            shutil.rmtree(path, ignore_errors=True)
