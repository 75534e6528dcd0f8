"""The models on this machine, whole or damaged, those of plugins, and those to be pulled."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import CATALOG, remedy
from kgrag.embedding.installed import MODEL_FILE, files_bytes, model_folders, read_card
from kgrag.embedding.names import is_name
from kgrag.embedding.onnx_file import read_onnx_file
from kgrag.errors import ModelError
from kgrag.plugins import Plugin, installed


@dataclass(frozen=True, slots=True)
class Listed:
    """A model and what there is to say of its files.

    Attributes:
        name: What the user calls it.
        folder: Where its files are; None where it is not installed.
        card: How it is used; None where it cannot be read.
        n_bytes: Size of its files, or of the download.
        precision: Of its weights; empty where it is not known.
        plugin: The plugin that has it; empty for files of this machine. It is not imported.
        problem: What is wrong with it, and the remedy; empty where nothing is, as far as sizes
            tell: hashes are compared when it is opened.
    """

    name: str
    folder: Path | None
    card: ModelCard | None
    n_bytes: int
    precision: str
    problem: str = ""
    plugin: str = ""


def listed_models() -> list[Listed]:
    """Return the models on this machine by name, plugins' ones, then those that can be pulled."""
    here = [_installed(folder) for folder in model_folders()]
    names = {model.name for model in here}
    plugins = installed("kgrag.embedders")
    listed = [_of_plugin(plugin, names, plugins) for plugin in plugins]
    return (
        here
        + listed
        + [
            Listed(entry.card.name, None, entry.card, entry.size_mb * 10**6, entry.card.precision)
            for entry in CATALOG
            if entry.card.name not in names
        ]
    )


def _installed(folder: Path) -> Listed:
    n_bytes = files_bytes(folder)
    try:
        card = read_card(folder)
    except ModelError as exc:
        return Listed(folder.name, folder, None, n_bytes, "", str(exc))
    if card.n_bytes:
        return Listed(card.name, folder, card, n_bytes, card.precision, _of_size(card, n_bytes))
    if card.format != "onnx":
        return Listed(card.name, folder, card, n_bytes, card.precision)
    try:  # an older kgrag recorded no size, and at first no precision: the file tells
        precision = read_onnx_file(folder / MODEL_FILE).precision
    except ModelError:
        problem = f"{folder / MODEL_FILE} is missing, or not whole. {remedy(card.name)}"
        return Listed(card.name, folder, card, n_bytes, "", problem)
    return Listed(card.name, folder, card, n_bytes, precision)


def _of_plugin(plugin: Plugin, taken: Collection[str], plugins: Sequence[Plugin]) -> Listed:
    others = [other for other in plugins if other.name == plugin.name and other != plugin]
    problem = ""
    known = {entry.card.name for entry in CATALOG}
    if not is_name(plugin.name) or plugin.name in known.union(taken):
        problem = f"{plugin} is not used: no plugin may have this name, or a model has it"
    elif others:
        problem = f"{plugin} has the name of {others[0]}: remove one of them"
    package = f"{plugin.package} {plugin.version} ({plugin.value})"
    return Listed(plugin.name, None, None, 0, "", problem, package)


def _of_size(card: ModelCard, n_bytes: int) -> str:
    if card.n_bytes == n_bytes:
        return ""
    return (
        f"its files have {n_bytes:,} bytes, and had {card.n_bytes:,} when it was installed. "
        f"{remedy(card.name)}"
    )
