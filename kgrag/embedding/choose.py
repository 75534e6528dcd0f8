"""Choosing the encoder: by name, or the best that is installed. Nothing is fetched here."""

import re
from collections.abc import Callable

from kgrag.embedding.cache import installed_models, models_folder
from kgrag.embedding.catalog import DEFAULT_MODEL, remedy
from kgrag.embedding.embedder import Embedder
from kgrag.errors import ModelMismatchError, ModelNotFoundError

_STAND_IN = re.compile(r"hash(?:-([1-9]\d{0,4}))?")


def open_embedder(name: str | None = None, *, threads: int | None = None) -> Embedder:
    """Return an encoder.

    Args:
        name: `hash` (or `hash-1024`) is the stand-in; else an installed model's name, or its
            identity as a knowledge base records it. None is `bge-small-zh` where it is
            installed, the stand-in where it is not.
        threads: Texts encoded at once; the cores that this process may use for None.

    Raises:
        ModelNotFoundError: If that model is not installed; the text has the command.
        ModelError: If it is installed, but damaged.
    """
    if name is None:
        # A damaged installation is an error: it must not turn into the stand-in unnoticed.
        name = DEFAULT_MODEL if (models_folder() / DEFAULT_MODEL).is_dir() else "hash"
    if stand_in := _STAND_IN.fullmatch(name):
        from kgrag.embedding.hashing import HashEmbedder

        return HashEmbedder(int(stand_in[1])) if stand_in[1] else HashEmbedder()
    return _open_model(name, threads=threads)


def built_with(identity: str | None, choose: Callable[[], Embedder]) -> Embedder:
    """Return an encoder that a knowledge base can be searched with.

    Args:
        identity: Of the encoder that it was built with; None for a new one.
        choose: Gives the encoder.

    Raises:
        ModelNotFoundError: If it is not installed.
        ModelMismatchError: If it is another one.
    """
    try:
        embedder = choose()
    except ModelNotFoundError as exc:
        raise ModelNotFoundError(f"{exc} Searches that need no encoder: --system bm25.") from exc
    if identity is not None and identity != embedder.name:
        raise ModelMismatchError(
            f"this knowledge base was built with the encoder {identity}, but {embedder.name} "
            "is chosen; take the [embedding] model out of kgrag.toml to use the first, ingest "
            "into a new --kb to use the second, or search with --system bm25"
        )
    return embedder


def _open_model(name: str, *, threads: int | None) -> Embedder:
    from kgrag.embedding.onnx import OnnxEmbedder

    cards = installed_models()
    for card in cards:
        if name in (card.name, card.identity):
            return OnnxEmbedder.from_folder(models_folder() / card.name, threads=threads)
    if name == DEFAULT_MODEL and (models_folder() / name).is_dir():
        # it is there, but its card cannot be read: say that
        return OnnxEmbedder.from_folder(models_folder() / name, threads=threads)
    seen = ", ".join(card.identity for card in cards) or "none"
    raise ModelNotFoundError(
        f"the model {name!r} is not installed; installed: {seen}. {remedy(_short(name))}"
    )


def _short(name: str) -> str:
    """Return the name in an identity: `bge-small-zh-15b717c382bc-1a2b` is `bge-small-zh`."""
    return re.sub(r"-[0-9a-f]{12}-[0-9a-f]{4}$", "", name)


def stand_in_notice(embedder: Embedder) -> str | None:
    """Return what the user should know of a stand-in and the command that ends it, or None."""
    if not embedder.is_stand_in:
        return None
    return (
        "no encoder model is used: texts are compared by the words and characters they share "
        f"({embedder.name}). For better results: kgrag models pull {DEFAULT_MODEL}"
    )
