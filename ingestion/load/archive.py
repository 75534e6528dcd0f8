"""Members of zip archives as files of their own: `archive.zip!/folder/plan.docx`."""

import os
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

from kgrag.errors import IngestionError
from kgrag.ingestion.load.word.package import check_directory
from kgrag.text.messages import message
from kgrag.text.visible import shown_path

_MARK = re.compile(r"(?<=\.zip)!(?=[/\\])", re.IGNORECASE)
_MOST_MEMBERS = 2_000
MOST_BYTES = 2_000_000_000
_FEW_BYTES, _MOST_TIMES = 50_000_000, 100  # beyond both, what it unpacks to is a bomb
_TAIL = 70_000  # bytes: the end of the list of members, with the longest comment
_ODD_NAME = message("its name leads out of the archive; pack it again")
_LOCKED = message("is locked with a password; unpack it, and take in what comes of it")


def archive_of_member(path: Path | str) -> tuple[Path, str]:
    """Return the archive that a path leads into and the member's name; "" for any other path.

    >>> archive_of_member("/a/b.zip!/c/d.docx")
    (PosixPath('/a/b.zip'), 'c/d.docx')
    """
    archive, *inside = _MARK.split(str(path), maxsplit=1)
    return Path(archive), "".join(inside).replace("\\", "/").lstrip("/")


def members(file: IO[bytes], name: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each file in an archive that is not hidden, and why it cannot be read.

    Names are UTF-8 or GBK, of whichever the writer told or not. Links are not followed.

    Raises:
        IngestionError: It is no zip archive, or has more in it than is unpacked.
    """
    with _opened(file, name) as archive:
        found = archive.infolist()
        n_bytes, n_packed = sum(info.file_size for info in found), file.seek(0, os.SEEK_END)
        is_bomb = n_bytes > max(_FEW_BYTES, n_packed * _MOST_TIMES) or n_bytes > MOST_BYTES
        if len(found) > _MOST_MEMBERS or is_bomb:
            said = (
                "{name}: has {n:,} members of {n_bytes:,} bytes in all, too many; unpack it first"
            )
            raise IngestionError(said, name=name, n=len(found), n_bytes=n_bytes)
        seen: set[str] = set()
        for info in found:
            member = _name(info)
            parts = member.split("/")
            if info.is_dir() or any(p.startswith((".", "~$")) and p != ".." for p in parts):
                continue
            why = message("another member has this name; rename one") if member in seen else ""
            seen.add(member)
            if stat.S_ISLNK(info.external_attr >> 16):
                why = message("is a link, which is not followed in an archive")
            elif info.flag_bits & 1:
                why = _LOCKED
            elif {"", ".."} & set(parts) or ":" in parts[0]:
                why, member = _ODD_NAME, member.lstrip("/")
            yield member, why


def open_member(file: IO[bytes], path: Path, max_bytes: int | None) -> BufferedReader:
    """Return a member of an open archive, unpacked into a file without a name.

    Raises:
        FileNotFoundError: The archive has no such member.
        IngestionError: It is damaged or too large.
    """
    name, (_, member) = shown_path(path), archive_of_member(path)
    most = MOST_BYTES if max_bytes is None else max_bytes
    with _opened(file, name) as archive:
        info = next((info for info in archive.infolist() if _name(info) == member), None)
        if info is None:
            raise FileNotFoundError(2, os.strerror(2), name)
        if info.file_size > most:
            said = "{name}: unpacks to {n:,} bytes; raise ingest.max_file_mb, or split it"
            raise IngestionError(said, name=name, n=info.file_size)
        with ExitStack() as stack, archive.open(info) as packed:
            unpacked = stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(packed, unpacked)
            unpacked.seek(0)
            stack.pop_all()
            return cast("BufferedReader", unpacked)


@contextmanager
def _opened(file: IO[bytes], name: str) -> Iterator[zipfile.ZipFile]:
    try:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        check_directory(file.read(), name)
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as exc:
        said = "{name}: cannot be unpacked ({error}); pack it again as a plain .zip"
        raise IngestionError(said, name=name, error=exc) from exc


def _name(info: zipfile.ZipInfo) -> str:
    """Return a member's name; where its encoding is not told, it is what names of files are."""
    name = info.filename
    if not info.flag_bits & 0x800 and not name.isascii():
        with suppress(UnicodeEncodeError):  # told in an extra field
            name = shown_path(os.fsdecode(name.encode("cp437")))
    return name.replace("\\", "/")
