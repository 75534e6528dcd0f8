"""The folder of search caches: what each reflects, and who may write it."""

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


class CacheUnwritableError(Exception):
    """The folder may not be written; the caller does without (never reaches the user)."""


@dataclass(frozen=True, slots=True)
class Note:
    """What stands beside a cache on the disk.

    Attributes:
        mark: The commit that it reflects.
        content: File or folder that holds it.
        details: What its reader needs to know besides.
    """

    mark: Mark
    content: Path
    details: Mapping[str, object]


class CacheFolder:
    """Named caches below one folder, each with its note.

    A cache is what its note names: writing the note last makes a half-written cache as good as
    none, and a crash between content and note only makes the next reader do the work again.
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
        """Make `note.content` the cache of this name, and remove what was before."""
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
        """Let there be no cache of this name; its content goes when the next is written."""
        with suppress(OSError):
            self._note(name).unlink()

    def fresh(self, name: str, mark: Mark) -> Path:
        """Return a path for new content, with nothing there yet."""
        path = self.folder / f"{name}.{mark.seq}-{mark.stamp}"
        counter = 0
        while path.exists():
            counter += 1
            path = self.folder / f"{name}.{mark.seq}-{mark.stamp}-{counter}"
        return path

    @contextmanager
    def exclusive(self, name: str) -> Iterator[None]:
        """Hold off other processes (and threads) that would write the same cache.

        Raises:
            CacheUnwritableError: If the folder may not be written, or another process holds on.
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
        """Return the names of the caches that begin so, in order."""
        return sorted(path.stem for path in self.folder.glob(f"{prefix}*.json"))

    def _note(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def remove(path: Path) -> None:
    """Remove a file or folder; leave it where that cannot be."""
    # A process that still reads it keeps it open; on some systems it cannot go before that.
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
