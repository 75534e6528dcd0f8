"""Writing a file that is there whole, or not at all."""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, in UTF-8; an old file stays until all is written.

    What is no regular file, like a pipe, is written to as it is.

    Args:
        path: The file.
        lines: Without their ends.

    Raises:
        OSError: If it cannot be written; nothing half-written is left.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
        return
    target = path.resolve()  # a link stays one
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
        if target.exists():
            shutil.copymode(target, partial)
        partial.replace(target)
    except BaseException as exc:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(exc, OSError) and exc.filename == str(partial):
            exc.filename = str(path)  # nobody knows the other name
        raise
