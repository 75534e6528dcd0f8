"""Files in object stores: listed by URL, and copied to this machine when they are read.

A URL travels as a `Path` (`s3:/bucket/key`), which `shown_path` shows as the URL. Credentials and
endpoint are those of the environment (`AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, `AWS_ENDPOINT_URL` …);
they are neither stored nor logged.
"""

import errno
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.errors import IngestionError
from kgrag.files.cache_folder import cache_folder
from kgrag.ids import digest
from kgrag.text.messages import message
from kgrag.text.visible import shown_path

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_KEPT_S = 7 * 86400  # a copy that no run asked for in a week is deleted
_ODD_KEY = message("its key has an empty part, . or ..; rename the object")
# Of boto: else a silent endpoint is waited for several minutes.
_S3 = {"config_kwargs": {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 2}}}


def files_below(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of a URL in order, itself or those below it, and why one cannot be read.

    Hidden files and Word's lock files are left out, as are empty keys that stand for folders.

    Raises:
        IngestionError: If it cannot be listed, or nothing is there.
    """
    url = shown_path(path)
    with _mapped(url):
        files = _system(url)
        if files.info(url)["type"] == "file":
            yield path, ""
            return
        root = files._strip_protocol(url).rstrip("/")
        found = files.find(root, detail=True)
    scheme = url.partition("://")[0]
    for key in sorted(found):
        parts = key.removeprefix(root).split("/")
        is_hidden = any(p.startswith((".", "~$")) and p not in (".", "..") for p in parts)
        if is_hidden or found[key]["type"] != "file":
            continue
        whole = f"{scheme}://{key.lstrip('/')}"
        odd = ".." in parts or shown_path(Path(whole)) != whole
        yield Path(whole), _ODD_KEY if odd else ""


def names_in(folder: Path) -> list[Path]:
    """Return what is directly in the folder of a URL; empty if it cannot be listed."""
    url = shown_path(folder)
    try:
        with _mapped(url):
            return sorted(folder / Path(name).name for name in _system(url).ls(url, detail=False))
    except IngestionError:
        return []


def open_remote(path: Path, max_bytes: int | None = None) -> BufferedReader:
    """Return a copy of a remote file, opened; its present version is copied once.

    Args:
        path: The URL.
        max_bytes: The largest file that is copied; None for any.

    Raises:
        IngestionError: If it cannot be read, or is too large.
    """
    url = shown_path(path)
    with _mapped(url):
        files = _system(url)
        told: dict[str, Any] = files.info(url)
        size = int(told.get("size") or 0)
        if max_bytes is not None and size > max_bytes:
            raise IngestionError(
                "{source}: has {size:,} bytes, more than {max_bytes:,}; raise ingest.max_file_mb, "
                "or split it",
                source=url,
                size=size,
                max_bytes=max_bytes,
            )
        # The name is a hash: a key may hold `..` and anything else. With its version it names
        # bytes that do not change, so that processes need not wait for each other.
        copy = _copies() / digest("remote", url, repr(sorted(told.items())), length=32)
        with suppress(FileNotFoundError):
            os.utime(copy)
            return copy.open("rb")
        return _copied(files, url, copy, size)


def _copied(files: "AbstractFileSystem", url: str, copy: Path, size: int) -> BufferedReader:
    handle, name = tempfile.mkstemp(dir=copy.parent)  # for the owner only
    os.close(handle)
    new = Path(name)
    try:
        files.get_file(url, name)
        if new.stat().st_size != size:
            raise IngestionError("{source}: changed while it was read; run it again", source=url)
        new.replace(copy)
    finally:
        new.unlink(missing_ok=True)
    return copy.open("rb")


def _copies() -> Path:
    """Return the folder of copies, in which those not used for long are deleted."""
    folder = cache_folder() / "remote"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def delete_old_copies() -> None:
    """Delete the copies that no run has used for a week."""
    with suppress(OSError):
        for copy in _copies().iterdir():
            with suppress(OSError):  # another run deletes it
                if time.time() - copy.stat().st_mtime > _KEPT_S:
                    copy.unlink()


def _system(url: str) -> "AbstractFileSystem":
    import fsspec

    scheme = url.partition("://")[0]
    # Without its cache of listings: in a program that runs for long a file would never change.
    return fsspec.filesystem(scheme, use_listings_cache=False, **(_S3 if scheme == "s3" else {}))


@contextmanager
def _mapped(url: str) -> Iterator[None]:
    """Raise IngestionError, with the remedy, for what fsspec and the clients below it raise."""
    try:
        yield
    except IngestionError:
        raise
    except Exception as exc:
        # Neither the text of the error nor its chain: a client may quote what it signed with.
        raise IngestionError("{url}: {what}", url=url, what=_why(exc)) from None


def _why(exc: Exception) -> str:
    kind = type(exc).__name__
    if isinstance(exc, ImportError):
        return message("s3:// needs another package: pip install 'kgrag[s3]'")
    if isinstance(exc, FileNotFoundError):
        return message("no such file, folder or bucket; check the URL")
    if isinstance(exc, PermissionError) or "Credentials" in kind:
        return message(
            "access was denied; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        )
    if isinstance(exc, OSError) and exc.errno == errno.ENOSPC:
        return message("there is no space for a copy; free some, or set KGRAG_CACHE")
    return message("cannot be reached ({kind}); check AWS_ENDPOINT_URL and the network", kind=kind)
