"""Open a file to be read: a regular one, and where it was looked for."""

import os
import stat
from io import BufferedReader
from pathlib import Path

from kgrag.errors import IngestionError
from kgrag.text.visible import shown_path

# A pipe that took the file's place since it was found must not be waited for.
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


def open_regular(path: Path, *, within: Path | None = None) -> BufferedReader:
    """Return an open file, once it is seen to be what was to be read.

    What lies under a name may change between looking and opening, so the open file itself is
    asked where it is.

    Args:
        path: The file.
        within: Real path of the folder that it must lie in; None for any place.

    Raises:
        IngestionError: If it is no regular file, or a link has come to lead out of the folder.
        OSError: If it cannot be opened.
    """
    file = open(os.open(path, _FLAGS), "rb")  # noqa: PTH123, SIM115 - opened with flags
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise IngestionError(f"{shown_path(path)}: is not a regular file")
        if within is not None and not _place_of(file, path).is_relative_to(within):
            raise IngestionError(
                f"{shown_path(path)}: is a link out of the folder by now; "
                "--follow-links reads such files"
            )
    except BaseException:
        file.close()
        raise
    return file


def _place_of(file: BufferedReader, path: Path) -> Path:
    """Return where an open file really lies, as far as the system tells."""
    try:
        return Path(os.readlink(f"/proc/self/fd/{file.fileno()}"))  # noqa: PTH115 - no real path
    except OSError:  # not Linux
        real = Path(os.path.realpath(path))
        is_same = os.path.samestat(os.fstat(file.fileno()), real.lstat())
        return real if is_same else Path()
