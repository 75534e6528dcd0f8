"""Getting a file over HTTP, within limits of time and size."""

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kgrag.errors import ModelError

# Bytes so far, bytes in all (0 where the server does not say).
Progress = Callable[[int, int], None]

_BLOCK = 64 * 1024


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
    """Write what a URL gives to a file.

    Args:
        url: http or https.
        target: Overwritten.
        limits: `total_s` is not used here: see `deadline`.
        deadline: Value of `time.monotonic()` at which to give up.
        progress: Called after every block.

    Raises:
        ModelError: If the file cannot be had whole, within the limits.
    """
    if not url.startswith(("https://", "http://")):
        raise ModelError(f"not a web address: {url}")
    try:
        with urllib.request.urlopen(url, timeout=limits.wait_s) as response:
            expected = int(response.headers.get("Content-Length") or 0)
            done = 0
            with target.open("wb") as out:
                while block := response.read1(_BLOCK):
                    out.write(block)
                    done += len(block)
                    if done > limits.max_bytes:
                        raise ModelError(f"{url}: more than {limits.max_bytes} bytes")
                    if time.monotonic() > deadline:
                        raise ModelError(f"{url}: too slow, {done} of {expected} bytes in time")
                    if progress:
                        progress(done, expected)
    except (OSError, http.client.HTTPException, ValueError) as exc:
        raise ModelError(f"{url}: {exc}") from exc
    if expected and done != expected:  # a body cut short is not an error to http.client
        raise ModelError(f"{url}: the transfer broke off after {done} of {expected} bytes")
