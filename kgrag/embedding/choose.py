"""Choosing the encoder: by name, or the best that is installed. Nothing is fetched here."""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kgrag.config import EmbeddingConfig
from kgrag.embedding.card import Format
from kgrag.embedding.catalog import DEFAULT_MODEL, remedy
from kgrag.embedding.embedder import (
    WITHOUT_ENCODER,
    ContextualEmbedder,
    Embedder,
    Task,
    Vectors,
    is_contextual,
)
from kgrag.embedding.given import open_plugin, plugin_of
from kgrag.embedding.installed import installed_models, models_folder, read_card
from kgrag.embedding.late import late
from kgrag.embedding.recorded import came_from, differences
from kgrag.errors import (
    ModelError,
    ModelMismatchError,
    ModelNotFoundError,
    ModelUnavailableError,
    TransientModelError,
)
from kgrag.files.cache_folder import cache_folder
from kgrag.kb_meta import KbMeta

_log = logging.getLogger(__name__)
# What of the settings is for endpoints only, and what for models of this machine.
_OF_ENDPOINTS = (
    *("provider", "base_url", "api_key_env", "query_instruction", "passage_instruction"),
    *("languages", "batch_texts", "batch_tokens", "concurrency", "timeout_s", "attempts"),
)
_OF_THIS_MACHINE = ("threads",)
_STAND_IN = re.compile(r"hash(?:-([1-9]\d{0,3}))?")
_ENDPOINT = "endpoint-"  # begins the identity of one behind an endpoint
# An encoder's identity: the model's, `@` and the dimension where it is cut, and `+late`.
_IDENTITY = re.compile(r"(?P<model>.*?)(?:@(?P<dimension>[1-9]\d{0,4}))?(?P<late>\+late)?")


def configured_embedder(config: EmbeddingConfig, recorded: str | None = None) -> Embedder:
    """Return the encoder that settings name; the log tells of settings that are not for it.

    Args:
        config: Settings; an endpoint is not asked yet.
        recorded: Identity of the encoder that a knowledge base was built with: what settings
            say nothing of.

    Raises:
        ModelNotFoundError: If it is not installed.
        ModelError: If it is damaged, or cannot do what is asked of it.
        MissingDependencyError: If it needs an extra that is not installed.
    """
    _warn_of_ignored(config)
    if config.is_endpoint:
        embedder = _open_endpoint(config, recorded)
    else:
        embedder = open_embedder(
            config.model or recorded, threads=config.threads or None, dimension=config.dimension
        )
    return late(embedder) if config.late_chunking else embedder


def without_endpoint(config: EmbeddingConfig) -> EmbeddingConfig:
    """Return settings without those that are for endpoints only."""
    default = EmbeddingConfig()
    return replace(config, **{name: getattr(default, name) for name in _OF_ENDPOINTS})


def _warn_of_ignored(config: EmbeddingConfig) -> None:
    default = EmbeddingConfig()
    names = _OF_THIS_MACHINE if config.is_endpoint else _OF_ENDPOINTS
    ignored = [name for name in names if getattr(config, name) != getattr(default, name)]
    if not ignored:
        return
    told = ", ".join(f"embedding.{name}" for name in ignored)
    if config.is_endpoint:
        _log.warning("%s is for models of this machine: an endpoint takes no heed of it", told)
    else:
        _log.warning(
            "%s: only endpoints take heed of this: name one with embedding.provider or "
            "embedding.base_url, or take it out of kgrag.toml",
            told,
        )


def open_embedder(
    name: str | None = None, *, threads: int | None = None, dimension: int = 0
) -> Embedder:
    """Return an encoder of this machine.

    Args:
        name: `hash` (or `hash-1024`) is the stand-in; else the name of an installed model or of
            a plugin's, or an identity as a knowledge base records it. None is `bge-small-zh`
            where it is installed, the stand-in where it is not.
        threads: Texts encoded at once; the cores that this process may use for None.
        dimension: Length to cut vectors to, whatever an identity says; 0 for that.

    Raises:
        ModelNotFoundError: If that model is not installed; the text has the command.
        ModelError: If it is installed, but damaged, or its vectors are shorter.
        MissingDependencyError: If it needs an extra that is not installed.
        PluginError: If it is a plugin's, and the plugin cannot be used.
    """
    if name is None:
        # A damaged installation is an error: it must not turn into the stand-in unnoticed.
        name = DEFAULT_MODEL if (models_folder() / DEFAULT_MODEL).is_dir() else "hash"
    said = _IDENTITY.fullmatch(name)
    if said is None:  # it has a line break
        raise ModelNotFoundError(f"no model is called {name!r}. Remedy: kgrag models list")
    embedder = _open_whole(said["model"], threads=threads)
    dimension = dimension or int(said["dimension"] or 0)
    if dimension:
        embedder = truncated(embedder, dimension)
    return late(embedder) if said["late"] else embedder


def _open_endpoint(config: EmbeddingConfig, recorded: str | None) -> Embedder:
    from kgrag.embedding.endpoint import open_endpoint
    from kgrag.embedding.vector_cache import FILE_NAME, CachedEmbedder

    return CachedEmbedder(open_endpoint(config, recorded=recorded), cache_folder() / FILE_NAME)


def _open_whole(name: str, *, threads: int | None) -> Embedder:
    if stand_in := _STAND_IN.fullmatch(name):
        from kgrag.embedding.hashing import HashEmbedder

        return HashEmbedder(int(stand_in[1])) if stand_in[1] else HashEmbedder()
    if re.fullmatch(r"hash-\d+", name):
        raise ModelNotFoundError(f"there is no stand-in {name!r}: choose hash-1 to hash-9999")
    if name.startswith(_ENDPOINT):
        raise ModelNotFoundError(
            f"the encoder {name} is behind an endpoint: name it in [embedding] of kgrag.toml "
            "(provider or base_url, and model)"
        )
    return _open_model(name, threads=threads)


def is_here(name: str) -> bool:
    """Return whether this is the stand-in, a model that is installed, or a plugin's."""
    cards = installed_models()
    known = _STAND_IN.fullmatch(name) or any(name in (c.name, c.identity) for c in cards)
    return bool(known) or plugin_of(name) is not None


def built_with(meta: KbMeta, choose: Callable[[], Embedder]) -> Embedder:
    """Return an encoder that a knowledge base can be searched with.

    Args:
        meta: What the knowledge base records; of a new one nothing of an encoder.
        choose: Gives the encoder.

    Raises:
        ModelNotFoundError: If it is not installed.
        ModelMismatchError: If it is another one.
        ModelError: If it is an endpoint that has to be asked, and cannot be.
    """
    identity = meta.embedder
    try:
        embedder = choose()
        is_another = identity is not None and identity != embedder.name  # an endpoint is asked
    except ModelNotFoundError as exc:
        origin = came_from(meta)
        if origin:
            exc = ModelNotFoundError(
                f"{exc}\nThis knowledge base was built with {identity}, which came from {origin}."
            )
        raise ModelNotFoundError(
            f"{exc}\n{WITHOUT_ENCODER} To change a knowledge base to an encoder that is there: "
            "kgrag reembed --model NAME."
        ) from exc
    except (ModelUnavailableError, TransientModelError) as exc:
        raise type(exc)(f"{exc}\n{WITHOUT_ENCODER}") from exc
    if identity is not None and is_another:
        different = "".join(f"\n  {line}" for line in differences(meta, embedder))
        # without settings a model of this machine is found again, an endpoint is not
        is_endpoint = identity.startswith(_ENDPOINT)
        back = "name it in [embedding]" if is_endpoint else "take [embedding] out"
        raise ModelMismatchError(
            f"this knowledge base was built with the encoder {identity}, but {embedder.name} is "
            f"chosen{':' if different else ''}{different}\nTo use the first, {back} "
            "of kgrag.toml; to change the knowledge base to the second, run `kgrag reembed` with "
            "the same --kb; --system bm25 needs no encoder."
        )
    return embedder


def _open_model(name: str, *, threads: int | None) -> Embedder:
    cards = installed_models()
    for card in cards:
        if name in (card.name, card.identity):
            return _open_folder(card.name, card.format, threads=threads)
    if (models_folder() / _short(name)).is_dir():
        # it is there, but its card cannot be read, or is another: say that
        read_card(models_folder() / _short(name))
    plugin = plugin_of(name)
    if plugin is not None:
        return open_plugin(plugin, name)
    seen = ", ".join(card.identity for card in cards) or "none"
    raise ModelNotFoundError(
        f"the model {name!r} is not installed; installed: {seen}. {remedy(_short(name))}"
    )


def _open_folder(name: str, format_: Format, *, threads: int | None) -> Embedder:
    if format_ == "transformers":
        from kgrag.embedding.transformers_model import TransformersEmbedder

        return TransformersEmbedder.from_folder(models_folder() / name, threads=threads)
    from kgrag.embedding.onnx import OnnxEmbedder

    return OnnxEmbedder.from_folder(models_folder() / name, threads=threads)


def _short(name: str) -> str:
    """Return the name in an identity: `bge-small-zh-15b717c382bc-1a2b` is `bge-small-zh`."""
    return re.sub(r"-[0-9a-f]{12}-[0-9a-f]{4}$", "", name)


def stand_in_note(embedder: Embedder) -> str | None:
    """Return what the user should know of a stand-in and the command that ends it, or None."""
    if not embedder.is_stand_in:
        return None
    return (
        "no encoder model is used: texts are compared by the words and characters they share "
        f"({embedder.name}). For better results: kgrag models pull {DEFAULT_MODEL}, then "
        f"kgrag reembed --model {DEFAULT_MODEL}"
    )


class _TruncatedEmbedder:
    """The first components of another encoder's vectors, made unit vectors again.

    Matryoshka representation learning (Kusupati et al., 2022, arXiv 2205.13147, section 3) puts
    most of what a vector says into its first components. Models that were not trained so lose
    more by it.

    Attributes:
        name: The encoder's, `@` and the dimension.
        dimension: Length of a vector.
        is_stand_in: As the encoder says.
        languages: As the encoder says.
        settings: The encoder's, and the cut.
    """

    def __init__(self, embedder: Embedder, dimension: int) -> None:
        if not 1 <= dimension <= embedder.dimension:
            raise ModelError(
                f"embedding.dimension is {dimension}, but {embedder.name} gives vectors of "
                f"{embedder.dimension}: choose 1 to {embedder.dimension}"
            )
        self._embedder = embedder
        self.name = f"{embedder.name}@{dimension}"
        self.dimension = dimension
        self.is_stand_in = embedder.is_stand_in
        self.languages = embedder.languages
        self.settings = {**embedder.settings, "cut to": str(dimension)}

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty."""
        return self._cut(self._embedder.embed(texts, task))

    def _cut(self, vectors: Vectors) -> Vectors:
        cut = vectors[:, : self.dimension]
        lengths = np.linalg.norm(cut, axis=1, keepdims=True)
        lengths[lengths == 0] = 1  # the zero vectors of empty texts stay as they are
        return np.asarray(cut / lengths, np.float32)


class _TruncatedContextualEmbedder(_TruncatedEmbedder):
    """The same of an encoder that reads passages in their context."""

    def __init__(self, embedder: ContextualEmbedder, dimension: int) -> None:
        super().__init__(embedder, dimension)
        self._contextual = embedder

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[Vectors]:
        """Return for each text `float32[number of its spans, dimension]`."""
        return [self._cut(rows) for rows in self._contextual.embed_spans(texts, spans)]


def truncated(embedder: Embedder, dimension: int) -> Embedder:
    """Return an encoder with vectors of a dimension; itself where it has that one.

    Raises:
        ModelError: If the encoder gives shorter ones.
    """
    if dimension == embedder.dimension:
        return embedder
    if is_contextual(embedder):
        return _TruncatedContextualEmbedder(embedder, dimension)
    return _TruncatedEmbedder(embedder, dimension)
