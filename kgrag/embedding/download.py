"""Getting a file from a model hub, within limits of time and size."""

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgrag.errors import ModelError

# Bytes so far, bytes in all (0 where the server does not say).
Progress = Callable[[int, int], None]

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much to wait for.

    Attributes:
        wait_s: For a connection, and for every next piece of data.
        total_s: For one source's files together, or one run of Maven.
        max_bytes: Of one file.
    """

    wait_s: float = 5.0
    total_s: float = 120.0
    max_bytes: int = 1024**3


def download(
    url: str, target: Path, *, limits: Limits, deadline: float, progress: Progress | None = None
) -> None:
    """Write what an address of a hub gives to a file.

    Requests are those of `huggingface_hub`, without the user's token: its proxies, certificates
    and offline mode hold. Its own download reads blocks of 10 MB and tries again for minutes, so
    the body is read here, where each piece is held against the limits.

    Args:
        url: http or https.
        target: Overwritten.
        limits: `total_s` is not used here: see `deadline`.
        deadline: Value of `time.monotonic()` at which to give up.
        progress: Called after every piece.

    Raises:
        ModelError: If the file cannot be had whole, within the limits.
    """
    if not url.startswith(("https://", "http://")):
        raise ModelError(f"not a web address: {url}")
    try:
        _receive(url, target, limits, deadline, progress)
    except ModelError:
        raise
    except Exception as exc:  # the library's client, and so its errors, differ by version
        raise ModelError(f"{url}: {' '.join(str(exc).split())}") from exc


def _receive(
    url: str, target: Path, limits: Limits, deadline: float, progress: Progress | None
) -> None:
    from huggingface_hub import get_hf_file_metadata, get_session

    stated = get_hf_file_metadata(url, token=False, timeout=limits.wait_s)
    if (stated.size or 0) > limits.max_bytes:
        raise ModelError(f"{url}: {stated.size} bytes, more than {limits.max_bytes}")
    headers = {"Accept-Encoding": "identity"}  # or its length would not be the file's
    with get_session().stream("GET", url, headers=headers, timeout=limits.wait_s) as response:
        response.raise_for_status()
        found = _write(url, response, target, stated.size or 0, limits, deadline, progress)
    if _SHA256.fullmatch(stated.etag or "") and stated.etag != found:
        raise ModelError(f"{url}: the hub states sha256 {stated.etag}, the file has {found}")


def _write(
    url: str,
    response: Any,  # of httpx, or httpx2 in later versions of the library
    target: Path,
    expected: int,
    limits: Limits,
    deadline: float,
    progress: Progress | None,
) -> str:
    """Write a response's body to a file and return its sha256, hex."""
    sha256, done = hashlib.sha256(), 0
    with target.open("wb") as out:
        for block in response.iter_bytes():
            out.write(block)
            sha256.update(block)
            done += len(block)
            if done > limits.max_bytes:
                raise ModelError(f"{url}: more than {limits.max_bytes} bytes")
            if time.monotonic() > deadline:
                raise ModelError(f"{url}: too slow, {done} of {expected} bytes in time")
            if progress:
                progress(done, expected)
    if expected and done != expected:
        raise ModelError(f"{url}: the transfer broke off after {done} of {expected} bytes")
    return sha256.hexdigest()
