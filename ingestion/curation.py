"""Decisions of people about a knowledge base: corrected metadata, merged or separated names."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from kgrag.ingestion.load.statement import PREFIX, with_stated
from kgrag.metadata import SILENT
from kgrag.store.decisions import DecidedNames
from kgrag.store.store import Store
from kgrag.types import Document

TITLE = "title"  # a field of corrections that is not in `Metadata`
_NOTHING: Mapping[str, Any] = {f.name: getattr(SILENT, f.name) for f in fields(SILENT)}


@dataclass(frozen=True, slots=True)
class Curation:
    """Decisions of people about a knowledge base.

    Corrections are the values of corrected fields by document id, in the form of
    `kgrag.ingestion.load.statement`; empty where a person cleared the field.
    """

    corrections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    decisions: DecidedNames = field(default_factory=DecidedNames)

    @classmethod
    def of(cls, store: Store) -> Self:
        """Read the decisions of a store."""
        return cls(store.corrections(), DecidedNames.of(store.decisions()))

    def corrected(self, document: Document, *, formerly: str = "") -> Document:
        """Return a document with its title and metadata corrected.

        `formerly` is the id of the document that its file contained before, whose corrections also
        apply.
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
