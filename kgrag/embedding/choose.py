"""Choosing the encoder: by name, or the best one installed; nothing is downloaded."""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from kgrag.answer.notes import Note, note
from kgrag.config import EmbeddingConfig
from kgrag.embedding.catalog import CATALOG, DEFAULT_MODEL, is_name, remedy
from kgrag.embedding.embedder import WITHOUT_ENCODER, Embedder
from kgrag.embedding.model_folder import ModelFolder, installed_models, models_folder
from kgrag.embedding.wrapped import CLASS, PLUGIN, checked, truncated
from kgrag.errors import (
    ModelError,
    ModelMismatchError,
    ModelNotFoundError,
    ModelUnavailableError,
    TransientModelError,
)
from kgrag.files.cache_folder import cache_folder
from kgrag.kb_meta import KbMeta
from kgrag.plugins import Group, Plugin, by_name, find

_log = logging.getLogger(__name__)
_GROUP: Group = "kgrag.embedders"
_OWN = frozenset(entry.card.name for entry in CATALOG)  # names that no plugin may have
# Settings for endpoints only, and for local models only.
_OF_ENDPOINTS = (
    *("provider", "base_url", "api_key_env", "query_instruction", "passage_instruction"),
    *("languages", "batch_texts", "batch_tokens", "concurrency", "timeout_s", "attempts"),
)
_OF_THIS_MACHINE = ("threads",)
_STAND_IN = re.compile(r"hash(?:-([1-9]\d{0,3}))?")
_ENDPOINT = "endpoint-"  # prefix of identities of endpoints
# An encoder's identity: the model's, `@` and the dimension if truncated.
_IDENTITY = re.compile(r"(?P<model>.*?)(?:@(?P<dimension>[1-9]\d{0,4}))?")


def configured_embedder(config: EmbeddingConfig, recorded: str | None = None) -> Embedder:
    """Return the configured encoder; settings that do not apply to it are logged.

    `recorded` is the identity of the encoder that a knowledge base was built with, the default
    where settings name none. An endpoint is not called yet.

    Raises:
        ModelNotFoundError: If it is not installed.
        ModelError: If it is damaged, or does not support the settings.
        MissingDependencyError: If it needs an extra that is not installed.
    """
    _warn_of_ignored(config)
    if config.is_endpoint:
        from kgrag.embedding.endpoint import open_endpoint
        from kgrag.embedding.vector_cache import FILE_NAME, CachedEmbedder

        endpoint = open_endpoint(config, recorded=recorded)
        return CachedEmbedder(endpoint, cache_folder() / FILE_NAME)
    return open_embedder(
        config.model or recorded, threads=config.threads or None, dimension=config.dimension
    )


def without_endpoint(config: EmbeddingConfig) -> EmbeddingConfig:
    """Return settings with the defaults for endpoints."""
    default = EmbeddingConfig()
    return replace(config, **{name: getattr(default, name) for name in _OF_ENDPOINTS})


def _warn_of_ignored(config: EmbeddingConfig) -> None:
    default = EmbeddingConfig()
    names = _OF_THIS_MACHINE if config.is_endpoint else _OF_ENDPOINTS
    ignored = [name for name in names if getattr(config, name) != getattr(default, name)]
    if ignored:
        why = (
            " is for models of this machine: an endpoint takes no heed of it" if config.is_endpoint
            else ": only endpoints take heed of this: name one with embedding.provider or "
            "embedding.base_url, or take it out of kgrag.toml"
        )  # fmt: skip
        _log.warning("%s%s", ", ".join(f"embedding.{name}" for name in ignored), why)


def open_embedder(
    name: str | None = None, *, threads: int | None = None, dimension: int = 0
) -> Embedder:
    """Return a local encoder, with vectors truncated to a dimension if one is given.

    `hash` (or `hash-1024`) is the stand-in; other names are those of installed models or plugins,
    or identities recorded by knowledge bases. None is `bge-small-zh` if installed, otherwise the
    stand-in. `threads` are the texts encoded at once; None for the available cores.

    Raises:
        ModelNotFoundError: If that model is not installed; the text has the command.
        ModelError: If it is installed, but damaged, or its vectors are shorter.
        MissingDependencyError: If it needs an extra that is not installed.
        PluginError: If it is a plugin that cannot be used.
    """
    if name is None:
        # A damaged installation is an error: no silent fallback to the stand-in.
        name = DEFAULT_MODEL if (models_folder() / DEFAULT_MODEL).is_dir() else "hash"
    parts = _IDENTITY.fullmatch(name)
    if parts is None:  # it has a line break
        raise ModelNotFoundError(f"no model is called {name!r}. Remedy: kgrag models list")
    embedder = _open_whole(parts["model"], threads=threads)
    dimension = dimension or int(parts["dimension"] or 0)
    return truncated(embedder, dimension) if dimension else embedder


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
    cards = installed_models()
    for card in cards:
        if name in (card.name, card.identity):
            from kgrag.embedding.local import LocalEmbedder

            return LocalEmbedder.from_folder(models_folder() / card.name, threads=threads)
    short = re.sub(r"-[0-9a-f]{12}-[0-9a-f]{4}$", "", name)  # the name in an identity
    if (models_folder() / short).is_dir():
        # installed, but its card is damaged: raises
        ModelFolder(models_folder() / short).card()
    plugin = plugin_of(name)
    if plugin is not None:
        return open_plugin(plugin, name)
    seen = ", ".join(card.identity for card in cards) or "none"
    raise ModelNotFoundError(
        f"the model {name!r} is not installed; installed: {seen}. {remedy(short)}"
    )


def is_here(name: str) -> bool:
    """Return whether this is the stand-in, an installed model, or a plugin."""
    cards = installed_models()
    known = _STAND_IN.fullmatch(name) or any(name in (c.name, c.identity) for c in cards)
    return bool(known) or plugin_of(name) is not None


def built_with(meta: KbMeta, choose: Callable[[], Embedder]) -> Embedder:
    """Return the encoder of `choose` if it fits a knowledge base's metadata.

    Raises:
        ModelNotFoundError: If it is not installed.
        ModelMismatchError: If it is another one.
        ModelError: If it is an endpoint that has to be called, and fails.
    """
    identity = meta.embedder
    try:
        embedder = choose()
        is_another = identity is not None and identity != embedder.name  # may call an endpoint
    except ModelNotFoundError as exc:
        if origin := _origin(meta.embedder_settings or {}):
            exc = ModelNotFoundError(
                f"{exc}. This knowledge base was built with {identity}, which came from {origin}"
            )
        raise ModelNotFoundError(
            f"{exc}. {WITHOUT_ENCODER} To change a knowledge base to an encoder that is there: "
            "kgrag reembed --model NAME."
        ) from exc
    except (ModelUnavailableError, TransientModelError) as exc:
        raise type(exc)(f"{exc} ({WITHOUT_ENCODER})") from exc
    if identity is not None and is_another:
        different = "; ".join(differences(meta, embedder))
        # without settings a local model is found again, an endpoint is not
        is_endpoint = identity.startswith(_ENDPOINT)
        back = "name it in [embedding]" if is_endpoint else "take [embedding] out"
        raise ModelMismatchError(
            f"this knowledge base was built with the encoder {identity}, but {embedder.name} is "
            f"chosen{different and f' ({different})'}. To use the first, {back} "
            "of kgrag.toml; to change the knowledge base to the second, run `kgrag reembed` with "
            "the same --kb; --system bm25 needs no encoder."
        )
    return embedder


def encoder_note(embedder: Embedder) -> Note | None:
    """Return a note on what users of an encoder should know: it is the stand-in, or unmeasured."""
    if embedder.is_stand_in:
        return note("stand-in", "en", name=embedder.name, model=DEFAULT_MODEL)
    return None if embedder.answered is not None else note("unmeasured", "en", name=embedder.name)


def plugin_of(name: str) -> Plugin | None:
    """Return the plugin of an encoder, given the plugin's name or the encoder's identity.

    The identity starts with the name and `-`. Nothing is imported; None if there is none.

    Raises:
        PluginError: If two plugins have this name.
    """
    known = filter(is_name, by_name(_GROUP, taken=_OWN))
    names = [n for n in known if name == n or name.startswith(f"{n}-")]
    return find(_GROUP, max(names, key=len), taken=_OWN) if names else None


def open_plugin(plugin: Plugin, name: str) -> Embedder:
    """Return a plugin's encoder; `name` is the plugin's name or the expected identity.

    Raises:
        PluginError: If it cannot be created, or its name is not allowed.
        ModelNotFoundError: If it is not the expected one.
    """
    make = plugin.load()
    if not callable(make):
        raise plugin.error(f"is no class or function that gives an encoder, but {make!r}")
    made: object = plugin.guarded(make, object)()
    try:
        embedder = checked(made, plugin=plugin.package or plugin.name)  # type: ignore[arg-type]
    except ModelError as exc:
        raise plugin.error(f"gave no encoder: {exc}") from exc
    if embedder.name != plugin.name and not embedder.name.startswith(f"{plugin.name}-"):
        raise plugin.error(
            f"gave an encoder called {embedder.name!r}: the name must be {plugin.name!r}, or "
            f"begin with '{plugin.name}-'"
        )
    if name not in (plugin.name, embedder.name):
        raise ModelNotFoundError(f"{plugin} has the encoder {embedder.name}, and not {name}")
    return embedder


def encoder_meta(embedder: Embedder) -> KbMeta:
    """Return the metadata that a knowledge base records of its encoder."""
    settings = {"dimension": str(embedder.dimension), **embedder.settings}
    return KbMeta.of(
        embedder=embedder.name,
        languages=embedder.languages.split(",") if embedder.languages else (),
        stand_in=embedder.is_stand_in,
        embedder_settings=settings,
    )


def _origin(settings: Mapping[str, str]) -> str:
    """Return the origin of a third-party encoder, with a remedy; empty for others."""
    if package := settings.get(PLUGIN):
        return f"the plugin {package}. Remedy: pip install {package}"
    if given := settings.get(CLASS):
        return f"a program, as {given}. Remedy: KnowledgeBase.open(embedder=…) with that encoder"
    return ""


def differences(meta: KbMeta, embedder: Embedder) -> list[str]:
    """Return in words how an encoder differs from the recorded one; the model first.

    For another model only settings that both have are compared. Metadata of an older kgrag may
    record only the identity.
    """
    before = meta.embedder_settings
    if before is None:
        return []
    after = {"dimension": str(embedder.dimension), **embedder.settings}
    same_model = before.get("model") == after.get("model")
    names = dict.fromkeys(("model", *after, *before))
    return [
        f"{name} {after.get(name) or 'none'} instead of {before.get(name) or 'none'}"
        for name in names
        if (before.get(name) or "") != (after.get(name) or "")
        and (same_model or (name in before and name in after))
    ]
