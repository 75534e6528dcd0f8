"""State of a store that is copied: what a local copy compares itself with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from kgrag.store.contents import Counts, DocumentBundle, SourceState


@dataclass(frozen=True, slots=True)
class ServerState:
    """State by which a copy is compared with the knowledge base.

    Attributes:
        mark: Another one after every change; empty where changes leave none.
        settings: All that it records.
        settled: False while vectors of another encoder are taking over.
    """

    mark: str
    settings: Mapping[str, str]
    settled: bool = True

    @property
    def can_be_copied(self) -> bool:
        """Whether it is identified well enough to be copied."""
        return self.settled and bool(self.mark)


@runtime_checkable
class CopiedStore(Protocol):
    """What is asked of the server; see `kgrag.store.store.Store` for the rest."""

    def state(self) -> ServerState:
        """Return the state now, in one round trip."""
        ...

    def revisions(self) -> dict[str, str]:
        """Return by document what is another after each of its changes."""
        ...

    def sources(self) -> list[SourceState]:
        """Return every known source."""
        ...

    def counts(self) -> Counts:
        """Return the number of records by kind."""
        ...

    def bundle(self, doc_id: str) -> DocumentBundle | None:
        """Return a document with everything derived from it, or None if it is not stored."""
        ...
