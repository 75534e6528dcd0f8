"""What people decided about a knowledge base: corrected metadata, names that are one or apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from kgrag.ingestion.load.statement import PREFIX, with_stated
from kgrag.metadata import SILENT
from kgrag.store.decisions import DecidedNames
from kgrag.store.store import Store
from kgrag.types import Document

TITLE = "title"  # the field of a correction that is none of `Metadata`
_NOTHING: Mapping[str, Any] = {f.name: getattr(SILENT, f.name) for f in fields(SILENT)}


@dataclass(frozen=True, slots=True)
class Curation:
    """What people decided about a knowledge base.

    Attributes:
        corrections: By document id the value of each corrected field, as
            `kgrag.ingestion.load.stated_values` gives it; empty where a person says that there is
            none.
        decisions: On names.
    """

    corrections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    decisions: DecidedNames = field(default_factory=DecidedNames)

    @classmethod
    def of(cls, store: Store) -> Self:
        """Return what a store keeps."""
        return cls(store.corrections(), DecidedNames.of(store.decisions()))

    def corrected(self, document: Document, *, formerly: str = "") -> Document:
        """Return a document with its title and metadata as a person corrected them.

        Args:
            document: As read.
            formerly: Id of the document that its file held before; its corrections go with it.
        """
        told = self.corrections.get(document.doc_id) or self.corrections.get(formerly, {})
        if not told:
            return document
        stated = {PREFIX + name: value for name, value in told.items() if value}
        cleared = [name for name, value in told.items() if name in _NOTHING and not value]
        none = {name: _NOTHING[name] for name in cleared}
        metadata = replace(with_stated(document.metadata, stated), **none)
        sure = tuple(name for name in metadata.inferred if name not in told)
        return replace(
            document,
            title=told.get(TITLE) or document.title,
            metadata=replace(metadata, inferred=sure),
        )
