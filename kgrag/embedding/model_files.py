"""Finding the model and its tokenizer in a folder, and copying them."""

import os
import shutil
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from kgrag.embedding.archive import check_room
from kgrag.embedding.installed import MODEL_FILE, TOKENIZER_FILE
from kgrag.embedding.onnx_file import read_onnx_file
from kgrag.errors import ModelError

_MAX_FILES = 100_000  # in a folder that is looked through: a home folder is not a model's
_MAX_BYTES = 64 * 1024**3  # of a model
_MAX_TOKENIZER = 256 * 1024**2  # the largest known are of some 35 MB
_SAFETENSORS = ("model.safetensors", "model.safetensors.index.json")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_SHOWN = 12


def model_file(folder: Path, chosen: str | None = None) -> Path:
    """Return the one model in a folder: an `.onnx` file, else safetensors.

    Args:
        folder: Looked through with all folders in it.
        chosen: Path of the model in the folder; None where there is only one.

    Raises:
        ModelError: If there is none, more than one, or not the chosen one.
    """
    onnx = _found(folder, ["*.onnx"])
    others = [file for file in _found(folder, _SAFETENSORS) if _is_whole(file)]
    if chosen is not None:
        for file in (*onnx, *others):
            if file == folder / chosen:
                return file
        raise ModelError(
            f"{folder} has no model {chosen!r}; it has {_listed(folder, [*onnx, *others])}"
        )
    found = onnx or others
    if len(found) == 1:
        return found[0]
    if found:
        raise ModelError(
            f"{folder} holds {len(found)} models: {_listed(folder, found)}. "
            f"Remedy: choose one: --file {found[0].relative_to(folder).as_posix()}"
        )
    pickles = _found(folder, _PICKLES)
    seen = f"only {_listed(folder, pickles)}, which may hold code and is never opened"
    raise ModelError(
        f"{folder} holds no model (*.onnx or model.safetensors){': ' + seen if pickles else ''}. "
        "Remedy: download the model's .onnx or safetensors file with its tokenizer.json"
    )


def _is_whole(file: Path) -> bool:
    """Return whether a file stands for all weights of a model in its makers' format."""
    return (file.parent / "config.json").is_file() and not (
        file.name == _SAFETENSORS[1] and (file.parent / _SAFETENSORS[0]).is_file()
    )


def hub_folder(folder: Path, model: Path) -> Path:
    """Return the folder at or above a model where its settings lie, as the hub has them."""
    for name in ("modules.json", "config.json"):
        for place in _upwards(folder, model):
            if (place / name).is_file():
                return place
    return folder


def tokenizer_file(folder: Path, model: Path) -> Path:
    """Return the tokenizer that lies nearest to a model: beside it, above it, or elsewhere.

    Raises:
        ModelError: If there is none, or several as near.
    """
    places = [(place, place.glob("*.json")) for place in _upwards(folder, model)]
    for place, files in (*places, (folder, _found(folder, ["*.json"]))):
        found = sorted(file for file in files if _is_tokenizer(file))
        exact = [file for file in found if file.name == TOKENIZER_FILE]
        if len(exact or found) == 1:
            return (exact or found)[0]
        if found:
            raise ModelError(
                f"{place} holds {len(found)} tokenizers: {_listed(place, found)}. "
                "Remedy: put the model and its tokenizer.json alone into a folder"
            )
    raise ModelError(
        f"{folder} holds no tokenizer (*tokenizer*.json). Remedy: download the tokenizer.json "
        "that lies beside the model; vocab.txt or a .model file alone does not do"
    )


def copy_onnx(model: Path, tokenizer: Path, target: Path) -> None:
    """Copy a model, the weights beside it and a tokenizer into a folder, under our names.

    Raises:
        ModelError: If the file is not a model, or its weights are missing.
    """
    names = read_onnx_file(model).weights
    missing = [name for name in names if not (model.parent / name).is_file()]
    if missing or {MODEL_FILE, TOKENIZER_FILE, "card.json"} & set(names):
        raise ModelError(
            f"the weights of {model.name} lie in {', '.join(missing or names)}, which is not "
            f"beside it. Remedy: put the file into {model.parent}"
        )
    check_sizes([model, *(model.parent / name for name in names)], tokenizer, target)
    for name in names:  # under their own names, by which the model finds them
        shutil.copyfile(model.parent / name, target / name)
    shutil.copyfile(model, target / MODEL_FILE)
    shutil.copyfile(tokenizer, target / TOKENIZER_FILE)


def check_sizes(model: Sequence[Path], tokenizer: Path, target: Path) -> None:
    """Refuse files that are larger than a model's, or than the disk that they are copied to.

    Raises:
        ModelError: If so.
    """
    size, words = sum(file.stat().st_size for file in model), tokenizer.stat().st_size
    if size > _MAX_BYTES or words > _MAX_TOKENIZER:
        raise ModelError(
            f"{model[0]} has {size:,} bytes and {tokenizer.name} {words:,}; at most "
            f"{_MAX_BYTES:,} and {_MAX_TOKENIZER:,} are taken. Remedy: choose another model"
        )
    check_room(size + words, target)


def _found(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """Return the files that fit a pattern, ordered; links to folders are not followed.

    Raises:
        ModelError: If there are too many to look through.
    """
    found, n_files = [], 0
    for place, _, names in os.walk(folder):
        n_files += len(names)
        if n_files > _MAX_FILES:
            raise ModelError(
                f"{folder} holds more than {_MAX_FILES:,} files. Remedy: give the folder of the "
                "model alone"
            )
        fitting = (n for n in names if any(fnmatchcase(n, pattern) for pattern in patterns))
        found += [file for name in fitting if (file := Path(place, name)).is_file()]
    return sorted(found)


def _upwards(folder: Path, model: Path) -> list[Path]:
    """Return the folders from a model's own up to the one that was given."""
    inner = model.parent.relative_to(folder).parts
    return [folder.joinpath(*inner[:n]) for n in range(len(inner), -1, -1)]


def _is_tokenizer(file: Path) -> bool:
    # tokenizer_config.json lies beside the tokenizer in every hub repository
    return file.is_file() and "tokenizer" in file.name and "tokenizer_config" not in file.name


def _listed(folder: Path, files: Sequence[Path]) -> str:
    shown = [
        f"{file.relative_to(folder).as_posix()} ({file.stat().st_size / 1e6:.0f} MB)"
        for file in files[:_SHOWN]
    ]
    return ", ".join([*shown, "…"] if len(files) > _SHOWN else shown) or "none"
