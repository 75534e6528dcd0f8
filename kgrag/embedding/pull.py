"""Installing a catalogued model: from local files, the hub, or Maven Central."""

import hashlib
import logging
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgrag.embedding.add import check_entry, gather, with_files
from kgrag.embedding.catalog import CatalogEntry, ModelCard, find_entry
from kgrag.embedding.model_folder import (
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelFolder,
    installing,
    models_folder,
)
from kgrag.errors import ModelError

_log = logging.getLogger(__name__)
_HUB = "https://huggingface.co"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_WAIT_S = 5.0  # for a connection, and for each block of data
_TOTAL_S = 120.0  # for all files of the hub, or a run of Maven
_MAX_BYTES = 1024**3  # of a file

# Writes model.onnx and tokenizer.json into the folder, or raises ModelError with the reason.
_Source = Callable[[CatalogEntry, ModelFolder], None]


def pull_model(name: str) -> ModelCard:
    """Install a catalogued model, unless it is installed, and return its card.

    Raises:
        ModelNotFoundError: If the catalogue has no such model.
        ModelError: If no source has it; the text gives the reason for each.
    """
    return pull_entry(find_entry(name))


def pull_entry(entry: CatalogEntry) -> ModelCard:
    """Install the model of a catalogue entry; see `pull_model`.

    Sources are tried in the order of `SOURCES`, and their files checked. Concurrent processes wait
    for the first one and use its result.
    """
    folder = ModelFolder(models_folder() / entry.card.name)
    if there := folder.intact_card():
        return there
    reasons = []
    with installing() as staging:
        if there := folder.intact_card():  # installed by another process meanwhile
            return there
        for label, source in SOURCES.items():
            try:
                source(entry, staging)
                card = staging.install(check_entry(entry, staging))
            except ModelError as exc:
                _log.info("%s not from %s: %s", entry.card.name, label, exc)
                reasons.append(f"{label}: {exc}")
            else:
                _log.info("installed %s from %s", card.identity, label)
                return card
    raise ModelError(
        f"{entry.card.name} could not be fetched: {'; '.join(reasons)}. "
        f"Remedy: on a machine with access, download {entry.hub_model} and {entry.hub_tokenizer} "
        f"of {_HUB}/{entry.hub_repo} into one folder, bring it here, and run "
        f"kgrag models add FOLDER --name {entry.card.name}"
    )


def _hub_files(entry: CatalogEntry) -> tuple[tuple[str, str], ...]:
    """Return (path in the repository, local name); the small file first, to fail early."""
    return (entry.hub_tokenizer, TOKENIZER_FILE), (entry.hub_model, MODEL_FILE)


def _from_hub_cache(entry: CatalogEntry, staging: ModelFolder) -> None:
    """Copy the files from the local cache of huggingface_hub."""
    from huggingface_hub import try_to_load_from_cache

    for path, name in _hub_files(entry):
        found = try_to_load_from_cache(entry.hub_repo, path)
        if not isinstance(found, str):
            raise ModelError(f"it has no {path} of {entry.hub_repo}")
        shutil.copyfile(found, staging.path / name)


def _from_hub(entry: CatalogEntry, staging: ModelFolder) -> None:
    from huggingface_hub import hf_hub_url

    endpoint = (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
    if {"@", "?", "#"} & set(endpoint):  # it is shown in errors
        raise ModelError("HF_ENDPOINT must hold no user, password or query (after @, ? or #)")
    deadline = time.monotonic() + _TOTAL_S
    for path, name in _hub_files(entry):
        url = hf_hub_url(entry.hub_repo, path, endpoint=endpoint)
        download(url, staging.path / name, deadline=deadline)


def download(url: str, target: Path, *, deadline: float) -> None:
    """Download a file of a hub by http or https, until `deadline` of `time.monotonic()`.

    Requests use `huggingface_hub`, without the user's token, for its proxies, certificates and
    offline mode. Its own download reads blocks of 10 MB and retries for minutes, so the body is
    read here, where the limits are checked for each block.

    Raises:
        ModelError: If the file cannot be downloaded within the limits.
    """
    from huggingface_hub import get_hf_file_metadata, get_session

    if not url.startswith(("https://", "http://")):
        raise ModelError(f"not a web address: {url}")
    headers = {"Accept-Encoding": "identity"}  # so that the length is the file's
    try:
        stated = get_hf_file_metadata(url, token=False, timeout=_WAIT_S)
        size = stated.size or 0
        if size > _MAX_BYTES:
            raise ModelError(f"{url}: {size} bytes, more than {_MAX_BYTES}")
        with get_session().stream("GET", url, headers=headers, timeout=_WAIT_S) as response:
            response.raise_for_status()
            found = _write(url, response, target, size, deadline)
    except ModelError:
        raise
    except Exception as exc:  # the library's client and errors differ by version
        raise ModelError(f"{url}: {' '.join(str(exc).split())}") from exc
    if _SHA256.fullmatch(stated.etag or "") and stated.etag != found:
        raise ModelError(f"{url}: the hub states sha256 {stated.etag}, the file has {found}")


def _write(url: str, response: Any, target: Path, expected: int, deadline: float) -> str:
    """Write a response's body and return its sha256, hex; the expected size is 0 if unknown."""
    sha256, done = hashlib.sha256(), 0
    with target.open("wb") as out:
        for block in response.iter_bytes():
            out.write(block)
            sha256.update(block)
            done += len(block)
            if done > _MAX_BYTES:
                raise ModelError(f"{url}: more than {_MAX_BYTES} bytes")
            if time.monotonic() > deadline:
                raise ModelError(f"{url}: too slow, {done} of {expected} bytes in time")
    if expected and done != expected:
        raise ModelError(f"{url}: the transfer broke off after {done} of {expected} bytes")
    return sha256.hexdigest()


def _from_maven(entry: CatalogEntry, staging: ModelFolder) -> None:
    """Let Maven, with the user's mirrors and proxies, download a jar with the files."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise ModelError("mvn is not on PATH")
    with tempfile.TemporaryDirectory(prefix="kgrag-") as folder:
        artifact = ["-Dartifact=" + entry.maven_artifact, "-DoutputDirectory=" + folder]
        _run([mvn, "-q", "-B", "dependency:copy", *artifact])
        jars = sorted(Path(folder).glob("*.jar"))
        if not jars:
            raise ModelError(f"mvn brought no jar of {entry.maven_artifact}")
        gather(jars[0], staging)
    # a version of a jar never changes, so other files are damaged
    if with_files(entry.card, staging) != entry.card:
        raise ModelError(f"the files in {entry.maven_artifact} are not the expected ones")


def _run(command: list[str]) -> None:
    """Run a command quietly, with a time limit.

    Its output goes to a file: a child process that outlives it could keep a pipe open.
    """
    with tempfile.TemporaryFile() as output:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=_TOTAL_S,
                check=False,
            )
        except OSError as exc:
            raise ModelError(f"cannot run {command[0]}: {exc}") from exc
        except subprocess.TimeoutExpired as exc:
            raise ModelError(f"{command[0]} took more than {_TOTAL_S:g} s") from exc
        if done.returncode:
            output.seek(0)
            text = output.read(2000).decode("utf-8", "replace").strip()
            raise ModelError(f"{command[0]} failed with status {done.returncode}: {text}")


SOURCES: dict[str, _Source] = {
    "the hub's cache on this machine": _from_hub_cache,
    "the hub": _from_hub,
    "Maven Central": _from_maven,
}
