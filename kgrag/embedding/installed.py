"""The models installed for this user: where they lie, and how one gets there whole."""

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import filelock

from kgrag.embedding.card import FORMATS, POOLINGS, ModelCard
from kgrag.embedding.catalog import remedy
from kgrag.embedding.names import STAGING
from kgrag.errors import ModelError, ModelNotFoundError
from kgrag.files.cache_folder import cache_folder

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
CARD_FILE = "card.json"

_LOCK_TIMEOUT_S = 900  # longer than any pull may take


def models_folder() -> Path:
    """Return the folder that holds a folder for every model; it may not exist yet.

    It is `models` in `cache_folder()`.

    Raises:
        ModelError: If the user has no home folder and `$KGRAG_CACHE` is not set.
    """
    return cache_folder() / "models"


def installed_models() -> list[ModelCard]:
    """Return the cards of the installed models, ordered by name; damaged ones are left out."""
    cards = []
    for folder in model_folders():
        if (folder / CARD_FILE).is_file():
            with contextlib.suppress(ModelError):
                cards.append(read_card(folder))
    return cards


def files_bytes(folder: Path) -> int:
    """Return the size of the files in a model's folder, in bytes, without the card."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sum(file.stat().st_size for file in files if file != folder / CARD_FILE)


def remove_model(name: str) -> None:
    """Take an installed model away, damaged or not.

    Raises:
        ModelNotFoundError: If none has this name.
        ModelError: If it cannot be taken away.
    """
    seen = sorted(path.name for path in model_folders())
    if name not in seen:
        raise ModelNotFoundError(
            f"no model {name!r} is installed; installed: {', '.join(seen) or 'none'}"
        )
    with installing() as staging:
        # in one step, so that nobody finds half of it
        (models_folder() / name).rename(staging / name)


def model_folders() -> list[Path]:
    """Return the folders of all models; hidden ones are left out."""
    root = models_folder()
    if not root.is_dir():
        return []
    return [path for path in sorted(root.iterdir()) if path.is_dir() and path.name[0] != "."]


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file's bytes, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_intact(folder: Path) -> bool:
    """Return whether a folder holds a model whole: a card, and the files of its hashes."""
    try:
        card = read_card(folder)
        return (card.model_sha256, card.tokenizer_sha256) == (
            file_sha256(folder / MODEL_FILE),
            file_sha256(folder / TOKENIZER_FILE),
        )
    except (ModelError, OSError):
        return False


def write_card(card: ModelCard, folder: Path) -> None:
    """Write `card.json` into a folder; the folder itself is not recorded."""
    data = {key: value for key, value in dataclasses.asdict(card).items() if key != "folder"}
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    (folder / CARD_FILE).write_text(text, encoding="utf-8")


def read_card(folder: Path) -> ModelCard:
    """Return the card in a model's folder.

    Raises:
        ModelError: If it is missing or malformed.
    """
    path = folder / CARD_FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return dataclasses.replace(_parse(data), folder=folder)
    except (OSError, ValueError, TypeError, RecursionError) as exc:
        raise ModelError(
            f"cannot read the model card {path}: {exc}. {remedy(folder.name)}"
        ) from exc


def _parse(data: object) -> ModelCard:
    if not isinstance(data, Mapping):
        raise ValueError(f"expected an object, got {type(data).__name__}")
    numbers: dict[str, type] = dict.fromkeys(("dimension", "max_tokens", "n_bytes"), int)
    kinds = {**numbers, "lower_case": bool}
    for key, value in data.items():
        kind = kinds.get(key, str)
        if type(value) is not kind:
            raise ValueError(f"{key} must be of type {kind.__name__}, got {value!r}")
    card = ModelCard(**data)
    if card.pooling not in POOLINGS:
        raise ValueError(f"pooling must be one of {', '.join(POOLINGS)}, got {card.pooling!r}")
    if card.format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {card.format!r}")
    if card.dimension < 1 or card.max_tokens < 1:
        raise ValueError("dimension and max_tokens must be at least 1")
    return card


@contextlib.contextmanager
def installing() -> Iterator[Path]:
    """Yield an empty folder to gather a model's files in, alone among processes.

    What killed attempts left behind is removed; so is the folder afterwards, unless
    `move_into_place` has taken it.

    Raises:
        ModelError: If the cache cannot be written, or another process keeps it too long.
    """
    root = models_folder()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(root / ".lock", timeout=_LOCK_TIMEOUT_S):
            for left in root.glob(f"{STAGING}*"):
                shutil.rmtree(left, ignore_errors=True)
            staging = root / f"{STAGING}{os.getpid()}"
            staging.mkdir()  # with the user's umask, so that others may read what is installed
            try:
                yield staging
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


def move_into_place(staging: Path, card: ModelCard) -> ModelCard:
    """Write the card beside the gathered files and put the folder where models are found.

    The card is given the size of the files. Readers see the old model, for an instant none, then
    the new one; never half of one.
    """
    card = dataclasses.replace(card, n_bytes=files_bytes(staging))
    write_card(card, staging)
    target = staging.parent / card.name
    retired = staging.with_name(f"{staging.name}.old")
    if target.exists():
        target.rename(retired)
    staging.rename(target)
    shutil.rmtree(retired, ignore_errors=True)
    return dataclasses.replace(card, folder=target)
