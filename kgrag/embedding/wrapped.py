"""Wrappers of encoders: validation of third-party ones, truncated vectors."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from kgrag.embedding.embedder import Embedder, PlainEmbedder, Task, Vectors
from kgrag.errors import KgragError, ModelError

PLUGIN, CLASS = "plugin", "class"  # settings of third-party encoders
_LENGTHS = 1e-3  # tolerance of unit length
_T = TypeVar("_T")


class CheckedEmbedder:
    """A third-party encoder whose vectors are validated, converted to `float32` and normalised.

    Attributes are those of the encoder, with defaults for missing ones; its class is one of its
    settings.
    """

    def __init__(self, embedder: PlainEmbedder, *, plugin: str = "") -> None:
        """Validate the encoder; `plugin` is the package that provides it, if any.

        Raises:
            ModelError: If it is no encoder.
        """
        kind = type(embedder)
        self._where = f"{kind.__module__}.{kind.__qualname__}"
        self._given = embedder
        self.name: str = self._attribute("name", str)
        self.dimension: int = self._attribute("dimension", int)
        if not self.name.isprintable() or not self.name.strip() or self.dimension < 1:
            raise self._error("needs a name of one line, and a dimension of at least 1")
        if not callable(getattr(embedder, "embed", None)):
            raise self._error("has no method embed(texts, task)")
        self.is_stand_in = bool(getattr(embedder, "is_stand_in", False))
        self.languages = str(getattr(embedder, "languages", ""))
        measured = getattr(embedder, "answered", None)
        self.answered = None if measured is None else self._called(lambda: float(measured))
        stated: Mapping[str, str] = getattr(embedder, "settings", {})
        own = {"model": self.name, **{str(key): str(value) for key, value in stated.items()}}
        self.settings = {**own, CLASS: self._where, **({PLUGIN: plugin} if plugin else {})}

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`, rows L2-normalised (zero for empty texts).

        Raises:
            ModelError: If the encoder fails, or returns something else.
        """
        return self._checked(self._called(lambda: self._given.embed(texts, task)), len(texts))

    def _called(self, call: Callable[[], _T]) -> _T:
        try:
            return call()
        except KgragError:
            raise
        except Exception as exc:
            raise self._error(f"failed: {type(exc).__name__}: {exc}") from exc

    def _checked(self, given: object, n_rows: int) -> Vectors:
        try:
            listed: Any = given if hasattr(given, "__len__") else [*cast("Iterable[Any]", given)]
            with np.errstate(over="ignore"):  # checked below
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
        return ModelError(f"the encoder {self._where} {what} (see kgrag.extending.PlainEmbedder)")


def checked(embedder: PlainEmbedder, *, plugin: str = "") -> Embedder:
    """Return an encoder that satisfies `Embedder`; unchanged if it is kgrag's own.

    `plugin` is the package that provides it, if any.

    Raises:
        ModelError: If it is no encoder.
    """
    if type(embedder).__module__.startswith("kgrag."):
        return embedder  # type: ignore[return-value]
    return CheckedEmbedder(embedder, plugin=plugin)


class _TruncatedEmbedder:
    """An encoder whose vectors are truncated to their first components and normalised.

    Matryoshka: Kusupati et al., 2022, arXiv 2205.13147. The dimension is part of its name, since
    vectors of different lengths cannot be compared; so is what was measured of complete ones.
    """

    answered = None

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
        lengths[lengths == 0] = 1  # keeps the zero vectors of empty texts
        return np.asarray(cut / lengths, np.float32)


def truncated(embedder: Embedder, dimension: int) -> Embedder:
    """Return an encoder with vectors of a dimension; unchanged if it has that one.

    Raises:
        ModelError: If its vectors are shorter.
    """
    return embedder if dimension == embedder.dimension else _TruncatedEmbedder(embedder, dimension)
