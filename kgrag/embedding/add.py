"""Installing a model from the user's own files: a folder, a zip or a jar."""

import dataclasses
from pathlib import Path

from kgrag.embedding.archive import unpacked
from kgrag.embedding.card import POOLINGS, ModelCard, Pooling
from kgrag.embedding.catalog import CATALOG, known_card
from kgrag.embedding.check import check_model, measured, with_files
from kgrag.embedding.folder import read_folder
from kgrag.embedding.installed import installed_models, installing, move_into_place
from kgrag.embedding.model_files import (
    copy_onnx,
    hub_folder,
    model_file,
    tokenizer_file,
)
from kgrag.embedding.names import checked_name, name_from
from kgrag.errors import MissingDependencyError, ModelError
from kgrag.limits import check_whole
from kgrag.text.visible import shown_path


def add_model(
    path: Path,
    *,
    file: str | None = None,
    name: str | None = None,
    pooling: Pooling | None = None,
    query_instruction: str | None = None,
    passage_instruction: str | None = None,
    max_tokens: int | None = None,
    languages: str | None = None,
    replace: bool = False,
) -> ModelCard:
    """Install a model from files and return its card.

    Files that are known by their hashes bring their own card. So do files that are given the
    name of a catalogued model, once they pass its checks. The settings of all others are those
    given here, else what the folder says of itself (`read_folder`), else the defaults of
    `ModelCard`.

    Args:
        path: A folder, `.zip`, `.jar` or `.whl` with an `.onnx` file and its `*tokenizer*.json`,
            or else in its makers' format: `config.json` and `model.safetensors`.
        file: The model's path in it; for None there must be exactly one.
        name: How the user will call it: lower-case letters, digits and `.-_`. For None the
            catalogue's name of known files, else the path's.
        pooling: As the model was trained: `cls`, `mean` or `last`.
        query_instruction: Put before a question.
        passage_instruction: Put before a passage.
        max_tokens: Longer texts are cut.
        languages: Codes of those that it reads well, comma-separated.
        replace: Whether it may take the place of another model of this name.

    Raises:
        ModelError: If the path does not hold a model that works, the name is not allowed, or
            another model has it.
        MissingDependencyError: If it needs an extra.
        ValueError: If a setting is unknown, out of range, or damaged on its way here.
    """
    if pooling not in (None, *POOLINGS) or (max_tokens is not None and max_tokens < 1):
        raise ValueError(f"got pooling {pooling!r} and max_tokens {max_tokens}")
    said = {
        "name": _name_of(path.resolve()) if name is None else checked_name(name),
        "source": " ".join(filter(None, (shown_path(path.resolve().name), file))),
        "pooling": pooling,
        "query_instruction": query_instruction,
        "passage_instruction": passage_instruction,
        "max_tokens": max_tokens,
        "languages": languages,
    }
    said = {key: value for key, value in said.items() if value is not None}
    check_whole("model's setting", *map(str, said.values()))
    with installing() as staging, unpacked(path, staging.with_suffix(".unpacked")) as folder:
        try:
            model = model_file(folder, file)
            given = dataclasses.replace(read_folder(hub_folder(folder, model)), **said)  # type: ignore[arg-type]
            card = _installed(folder, model, staging, given, is_named=name is not None)
        except (ModelError, MissingDependencyError) as exc:
            told = str(exc).replace(str(folder), str(path)).replace(str(staging), str(path))
            raise type(exc)(told) from exc  # folders of ours tell the user nothing
        return move_into_place(staging, card if replace else _checked_place(card))


def gather(path: Path, staging: Path) -> None:
    """Copy the one ONNX model of a folder, zip or jar and its tokenizer into a folder.

    Raises:
        ModelError: If there is not exactly one of each, or the path cannot be read.
    """
    with unpacked(path, staging.with_suffix(".unpacked")) as folder:
        model = model_file(folder)
        copy_onnx(model, tokenizer_file(folder, model), staging)


def _installed(
    folder: Path, model: Path, staging: Path, given: ModelCard, *, is_named: bool
) -> ModelCard:
    """Copy a model to where it is installed from and return its card, once it is proven."""
    if model.suffix != ".onnx":
        from kgrag.embedding.transformers_add import add_transformers

        return add_transformers(model.parent, staging, given)
    copy_onnx(model, tokenizer_file(folder, model), staging)
    for entry in CATALOG:
        if is_named and entry.card.name == given.name:
            return check_model(entry, staging)
    card = with_files(dataclasses.replace(given, query_adapter="", passage_adapter=""), staging)
    known = known_card(card)
    if known is not None:
        return dataclasses.replace(known, name=given.name if is_named else known.name)
    return measured(card, staging)


def _checked_place(card: ModelCard) -> ModelCard:
    """Return a card whose name no other model has; a damaged one, or the same, may be replaced.

    Raises:
        ModelError: If another model has its name.
    """
    for other in installed_models():
        if other.name == card.name and other.identity != card.identity:
            raise ModelError(
                f"another model is installed as {card.name}: {other.identity}, from "
                f"{other.source or 'unknown files'}; this one is {card.identity}. Remedy: "
                "--name another, or --replace: knowledge bases of the other one cannot be "
                "searched by meaning until it is there again, or they are re-embedded"
            )
    return card


def _name_of(path: Path) -> str:
    return name_from(path.name if path.is_dir() else path.stem)
