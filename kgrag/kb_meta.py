"""What a knowledge base records of itself: typed here, stored as strings."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

# Begins the keys of notes: what a knowledge base keeps beside its settings and says nothing of its
# content. Stores leave them out of `all_meta` and exports, and so they are not copied.
NOTE = "note."


@dataclass(frozen=True, slots=True)
class KbMeta:
    """What a knowledge base records: chunk sizes, encoder, which nodes carry vectors.

    Each is read when it is asked for: one that is damaged spoils no other. What is not recorded,
    as in a new knowledge base or in one of an older kgrag, is None.

    Attributes:
        stored: Strings by key, as a store keeps them.
    """

    stored: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        chunk_sizes: Sequence[int] | None = None,
        embedded_sizes: Sequence[int] | None = None,
        embedded_facts: bool | None = None,
        embedder: str | None = None,
        languages: Sequence[str] | None = None,
        stand_in: bool | None = None,
        embedder_settings: Mapping[str, str] | None = None,
    ) -> Self:
        """Return what records these; what is None is not recorded. See the properties."""
        values = {
            "embedded_sizes": _joined(embedded_sizes),
            "embedded_facts": _yes_no(embedded_facts),
            "embedder": embedder,
            "languages": _joined(languages),
            "stand_in": _yes_no(stand_in),
            "embedder_settings": _json(embedder_settings),
            "chunk_sizes": _joined(chunk_sizes),
        }
        return cls({key: value for key, value in values.items() if value is not None})

    @classmethod
    def read(cls, get: Callable[[str], str | None], *keys: str) -> Self:
        """Return only some of what is recorded; no other is looked at, which may be damaged.

        Args:
            get: Gives the string of a key, as a store does.
            keys: What is wanted.
        """
        values = {key: get(key) for key in keys}
        return cls({key: value for key, value in values.items() if value is not None})

    def __or__(self, other: "KbMeta") -> "KbMeta":
        """Return what both record; where they differ, the other's."""
        return KbMeta({**self.stored, **other.stored})

    def changes(self, known: "KbMeta") -> dict[str, str]:
        """Return what is to be stored where something is recorded already."""
        return {k: v for k, v in self.stored.items() if known.stored.get(k) != v}

    @property
    def chunk_sizes(self) -> tuple[int, ...] | None:
        """The largest lengths of chunks: of parents, then of each group of children."""
        return self._sizes("chunk_sizes")

    @property
    def embedded_sizes(self) -> tuple[int, ...] | None:
        """Sizes of the chunks that carry vectors, largest first."""
        return self._sizes("embedded_sizes")

    @property
    def embedded_facts(self) -> bool | None:
        """Whether facts carry vectors."""
        text = self.stored.get("embedded_facts")
        return None if text is None else text != "no"

    @property
    def embedder(self) -> str | None:
        """The encoder's identity, which alone decides whether another one will do."""
        return self.stored.get("embedder")

    @property
    def languages(self) -> tuple[str, ...] | None:
        """Codes of the languages that the encoder reads well; none for any."""
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
