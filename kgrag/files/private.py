"""Files that nobody but their owner may read: what models were asked and answered."""

import os
import stat
from contextlib import suppress
from pathlib import Path

_OWNER = 0o600
_BESIDE = ("", "-wal", "-shm", "-journal")  # SQLite gives new ones the rights of the database


def make_private(file: Path) -> None:
    """Make a file that only its owner may read and write, or take the others' rights away.

    What SQLite keeps beside it is closed to them, too. A folder that is missing is made for the
    owner alone. A file of another user stays as it is. Windows has no such rights: there the
    folder's hold.

    Args:
        file: A database of SQLite. An existing one is not opened: closing it would end the locks
            that this process has on it.

    Raises:
        OSError: If it, or its folder, cannot be made.
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
