"""The cache folder: models, vectors, copies; and files that only their owner may read."""

import os
import stat
from contextlib import suppress
from pathlib import Path

import platformdirs

from kgrag.errors import ModelError


def cache_folder() -> Path:
    """Return the user's cache folder of kgrag; it may not exist yet.

    It is `$KGRAG_CACHE`, or `kgrag` in the platform's cache folder: `$XDG_CACHE_HOME` or
    `~/.cache`, `~/Library/Caches`, `%LOCALAPPDATA%`.

    Raises:
        ModelError: If the user has no home folder and `$KGRAG_CACHE` is not set.
    """
    if chosen := os.environ.get("KGRAG_CACHE"):
        return Path(chosen)
    try:
        # without `opinion`, Windows has no folder Cache below it
        return platformdirs.user_cache_path("kgrag", appauthor=False, opinion=False)
    except (OSError, RuntimeError, ValueError) as exc:  # the last two of Windows
        raise ModelError(
            f"there is no place for models and caches: {exc}. Remedy: set KGRAG_CACHE to a folder"
        ) from exc


_OWNER = 0o600
_BESIDE = ("", "-wal", "-shm", "-journal")  # SQLite gives new ones the rights of the database


def make_private(file: Path) -> None:
    """Create a file with permissions for the owner only, or restrict an existing one.

    Files that SQLite keeps beside it are restricted, too; a missing folder is created with the same
    permissions. A file of another user is unchanged. On Windows the folder's permissions apply.

    Args:
        file: An SQLite database. An existing one is not opened: closing it would release this
            process's locks on it.

    Raises:
        OSError: If it, or its folder, cannot be created.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER))
    if os.name != "posix":
        return
    for ending in _BESIDE:
        path = file.with_name(file.name + ending)
        with suppress(OSError):  # not there, or another user's
            mode = path.stat().st_mode
            if stat.S_ISREG(mode) and mode & 0o077:
                path.chmod(_OWNER)
