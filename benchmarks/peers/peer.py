"""What an adapter of a system is: it takes texts in, and answers questions with passages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.peers.encoder import CountingEncoder
from benchmarks.peers.model import StandIn

TOP_K = 20


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that a system found.

    Attributes:
        doc_id: The document's file name without suffix.
        text: As the system gives it.
        start: First character in the document; None where the system does not say.
        end: Offset after the last.
    """

    doc_id: str
    text: str
    start: int | None = None
    end: int | None = None


Search = Callable[[str], list[Found]]


@dataclass(frozen=True, slots=True)
class Parts:
    """What every system is given.

    Attributes:
        encoder: The same for all.
        model: The same for all.
        folder: An empty one, for what it stores.
        files: Of the documents, by id.
    """

    encoder: CountingEncoder
    model: StandIn
    folder: Path
    files: Mapping[str, Path]


class Peer(Protocol):
    """A system, or several searches of one that share what was taken in.

    Attributes:
        packages: Whose versions are reported.
    """

    packages: tuple[str, ...]

    def build(self, texts: Mapping[str, str]) -> None:
        """Take texts in, by document id."""
        ...

    def searches(self) -> Mapping[str, Search]:
        """Return its searches by name, best passages first, `TOP_K` at most."""
        ...

    def server_memory(self) -> int:
        """Return the bytes of processes that it started, at their most; 0 for none."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class Local:
    """What a system has that is one process and holds nothing open."""

    def server_memory(self) -> int:
        """Return 0."""
        return 0

    def close(self) -> None:
        """Do nothing."""
