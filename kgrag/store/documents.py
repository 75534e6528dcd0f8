"""Documents with their chunks and summaries: what is stored of a file."""

from collections.abc import Sequence
from typing import Protocol

from kgrag.store.contents import DocumentBundle, NodeVector, SourceState
from kgrag.types import Chunk, Document, Fact, Heading, Mention, Summary


class SearchedDocuments(Protocol):
    """What the routes of retrieval may ask of documents."""

    def document_cards(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with empty `text` and `segments`: cheap lists of titles and files."""
        ...

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return chunks in the order asked."""
        ...

    def chunks_of(self, doc_ids: Sequence[str], *, size: int) -> list[Chunk]:
        """Return a group's chunks of documents, ordered by document as asked, then position."""
        ...

    def headings(self, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
        """Return the headings of documents in text order, by document."""
        ...

    def children(self, parent_ids: Sequence[str], *, size: int) -> list[Chunk]:
        """Return one group of children, ordered by parent as asked, then position."""
        ...

    def families(self, parent_ids: Sequence[str]) -> list[Chunk]:
        """Return parents, each followed by all its children, larger groups first, by position.

        Ids of chunks that have a parent themselves are left out.
        """
        ...

    def summaries(self, summary_ids: Sequence[str] | None = None) -> list[Summary]:
        """Return summaries in the order asked (all, ordered by document and place, for None)."""
        ...


class DocumentStore(SearchedDocuments, Protocol):
    """Documents of a knowledge base: reading and writing them."""

    # writing

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> str | None:
        """Store a document whole, in one transaction, replacing its old self.

        Returns the fingerprint of its old self; None if there was none.

        It replaces the document of the same id and, if no other source has it, the
        former document of `source`. What only these supported is deleted too. Corrections
        of the former document of `source` are carried over, unless it has its own.

        Raises:
            ModelMismatchError: If its vectors are of another encoder than is recorded.
            ValueError: If a part of it belongs to another document, or a fact lacks evidence.
        """
        ...

    def attach_source(self, source: str, doc_id: str) -> None:
        """Record that a stored document is also that of `source`.

        The former document of `source` is deleted if no other source has it.

        Raises:
            NotFoundError: If the document is not stored.
        """
        ...

    def detach_source(self, source: str) -> None:
        """Forget a source, and delete its document if no other source has it.

        Does nothing if the source is not known.
        """
        ...

    def delete_document(self, doc_id: str) -> bool:
        """Delete a document and exactly what nothing else supports; False if not stored."""
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
            NotFoundError: If the document is not stored.
            ModelMismatchError: If the vectors are of another encoder than is recorded; an empty
                `embedder` is not compared.
            ValueError: If something belongs to another document, or a fact lacks evidence.
        """
        ...

    def replace_knowledge(
        self,
        doc_id: str,
        *,
        facts: Sequence[Fact],
        mentions: Sequence[Mention],
    ) -> None:
        """Replace all facts and mentions of a stored document, in one transaction.

        Those of all extractors are replaced; everything else stays. Vectors of facts that
        it states no more go, and what nothing else supports. What is left is what `upsert_document`
        of all that would leave. Idempotent.

        Raises:
            NotFoundError: If the document is not stored.
            ValueError: If something belongs to another document, or a fact lacks evidence.
        """
        ...

    # reading

    def sources(self) -> list[SourceState]:
        """Return every known source, ordered by source."""
        ...

    def documents(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with text, in the order asked (all, ordered by id, for None)."""
        ...
