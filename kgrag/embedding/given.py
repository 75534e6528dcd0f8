"""Encoders of other packages and programs: what they give is checked once, at this border."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from kgrag.embedding.catalog import CATALOG
from kgrag.embedding.embedder import ContextualEmbedder, Embedder, Task, Vectors, is_contextual
from kgrag.embedding.names import is_name
from kgrag.embedding.recorded import CLASS, PLUGIN
from kgrag.errors import KgragError, ModelError, ModelNotFoundError
from kgrag.plugins import Group, Plugin, by_name, find

_GROUP: Group = "kgrag.embedders"
_OWN = frozenset(entry.card.name for entry in CATALOG)
_LENGTHS = 1e-3  # how far from 1 the length of a row may be that is left as it is
_T = TypeVar("_T")


class PlainEmbedder(Protocol):
    """The least that an encoder of another package or program has.

    Where it has `is_stand_in`, `languages`, `settings` or `embed_spans`, too, they count as
    `Embedder` and `ContextualEmbedder` say.
    """

    @property
    def name(self) -> str:
        """Return model and variant; a knowledge base records it and refuses another."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        ...

    def embed(self, texts: Sequence[str], task: Task) -> Sequence[Sequence[float]] | Vectors:
        """Return a vector of finite numbers for each text; of any length, zero for empty texts.

        Args:
            texts: May be empty.
            task: `query` for a question, `passage` for what is searched.
        """
        ...


class CheckedEmbedder:
    """An encoder of others, whose vectors are checked, made `float32` and unit length.

    Attributes:
        name: As it says.
        dimension: As it says.
        is_stand_in: As it says; False where it does not.
        languages: As it says; any where it does not.
        settings: As it says, and its class.
    """

    def __init__(self, embedder: PlainEmbedder, *, plugin: str = "") -> None:
        """Check what it is.

        Args:
            embedder: The encoder.
            plugin: Name of the package that it comes with; empty if a program gave it.

        Raises:
            ModelError: If it is no encoder.
        """
        kind = type(embedder)
        where = f"{kind.__module__}.{kind.__qualname__}"
        self._told = where
        self._given = embedder
        self.name: str = self._attribute("name", str)
        self.dimension: int = self._attribute("dimension", int)
        if not self.name.isprintable() or not self.name.strip() or self.dimension < 1:
            raise self._error("needs a name of one line, and a dimension of at least 1")
        if not callable(getattr(embedder, "embed", None)):
            raise self._error("has no method embed(texts, task)")
        self.is_stand_in = bool(getattr(embedder, "is_stand_in", False))
        self.languages = str(getattr(embedder, "languages", ""))
        told: Mapping[str, str] = getattr(embedder, "settings", {})
        own = {"model": self.name, **{str(key): str(value) for key, value in told.items()}}
        self.settings = {**own, CLASS: where, **({PLUGIN: plugin} if plugin else {})}

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`, rows L2-normalised (zero for empty texts).

        Raises:
            ModelError: If the encoder fails, or gives something else.
        """
        given = self._called(lambda: self._given.embed(texts, task))
        return self._checked(given, len(texts))

    def _called(self, call: Callable[[], _T]) -> _T:
        try:
            return call()
        except KgragError:
            raise
        except Exception as exc:
            raise self._error(f"failed: {type(exc).__name__}: {exc}") from exc

    def _checked(self, given: object, n_rows: int) -> Vectors:
        """Return rows as they are to be."""
        try:
            listed: Any = given if hasattr(given, "__len__") else [*cast("Iterable[Any]", given)]
            with np.errstate(over="ignore"):  # it is not finite then
                rows = np.asarray(listed, np.float32)
        except (TypeError, ValueError) as exc:
            raise self._error(f"gave no rows of numbers of one length: {exc}") from exc
        wanted = (n_rows, self.dimension)
        if not n_rows and not rows.size:
            return np.zeros(wanted, np.float32)
        if rows.shape != wanted:
            raise self._error(f"gave numbers of shape {rows.shape}; wanted are {wanted}")
        if not np.isfinite(rows).all():
            raise self._error("gave numbers that are not finite")
        lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
        off = (lengths > 0) & (np.abs(lengths - 1) > _LENGTHS)
        return np.where(off, rows / np.where(off, lengths, 1), rows).astype(np.float32)

    def _attribute(self, name: str, kind: type[_T]) -> _T:
        value = self._called(lambda: getattr(self._given, name, None))
        if not isinstance(value, kind):
            raise self._error(f"has no {name} of type {kind.__name__}, but {value!r}")
        return value

    def _error(self, what: str) -> ModelError:
        return ModelError(f"the encoder {self._told} {what} (see kgrag.extending.PlainEmbedder)")


class CheckedContextualEmbedder(CheckedEmbedder):
    """One that can also encode passages in their context."""

    def __init__(self, embedder: ContextualEmbedder, *, plugin: str = "") -> None:
        super().__init__(embedder, plugin=plugin)
        self._contextual = embedder

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[Vectors]:
        """Return for each text `float32[number of its spans, dimension]`, rows L2-normalised.

        Raises:
            ModelError: If the encoder fails, or gives something else.
        """
        given = self._called(lambda: list(self._contextual.embed_spans(texts, spans)))
        if len(given) != len(texts):
            raise self._error(f"gave vectors of {len(given)} texts; wanted are {len(texts)}")
        return [self._checked(rows, len(own)) for rows, own in zip(given, spans, strict=True)]


def checked(embedder: PlainEmbedder | Embedder, *, plugin: str = "") -> Embedder:
    """Return an encoder that may come from anywhere, its vectors checked; kgrag's own as it is.

    Args:
        embedder: The encoder.
        plugin: Name of the package that it comes with; empty if a program gave it.

    Raises:
        ModelError: If it is no encoder.
    """
    if type(embedder).__module__.startswith("kgrag."):
        return embedder  # type: ignore[return-value]
    if is_contextual(embedder):  # type: ignore[arg-type]
        return CheckedContextualEmbedder(embedder, plugin=plugin)
    return CheckedEmbedder(embedder, plugin=plugin)


def plugin_of(name: str) -> Plugin | None:
    """Return the plugin that has an encoder; None where none has. Nothing is imported.

    Args:
        name: The plugin's name, or the identity of its encoder, which begins with it and `-`.

    Raises:
        PluginError: If two plugins have this name.
    """
    known = filter(is_name, by_name(_GROUP, taken=_OWN))
    names = [n for n in known if name == n or name.startswith(f"{n}-")]
    return find(_GROUP, max(names, key=len), taken=_OWN) if names else None


def open_plugin(plugin: Plugin, name: str) -> Embedder:
    """Return a plugin's encoder.

    Args:
        plugin: Names what gives the encoder when it is called without arguments.
        name: The plugin's name, or the identity of the encoder that is wanted.

    Raises:
        PluginError: If it cannot be had, or has another name than it may have.
        ModelNotFoundError: If it is not the one that is wanted.
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
