"""Installing a model from the user's own files: a folder, a zip or a jar."""

import contextlib
import dataclasses
import functools
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import IO

from kgrag.embedding.cache import MODEL_FILE, TOKENIZER_FILE, installing, move_into_place
from kgrag.embedding.card import POOLINGS, ModelCard, Pooling
from kgrag.embedding.catalog import CATALOG, known_card
from kgrag.embedding.check import check_model, with_dimension, with_hashes
from kgrag.errors import ModelError

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_RESERVED = re.compile(r"hash(-\d+)?")  # the stand-in's names
_MAX_BYTES = 4 * 1024**3
_BLOCK = 1024 * 1024

_Members = Mapping[str, Callable[[], IO[bytes]]]


def add_model(
    path: Path,
    *,
    name: str | None = None,
    pooling: Pooling = "mean",
    query_instruction: str = "",
    passage_instruction: str = "",
    max_tokens: int = 512,
) -> ModelCard:
    """Install a model from files and return its card.

    Files that are known by their hashes bring their own card. So do files that are given the
    name of a catalogued model, once they pass its checks. The settings given here are for all
    others.

    Args:
        path: A folder, `.zip` or `.jar` with one `.onnx` and one `*tokenizer*.json`.
        name: How the user will call it: lower-case letters, digits and `.-_`. For None the
            catalogue's name of known files, else the path's stem.
        pooling: As the model was trained: `cls` or `mean`.
        query_instruction: Put before a question.
        passage_instruction: Put before a passage.
        max_tokens: Longer texts are cut.

    Raises:
        ModelError: If the path does not hold a model that works, or the name is not allowed.
        ValueError: If the pooling is unknown or `max_tokens` is below 1.
    """
    if pooling not in POOLINGS or max_tokens < 1:
        raise ValueError(f"got pooling {pooling!r} and max_tokens {max_tokens}")
    given = ModelCard(
        name=_checked_name(_slug(path.resolve().stem) if name is None else name),
        dimension=0,  # measured once the files are there
        pooling=pooling,
        query_instruction=query_instruction,
        passage_instruction=passage_instruction,
        max_tokens=max_tokens,
        source=path.name,
    )
    with installing() as staging:
        gather(path, staging)
        card = _card_of(staging, given, is_named=name is not None)
        return move_into_place(staging, card)


def _card_of(folder: Path, given: ModelCard, *, is_named: bool) -> ModelCard:
    for entry in CATALOG:
        if is_named and entry.card.name == given.name:
            return check_model(entry, folder)
    hashed = with_hashes(given, folder)
    known = known_card(hashed.model_sha256, hashed.tokenizer_sha256)
    if known is not None:
        return dataclasses.replace(known, name=given.name if is_named else known.name)
    return with_dimension(hashed, folder)


def _slug(stem: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", stem.casefold()).strip("-._") or "model"


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name) or _RESERVED.fullmatch(name):
        raise ModelError(
            f"a model cannot be called {name!r}. Remedy: use lower-case letters, digits and .-_ "
            "(`hash` is the stand-in)"
        )
    return name


def gather(path: Path, staging: Path) -> None:
    """Copy the one model and the one tokenizer of a folder, zip or jar into a folder.

    They are found by name and written under our own names, so that no path in an archive can
    lead elsewhere.

    Raises:
        ModelError: If there is not exactly one of each, or the path cannot be read.
    """
    try:
        with contextlib.ExitStack() as stack:
            members = _members(path, stack)
            _copy(_only(members, path, "model (*.onnx)", _is_model), staging / MODEL_FILE)
            tokenizer = _only(members, path, "tokenizer (*tokenizer*.json)", _is_tokenizer)
            _copy(tokenizer, staging / TOKENIZER_FILE)
    # zipfile raises the last two for encrypted members and unknown compression
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as exc:
        raise ModelError(
            f"cannot read a model from {path}: {exc}. "
            "Remedy: give a folder, .zip or .jar with one .onnx and its tokenizer.json"
        ) from exc


def _members(path: Path, stack: contextlib.ExitStack) -> _Members:
    """Return what opens each file under a folder or in an archive, by its name there."""
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file()]
        return {str(file.relative_to(path)): functools.partial(_open, file) for file in files}
    archive = stack.enter_context(zipfile.ZipFile(path))
    infos = [info for info in archive.infolist() if not info.is_dir()]
    return {info.filename: functools.partial(archive.open, info) for info in infos}


def _open(file: Path) -> IO[bytes]:
    return file.open("rb")


def _is_model(name: str) -> bool:
    return PurePath(name).suffix == ".onnx"


def _is_tokenizer(name: str) -> bool:
    base = PurePath(name).name
    # tokenizer_config.json lies beside the tokenizer in every hub repository
    return base.endswith(".json") and "tokenizer" in base and "tokenizer_config" not in base


def _only(
    members: _Members, path: Path, what: str, matches: Callable[[str], bool]
) -> Callable[[], IO[bytes]]:
    found = [name for name in members if matches(name)]
    if len(found) != 1:
        seen = ", ".join(found[:5]) or "none"
        raise ModelError(
            f"{path} must hold exactly one {what}, it holds {len(found)}: {seen}. "
            "Remedy: put the model and its tokenizer.json alone into a folder"
        )
    return members[found[0]]


def _copy(opened: Callable[[], IO[bytes]], target: Path) -> None:
    """Copy block by block; what an archive says about its sizes is not trusted."""
    left = _MAX_BYTES
    with opened() as source, target.open("wb") as out:
        while block := source.read(_BLOCK):
            left -= len(block)
            if left < 0:
                raise ModelError(f"{target.name} has more than {_MAX_BYTES} bytes")
            out.write(block)
