"""What a store tells of itself so that a copy of it can be kept like it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from kgrag.store.contents import Counts, DocumentBundle, SourceState


@dataclass(frozen=True, slots=True)
class ServerState:
    """What tells whether a copy is like the knowledge base.

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
        """Whether a copy of it could be told from others."""
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
        """Return how much it holds."""
        ...

    def bundle(self, doc_id: str) -> DocumentBundle | None:
        """Return everything that a document brings, or None if it is not held."""
        ...
