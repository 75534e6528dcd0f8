"""Recorded settings of a knowledge base: typed here, stored as strings."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

# Begins the keys of notes: what a knowledge base keeps beside its settings and says nothing of its
# content. Stores leave them out of `all_meta` and exports, and so they are not copied.
NOTE = "note."


@dataclass(frozen=True, slots=True)
class KbMeta:
    """Recorded settings: chunk sizes and encoder.

    Each is parsed when it is read, so that a damaged one does not affect the others. Settings that
    are not recorded (a new or older knowledge base) are None.

    Attributes:
        stored: Strings by key, as in the store.
    """

    stored: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        chunk_sizes: Sequence[int] | None = None,
        embedder: str | None = None,
        languages: Sequence[str] | None = None,
        stand_in: bool | None = None,
        embedder_settings: Mapping[str, str] | None = None,
    ) -> Self:
        """Build from typed values; None is not recorded. See the properties."""
        values = {
            "embedder": embedder,
            "languages": _joined(languages),
            "stand_in": _yes_no(stand_in),
            "embedder_settings": _json(embedder_settings),
            "chunk_sizes": _joined(chunk_sizes),
        }
        return cls({key: value for key, value in values.items() if value is not None})

    @classmethod
    def read(cls, get: Callable[[str], str | None], *keys: str) -> Self:
        """Read only some keys; others, which may be damaged, are not touched.

        Args:
            get: Returns the string of a key.
            keys: Keys to read.
        """
        values = {key: get(key) for key in keys}
        return cls({key: value for key, value in values.items() if value is not None})

    def __or__(self, other: "KbMeta") -> "KbMeta":
        """Return the union; the other's values take precedence."""
        return KbMeta({**self.stored, **other.stored})

    def changes(self, known: "KbMeta") -> dict[str, str]:
        """Return the strings to store if `known` is already recorded."""
        return {k: v for k, v in self.stored.items() if known.stored.get(k) != v}

    @property
    def chunk_sizes(self) -> tuple[int, ...] | None:
        """Maximum lengths of chunks: parents, then each group of children."""
        return self._sizes("chunk_sizes")

    @property
    def embedder(self) -> str | None:
        """Identity of the encoder; only an encoder with the same identity can be used."""
        return self.stored.get("embedder")

    @property
    def languages(self) -> tuple[str, ...] | None:
        """Codes of the languages that the encoder reads well; empty for any."""
        text = self.stored.get("languages")
        return None if text is None else tuple(text.split(",")) if text else ()

    @property
    def stand_in(self) -> bool | None:
        """Whether the encoder is the stand-in."""
        text = self.stored.get("stand_in")
        return None if text is None else text == "yes"

    @property
    def embedder_settings(self) -> dict[str, str] | None:
        """The encoder's settings, for people."""
        text = self.stored.get("embedder_settings")
        settings: dict[str, str] | None = None if text is None else json.loads(text)
        return settings

    def _sizes(self, key: str) -> tuple[int, ...] | None:
        """Return sizes, largest first.

        Raises:
            ValueError: If they are damaged.
        """
        text = self.stored.get(key)
        return None if text is None else tuple(map(int, text.split(","))) if text else ()


def _joined(values: Sequence[object] | None) -> str | None:
    return None if values is None else ",".join(map(str, values))


def _json(value: Mapping[str, str] | None) -> str | None:
    return None if value is None else json.dumps(dict(value), ensure_ascii=False, sort_keys=True)


def _yes_no(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"
