"""Convert errors of SQLite and the file system to kgrag's errors, with a remedy."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgrag.errors import StoreError, StoreUnavailableError

_WRITTEN: tuple[type[StoreError], str] = (
    StoreUnavailableError,
    "another process is writing to it: wait for it to end, then try again",
)
# By prefix of SQLite's error name: our class, and the remedy.
_REMEDIES: dict[str, tuple[type[StoreError], str]] = {
    "SQLITE_BUSY": _WRITTEN,
    "SQLITE_LOCKED": _WRITTEN,
    "SQLITE_CANTOPEN": (
        StoreUnavailableError,
        "check that the folder exists and that you may read and write it",
    ),
    "SQLITE_PERM": (StoreUnavailableError, "check that you may read and write the folder"),
    "SQLITE_READONLY": (
        StoreUnavailableError,
        "check that you may write the folder, and that its disk has space",
    ),
    "SQLITE_NOTADB": (
        StoreUnavailableError,
        "it is not a knowledge base: name another folder, or move the file away; if it was one, "
        "run `kgrag repair`",
    ),
    "SQLITE_FULL": (StoreError, "free space on the disk and try again; nothing was half written"),
    "SQLITE_IOERR": (StoreError, "check the disk and its free space, then try again"),
    "SQLITE_CORRUPT": (StoreError, "run `kgrag repair`, or restore the folder from a backup"),
    "SQLITE_CONSTRAINT": (
        StoreError,
        "what was given contradicts itself or names what is not held; nothing was stored",
    ),
}
_OTHER = (StoreError, "run `kgrag verify` on the knowledge base")


# SQLite's errors of the system; all others mean damaged data.
_OF_THE_SYSTEM = (
    *("BUSY", "LOCKED", "CANTOPEN", "PERM", "READONLY", "FULL", "IOERR", "NOMEM", "INTERRUPT"),
    *("PROTOCOL", "AUTH"),
)


def is_damage(exc: BaseException) -> bool:
    """Return whether an error while reading rows means damaged data.

    Damaged values also raise Python errors: invalid UTF-8, a number in place of a text.
    """
    name = getattr(exc, "sqlite_errorname", "").removeprefix("SQLITE_")
    return not name.startswith(_OF_THE_SYSTEM)


@contextmanager
def mapped(file: Path) -> Iterator[None]:
    """Raise StoreError or StoreUnavailableError for errors with `file` in the block."""
    try:
        yield
    except sqlite3.Error as exc:
        raise store_error(file, exc) from exc
    except json.JSONDecodeError as exc:
        raise StoreError(
            f"{file} is damaged: a list in it cannot be read ({exc}): run `kgrag repair`"
        ) from exc
    except UnicodeEncodeError as exc:
        raise StoreError(
            f"{file}: a text holds half a character ({exc.reason}, offset {exc.start}): "
            "save its file as UTF-8 and try again"
        ) from exc


def store_error(file: Path, exc: sqlite3.Error) -> StoreError:
    """Return the error to raise for an error of SQLite."""
    name = getattr(exc, "sqlite_errorname", "")
    kind, remedy = next((v for k, v in _REMEDIES.items() if name.startswith(k)), _OTHER)
    return kind(f"{file}: {exc}: {remedy}")
