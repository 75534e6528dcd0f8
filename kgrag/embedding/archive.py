"""Unpacking a model's archive: a zip, jar or wheel, whoever made it."""

import contextlib
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from kgrag.errors import ModelError

_MAX_BYTES = 8 * 1024**3  # unpacked
_MAX_FILES = 10_000  # those of a model are a few dozen
# Weights hardly shrink, a tokenizer to a tenth; deflate packs zeros a thousandfold.
_MAX_SHRUNK = 100
_MAY_SHRINK = 16 * 1024**2  # bytes that may be of zeros
# bzip2 and LZMA pack a disk of zeros into some kilobytes, and LZMA asks for gigabytes of memory.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MAX_LISTING = 16 * 1024**2  # bytes of the list of files, which is read into memory
_END = b"PK\x05\x06"
_END_BYTES = 22 + 65_535  # of the record at the end, and the longest remark behind it


@contextlib.contextmanager
def unpacked(path: Path, target: Path) -> Iterator[Path]:
    """Yield a folder as it is; of an archive, one that holds its files until the end.

    Args:
        path: A folder, or a `.zip`, `.jar` or `.whl`.
        target: Where an archive is unpacked; must not exist.

    Raises:
        ModelError: If the path cannot be read, or is too much.
    """
    if path.is_dir():
        yield path
        return
    try:
        try:
            _check_listing(path)
            with zipfile.ZipFile(path) as archive:
                _check(path, archive.infolist(), target)
                # no member gives more than it says, none leaves the folder, and a link is
                # written as a file: zipfile sees to it
                archive.extractall(target)
        # zipfile raises the others for encrypted members, unknown compression and damage
        except (
            *(OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError),
            *(zlib.error, struct.error, EOFError, ValueError),
        ) as exc:
            raise ModelError(
                f"cannot read a model from {path}: {exc}. Remedy: give a folder, .zip or .jar "
                "with the model and its tokenizer.json; --file chooses among several models"
            ) from exc
        yield target
    finally:
        shutil.rmtree(target, ignore_errors=True)


def _check_listing(path: Path) -> None:
    """Refuse a list of files that would not fit into memory, before it is read."""
    if not path.is_file():
        raise ValueError("it is no file" if path.exists() else "there is no such file")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _END_BYTES))
        end = file.read()
    at = end.rfind(_END)
    if at >= 0 and len(end) >= at + 16:
        (size,) = struct.unpack_from("<I", end, at + 12)
        if size > _MAX_LISTING:
            raise ModelError(f"{path} lists more files than a model has; {_REMEDY}")


_REMEDY = "unpack it yourself and give the folder, if you trust it"


def _check(path: Path, members: list[zipfile.ZipInfo], target: Path) -> None:
    """Refuse what would fill the disk.

    Raises:
        ModelError: If so.
    """
    if len(members) > _MAX_FILES:
        raise ModelError(f"{path} holds {len(members)} files, more than a model has; {_REMEDY}")
    for member in members:
        if member.compress_type not in _METHODS:
            raise zipfile.BadZipFile(f"{member.filename!r} is packed in a way other than deflate")
        shrunk = member.file_size / max(1, member.compress_size)
        if member.file_size > _MAY_SHRINK and shrunk > _MAX_SHRUNK:
            raise ModelError(
                f"{path} would unpack {member.compress_size} bytes of {member.filename!r} to "
                f"{member.file_size}, as no model does; {_REMEDY}"
            )
    size = sum(member.file_size for member in members)
    if size > _MAX_BYTES:
        raise ModelError(f"{path} would unpack to more than {_MAX_BYTES} bytes; {_REMEDY}")
    check_room(size, target.parent)


def check_room(size: int, folder: Path) -> None:
    """Refuse to write so many bytes to a disk that lacks them.

    Raises:
        ModelError: If it does.
    """
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ModelError(
            f"the model needs {size:,} bytes in {folder}, where {free:,} are free. Remedy: free "
            "space, or set KGRAG_CACHE to a folder on another disk"
        )
