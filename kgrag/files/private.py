"""Files that only their owner can read: prompts and answers of models."""

import os
import stat
from contextlib import suppress
from pathlib import Path

_OWNER = 0o600
_BESIDE = ("", "-wal", "-shm", "-journal")  # SQLite gives new ones the rights of the database


def make_private(file: Path) -> None:
    """Create a file that only its owner can read and write, or restrict an existing one.

    SQLite's companion files are restricted, too. A missing folder is created for the owner only. A
    file of another user is unchanged. On Windows the folder's rights apply.

    Args:
        file: A database of SQLite. An existing one is not opened: closing it would release the
            locks of this process.

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
