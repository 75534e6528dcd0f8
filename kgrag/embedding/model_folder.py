"""Folders of installed models: files, card, checks, installation and listing."""

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import filelock

from kgrag.embedding.catalog import CATALOG, STAGING, Format, ModelCard, Pooling, is_name, remedy
from kgrag.errors import ModelError, ModelNotFoundError
from kgrag.files.cache_folder import cache_folder
from kgrag.files.foreign_json import read_foreign
from kgrag.ids import digest
from kgrag.plugins import Plugin, installed

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
CARD_FILE = "card.json"
_FILES_FILE = "files.json"  # sizes and hashes of all files of a transformers model

_LOCK_TIMEOUT_S = 900  # longer than any pull may take
# Hashing a gigabyte takes seconds: larger files of known size are not hashed again.
_QUICK_BYTES = 32 * 1024**2
_T = TypeVar("_T")
_Stated = dict[str, tuple[int | None, str]]  # size, if known, and sha256 by file


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder with a model's files and its `card.json`.

    An ONNX model has `model.onnx`, `tokenizer.json`, and external weights; a model for transformers
    `config.json`, safetensors, `tokenizer.json`, adapters, and `files.json`.
    """

    path: Path

    @property
    def unpacked(self) -> Path:
        """Return where an archive is unpacked during installation."""
        return self.path.with_suffix(".unpacked")

    def card(self) -> ModelCard:
        """Return the card; ModelNotFoundError if it is missing, ModelError if it is malformed."""
        return dataclasses.replace(self._read(CARD_FILE, _card), folder=self.path)

    def write_card(self, card: ModelCard) -> None:
        """Write the card, without the path of the folder."""
        data = {key: value for key, value in dataclasses.asdict(card).items() if key != "folder"}
        text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
        (self.path / CARD_FILE).write_text(text, encoding="utf-8")

    def n_bytes(self) -> int:
        """Return the size of the files, in bytes, without the card."""
        files = (path for path in self.path.rglob("*") if path.is_file())
        return sum(file.stat().st_size for file in files if file != self.path / CARD_FILE)

    def seal(self) -> tuple[str, str]:
        """Write `files.json`; return the hashes of all other files and of the tokenizer."""
        files = sorted(file for file in self.path.rglob("*") if file.is_file())
        stated: _Stated = {
            file.relative_to(self.path).as_posix(): (file.stat().st_size, file_sha256(file))
            for file in files
        }
        text = json.dumps(stated, indent=2) + "\n"
        (self.path / _FILES_FILE).write_text(text, encoding="utf-8")
        return _hashes(stated)

    def check(self) -> ModelCard:
        """Return the card after comparing the files with it.

        Weights may be gigabytes: external weights of an ONNX file are not compared, and files of 32
        MB or more in `files.json` only by size.

        Raises:
            ModelNotFoundError: If a file is missing.
            ModelError: If one was changed.
        """
        card = self.card()
        for name, (size, sha256) in self._stated(card).items():
            file = self.path / name
            if not file.is_file():
                raise ModelNotFoundError(f"the model file {file} is missing. {remedy(card.name)}")
            seen = file.stat().st_size
            is_hashed = size is None or seen < _QUICK_BYTES
            if size not in (None, seen) or (is_hashed and file_sha256(file) != sha256):
                raise ModelError(
                    f"{file} is damaged: it is not the file that was installed. {remedy(card.name)}"
                )
        return card

    def intact_card(self) -> ModelCard | None:
        """Return the card; None where the model is missing or damaged."""
        with contextlib.suppress(ModelError, OSError):
            return self.check()
        return None

    def install(self, card: ModelCard) -> ModelCard:
        """Write the card with the files' size, and move the folder to the models.

        Readers see the old model, for an instant none, then the new one; never a part.
        """
        card = dataclasses.replace(card, n_bytes=self.n_bytes())
        self.write_card(card)
        target = self.path.parent / card.name
        retired = self.path.with_name(f"{self.path.name}.old")
        if target.exists():
            target.rename(retired)
        self.path.rename(target)
        shutil.rmtree(retired, ignore_errors=True)
        return dataclasses.replace(card, folder=target)

    def _stated(self, card: ModelCard) -> _Stated:
        """Return the expected files."""
        if card.format == "onnx":
            hashes = {MODEL_FILE: card.model_sha256, TOKENIZER_FILE: card.tokenizer_sha256}
            return {name: (None, sha256) for name, sha256 in hashes.items()}
        stated = self._read(
            _FILES_FILE, lambda data: {str(k): (v[0], v[1]) for k, v in data.items()}
        )
        if _hashes(stated) != (card.model_sha256, card.tokenizer_sha256):
            raise ModelError(
                f"{self.path / _FILES_FILE} does not describe the model of "
                f"{self.path / CARD_FILE}. {remedy(card.name)}"
            )
        return stated

    def _read(self, name: str, parse: Callable[[Any], _T]) -> _T:
        path = self.path / name
        try:
            return parse(read_foreign(path.read_bytes()))
        except FileNotFoundError as exc:
            text = f"the model file {path} is missing. {remedy(self.path.name)}"
            raise ModelNotFoundError(text) from exc
        except (OSError, ValueError, TypeError, AttributeError, LookupError) as exc:
            what = "the model card " if name == CARD_FILE else ""
            raise ModelError(f"cannot read {what}{path}: {exc}. {remedy(self.path.name)}") from exc


def _hashes(stated: _Stated) -> tuple[str, str]:
    lines = [f"{name} {sha}" for name, (_, sha) in sorted(stated.items()) if name != TOKENIZER_FILE]
    return digest(*lines, length=64), stated.get(TOKENIZER_FILE, (0, ""))[1]


def _card(data: Any) -> ModelCard:
    if not isinstance(data, dict):
        raise ValueError(f"expected an object, got {type(data).__name__}")
    data.pop("thresholds", None)  # of cards of models that were installed before
    measured = data.pop("answered", None)
    kinds = {"dimension": int, "max_tokens": int, "n_bytes": int, "lower_case": bool}
    for key, value in data.items():
        kind = kinds.get(key, str)
        if type(value) is not kind:
            raise ValueError(f"{key} must be of type {kind.__name__}, got {value!r}")
    card = ModelCard(**data)
    for key, choices in (("pooling", get_args(Pooling)), ("format", get_args(Format))):
        if getattr(card, key) not in choices:
            raise ValueError(
                f"{key} must be one of {', '.join(choices)}, got {getattr(card, key)!r}"
            )
    if card.dimension < 1 or card.max_tokens < 1:
        raise ValueError("dimension and max_tokens must be at least 1")
    if measured is not None:
        return dataclasses.replace(card, answered=float(measured))
    known = {e.card.identity.removeprefix(e.card.name): e.card.answered for e in CATALOG}
    return dataclasses.replace(card, answered=known.get(card.identity.removeprefix(card.name)))


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def models_folder() -> Path:
    """Return the folder of all models; it may not exist yet."""
    return cache_folder() / "models"


def model_folders() -> list[ModelFolder]:
    """Return the folders of all models, ordered by name, without hidden ones."""
    root = models_folder()
    paths = sorted(root.iterdir()) if root.is_dir() else []
    return [ModelFolder(path) for path in paths if path.is_dir() and path.name[0] != "."]


def installed_models() -> list[ModelCard]:
    """Return the cards of the installed models, ordered by name, without damaged ones."""
    cards = []
    for folder in model_folders():
        with contextlib.suppress(ModelError):
            cards.append(folder.card())
    return cards


def remove_model(name: str) -> None:
    """Remove an installed model, damaged or not.

    Raises:
        ModelNotFoundError: If there is no model of this name.
    """
    seen = [folder.path.name for folder in model_folders()]
    if name not in seen:
        raise ModelNotFoundError(
            f"no model {name!r} is installed; installed: {', '.join(seen) or 'none'}"
        )
    with installing() as staging:
        # atomic
        (models_folder() / name).rename(staging.path / name)


@contextlib.contextmanager
def installing() -> Iterator[ModelFolder]:
    """Yield an empty staging folder, under a lock.

    Leftovers of killed attempts are removed first, and the folder itself at the end unless it was
    installed.

    Raises:
        ModelError: If the cache cannot be written, or another process holds the lock too long.
    """
    root = models_folder()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(root / ".lock", timeout=_LOCK_TIMEOUT_S):
            for left in root.glob(f"{STAGING}*"):
                shutil.rmtree(left, ignore_errors=True)
            staging = root / f"{STAGING}{os.getpid()}"
            staging.mkdir()  # with the user's umask, so that others may read the model
            try:
                yield ModelFolder(staging)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
    except filelock.Timeout as exc:
        raise ModelError(
            f"another process has been installing a model for {_LOCK_TIMEOUT_S} s. "
            "Remedy: end it and try again"
        ) from exc
    except OSError as exc:
        raise ModelError(
            f"cannot write to the model cache {root}: {exc}. "
            "Remedy: set KGRAG_CACHE to a folder that may be written"
        ) from exc


@dataclass(frozen=True, slots=True)
class Listed:
    """A model, installed or not, and its state."""

    name: str
    folder: Path | None  # None if it is not installed
    card: ModelCard | None  # None if it cannot be read
    n_bytes: int  # size of its files, or of the download
    problem: str = ""  # with a remedy, as far as sizes show; empty for none
    plugin: str = ""  # that provides it, not imported; empty for local files


def listed_models() -> list[Listed]:
    """Return the local models by name, then plugins, then models that can be pulled."""
    here = [_listed(folder) for folder in model_folders()]
    names = {model.name for model in here}
    plugins = installed("kgrag.embedders")
    return [
        *here,
        *(_of_plugin(plugin, names, plugins) for plugin in plugins),
        *(
            Listed(entry.card.name, None, entry.card, entry.size_mb * 10**6)
            for entry in CATALOG
            if entry.card.name not in names
        ),
    ]


def _listed(folder: ModelFolder) -> Listed:
    n_bytes, problem = folder.n_bytes(), ""
    try:
        card = folder.card()
    except ModelError as exc:
        return Listed(folder.path.name, folder.path, None, n_bytes, str(exc))
    if card.n_bytes not in (0, n_bytes):
        sizes = f"its files have {n_bytes:,} bytes, and had {card.n_bytes:,}"
        problem = f"{sizes} when it was installed. {remedy(card.name)}"
    return Listed(card.name, folder.path, card, n_bytes, problem)


def _of_plugin(plugin: Plugin, taken: Collection[str], plugins: Sequence[Plugin]) -> Listed:
    others = [other for other in plugins if other.name == plugin.name and other != plugin]
    problem = ""
    if not is_name(plugin.name) or plugin.name in {e.card.name for e in CATALOG}.union(taken):
        problem = f"{plugin} is not used: no plugin may have this name, or a model has it"
    elif others:
        problem = f"{plugin} has the name of {others[0]}: remove one of them"
    package = f"{plugin.package} {plugin.version} ({plugin.value})"
    return Listed(plugin.name, None, None, 0, problem, package)
