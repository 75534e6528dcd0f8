"""What people decided about a knowledge base: corrected metadata, names that are one or apart."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from kgrag.ingestion.load.statement import PREFIX, with_stated
from kgrag.language.text import normalize_name
from kgrag.metadata import SILENT
from kgrag.store.decisions import Decision
from kgrag.store.store import Store
from kgrag.types import Document

TITLE = "title"  # the field of a correction that is none of `Metadata`
_NOTHING: Mapping[str, Any] = {f.name: getattr(SILENT, f.name) for f in fields(SILENT)}


@dataclass(frozen=True, slots=True)
class Decisions:
    """Which names are one, and which are not, whatever the rules say.

    Attributes:
        merged: The name that is used instead, by the normalised one; each is followed once more
            where it is replaced itself.
        apart: Pairs of normalised names that are not one.
    """

    merged: Mapping[str, str] = field(default_factory=dict)
    apart: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(cls, decisions: Iterable[Decision]) -> Self:
        """Return decisions as they are kept in a store."""
        kept = list(decisions)
        return cls(
            {normalize_name(d.name): d.into for d in kept if d.kind == "merge"},
            frozenset(
                (normalize_name(d.name), normalize_name(d.into)) for d in kept if d.kind == "split"
            ),
        )

    def called(self, name: str, *, written: str) -> str:
        """Return how a name is to be called.

        Args:
            name: As the rules resolved it.
            written: As the document writes it.

        >>> d = Decisions({"工业厅": "云岭省工业厅"}, frozenset({("市局", "云岭省局")}))
        >>> d.called("工业厅", written="工业厅"), d.called("云岭省局", written="市局")
        ('云岭省工业厅', '市局')
        """
        if self.keeps_apart(written, name):
            name = written
        met = set[str]()
        while (key := normalize_name(name)) in self.merged and key not in met:
            met.add(key)
            name = self.merged[key]
        return name

    def keeps_apart(self, written: str, name: str) -> bool:
        """Return whether a person said that a name as written does not mean an entity."""
        return (normalize_name(written), normalize_name(name)) in self.apart


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
    decisions: Decisions = field(default_factory=Decisions)

    @classmethod
    def of(cls, store: Store) -> Self:
        """Return what a store keeps."""
        return cls(store.corrections(), Decisions.of(store.decisions()))

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
