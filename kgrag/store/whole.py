"""A knowledge base as a whole: its settings, its state, everything in it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from kgrag.errors import StatementError
from kgrag.store.contents import Counts, DocumentBundle, Problem, SourceState
from kgrag.store.graph_query import GraphQuery
from kgrag.store.graph_statement import GraphRows
from kgrag.text.visible import shortened

QueryLanguage = Literal["sql", "cypher"]


class WholeStore(Protocol):
    """A knowledge base as a whole."""

    # settings and state

    def get_meta(self, key: str) -> str | None:
        """Return a setting or note that the knowledge base records, or None."""
        ...

    def all_meta(self) -> dict[str, str]:
        """Return every setting that the knowledge base records, ordered by key.

        Without notes, which are not part of its content: `kgrag.kb_meta.NOTE`.
        """
        ...

    def notes(self, prefix: str) -> dict[str, str]:
        """Return the notes whose keys begin so, ordered by key."""
        ...

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Record settings and notes, all or none."""
        ...

    def change_counter(self) -> int:
        """Return a number that grows with every committed change of content."""
        ...

    def close(self) -> None:
        """Release files and connections; further calls raise StoreError."""
        ...

    # everything that is stored

    def bundle(self, doc_id: str) -> DocumentBundle | None:
        """Return a document with everything derived from it, or None if it is not stored.

        Nothing is lost: an empty store with the same settings that is given the bundle of every
        document exports the same records. A fact comes once for each wording, every vector with
        its numbers; see `kgrag.store.bundles.KeptKnowledge`.
        """
        ...

    def counts(self) -> Counts:
        """Return how many of each are stored."""
        ...

    def count_foreign(self) -> int:
        """Return how many nodes of other programs are beside ours, under labels that ours have."""
        ...

    def verify(self) -> list[Problem]:
        """Check every invariant; an empty list means that all hold."""
        ...

    def export(self) -> Iterator[dict[str, object]]:
        """Yield every record as JSON-ready mappings, in a fixed order, without file paths.

        Two knowledge bases with the same content give the same lines.
        """
        ...

    # queries

    @property
    def query_language(self) -> QueryLanguage:
        """Return the language of `run_query`."""
        ...

    def graph_rows(
        self, query: GraphQuery, /, *, most: int, doc_ids: Collection[str] | None = None
    ) -> GraphRows:
        """Return the rows of a form, at most so many, each with the places that state it.

        Args:
            query: The form.
            most: Rows at most.
            doc_ids: Documents whose statements are looked at; what they cite may be any.

        Raises:
            OutOfRangeError: If the form asks for what there is not.
            StatementError: If it takes longer than `kgrag.store.graph_statement.FORM_S`.
        """
        ...

    def run_query(
        self, text: str, /, *, max_rows: int, timeout_s: float
    ) -> list[dict[str, object]]:
        """Return the rows of one statement that only reads, in the store's own language.

        Args:
            text: Of the owner; texts of others are never run.
            max_rows: At most so many rows.
            timeout_s: Seconds after which it is stopped.

        Raises:
            StatementError: If it is refused, malformed or stopped.
        """
        ...


_SHOWN = 200  # characters of a query in a message


def shown(text: str) -> str:
    r"""Return a query on one line, cut.

    >>> shown("SELECT 1\n  FROM t")
    'SELECT 1 FROM t'
    """
    return shortened(text, _SHOWN)


def stopped(text: str, timeout_s: float, left: str = "") -> StatementError:
    """Return the error of a query that took too long.

    Args:
        text: The query.
        timeout_s: Seconds that it had.
        left: What goes on of it all the same.
    """
    told = (
        f"no answer after {timeout_s:g} s, and {left}" if left else f"stopped after {timeout_s:g} s"
    )
    return StatementError(f"{shown(text)}: {told}: ask for less, or allow more time")


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
