"""Atomic writes."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write lines, without their ends, atomically in UTF-8 with line feeds."""
    with written_whole(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write bytes atomically: an old file is replaced at the end.

    What is not a regular file, such as a pipe, is written directly.

    Raises:
        OSError: If it cannot be written; no partial file remains.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    target = path.resolve()  # a link stays one
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            yield file
        if target.exists():
            shutil.copymode(target, partial)
        partial.replace(target)
    except BaseException as exc:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(exc, OSError) and exc.filename == str(partial):
            exc.filename = str(path)  # nobody knows the other name
        raise
