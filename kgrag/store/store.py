"""The Store protocol: operations on a knowledge base, lists in and lists out."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, Protocol

from kgrag.store.contents import Counts, DocumentBundle, NodeVector, Problem, SourceState
from kgrag.store.searched import SearchedStore
from kgrag.store.staged import StagedVectors
from kgrag.types import Chunk, Document, Entity, Fact, Heading, Mention, Summary
from kgrag.vectors.vector import Hit, Vector

QueryLanguage = Literal["sql", "cypher"]


class Store(SearchedStore, Protocol):
    """A knowledge base. Ids that are not held are left out of results, never an error.

    Every method raises `StoreError` (or a subclass) when the storage itself fails.
    """

    @property
    def query_language(self) -> QueryLanguage:
        """Return the language of `run_query`."""
        ...

    def own_labels(self, text: str) -> str:
        """Return words about the graph with the names that it has in this knowledge base.

        Args:
            text: With those of the documentation: Document, Chunk, Summary, Entity.
        """
        ...

    def close(self) -> None:
        """Release files and connections; further calls raise StoreError."""
        ...

    def get_meta(self, key: str) -> str | None:
        """Return a setting that the knowledge base records, or None."""
        ...

    def all_meta(self) -> dict[str, str]:
        """Return every setting that the knowledge base records, ordered by key."""
        ...

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Record settings, all or none."""
        ...

    def change_counter(self) -> int:
        """Return a number that grows with every committed change of content."""
        ...

    def refresh(self, *, sizes: Collection[int] = ()) -> None:
        """Bring what searches are answered from up to date, so that the next one need not.

        Args:
            sizes: Chunk sizes that will be searched for words.
        """
        ...

    @property
    def staged(self) -> StagedVectors:
        """Return the vectors of another encoder that do not answer yet."""
        ...

    # writing

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> None:
        """Store a document whole, in one transaction, replacing its old self.

        Replaced are the document of the same id and, if no other source holds it, the
        document that `source` held before. What only they supported goes with them.

        Raises:
            ModelMismatchError: If its vectors are of another encoder than is recorded.
        """
        ...

    def attach_source(self, source: str, doc_id: str) -> None:
        """Record that `source` holds a document that is stored already.

        The document that `source` held before is deleted if no other source holds it.
        """
        ...

    def delete_document(self, doc_id: str) -> bool:
        """Delete a document and exactly what nothing else supports; False if not held."""
        ...

    def add_knowledge(
        self,
        doc_id: str,
        *,
        facts: Sequence[Fact] = (),
        mentions: Sequence[Mention] = (),
        summaries: Sequence[Summary] = (),
        vectors: Sequence[NodeVector] = (),
        embedder: str = "",
    ) -> None:
        """Add facts, mentions and summaries to a stored document in one transaction.

        Idempotent: what is there already (same ids, same evidence) stays as it is.

        Raises:
            NotFoundError: If the document is not held.
            ModelMismatchError: If the vectors are of another encoder than is recorded; an empty
                `embedder` is not compared.
        """
        ...

    # reading documents and chunks

    def sources(self) -> list[SourceState]:
        """Return every known source, ordered by source."""
        ...

    def documents(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with text, in the order asked (all, ordered by id, for None)."""
        ...

    def headings(self, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
        """Return the headings of documents in text order, by document."""
        ...

    def chunks_of(self, doc_ids: Sequence[str], *, size: int) -> list[Chunk]:
        """Return a group's chunks of documents, ordered by document as asked, then position."""
        ...

    # searching

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return stored vectors by embedding key."""
        ...

    def vectors_of(self, node_ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each node that has one, by node id; any of those of a fact."""
        ...

    # the graph

    def search_entities(self, text: str, *, top_k: int) -> list[Hit]:
        """Return (entity_id, score) of entities whose name contains, or is like, `text`."""
        ...

    def entities(self, entity_ids: Sequence[str]) -> list[Entity]:
        """Return entities in the order asked."""
        ...

    def facts_of_chunks(self, chunk_ids: Sequence[str]) -> list[Fact]:
        """Return facts with evidence in these chunks, ordered by fact id."""
        ...

    def knowledge_of(self, doc_id: str) -> tuple[list[Fact], list[Mention], list[Summary]]:
        """Return what is known from one document, with evidence in this document only."""
        ...

    # whole

    def bundle(self, doc_id: str) -> DocumentBundle | None:
        """Return everything that one document brings, or None if it is not held.

        Nothing is lost: an empty store with the same settings that is given the bundle of every
        document exports the same records. A fact comes once for each wording, every vector with
        its numbers; see `kgrag.store.bundles.assemble_knowledge`.
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

    def run_query(
        self, text: str, /, *, max_rows: int, timeout_s: float
    ) -> list[dict[str, object]]:
        """Return the rows of one statement that only reads, in the store's own language.

        Args:
            text: Of a person or a model: nothing in it is trusted.
            max_rows: At most so many rows.
            timeout_s: Seconds after which it is stopped.

        Raises:
            StatementError: If it is refused, malformed or stopped.
        """
        ...
