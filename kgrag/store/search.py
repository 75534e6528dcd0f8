"""Searching: by title, by words, by vectors."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from kgrag.types import DocIds, NodeKind, TextField
from kgrag.vectors.vector import Hit, Vector

T = TypeVar("T")


class SearchedIndexes(Protocol):
    """What the routes of retrieval may ask of indexes."""

    def find_documents(self, name: str, *, top_k: int) -> list[str]:
        """Return ids of documents whose title contains `name`, both normalised.

        Shortest title first (the closest match), ties by id; [] for a name that normalises to
        fewer than two characters.
        """
        ...

    def search_words(
        self,
        terms: Mapping[str, float],
        *,
        field: TextField,
        size: int,
        top_k: int,
        doc_ids: DocIds = None,
    ) -> list[Hit]:
        """Return (chunk_id, BM25 score) of a group's chunks, best first, ties by chunk id.

        Args:
            terms: Words as `kgrag.text.words.words` gives them, with weights > 0.
            field: `text` searches the chunk, `path` the document's title and the headings.
            size: The group.
            top_k: At most so many.
            doc_ids: Only chunks of these documents; of all for None.
        """
        ...

    def search_phrase(
        self, phrase: str, *, field: TextField, size: int, top_k: int, doc_ids: DocIds = None
    ) -> list[Hit]:
        """Return chunks that contain the phrase, ignoring blanks, punctuation, width and case.

        Best first by BM25 of the phrase, ties by chunk id; with `doc_ids`, only of these
        documents.
        """
        ...

    def search_vectors(
        self, vector: Vector, *, kind: NodeKind, top_k: int, doc_ids: DocIds = None
    ) -> list[Hit]:
        """Return (node_id, cosine in [-1, 1]) of the nearest nodes, exact, best first.

        With `doc_ids`, only nodes of these documents. A fact has a vector for each document that
        states it, in the words of that document: the nearest of them counts.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        ...

    def begin_search_vectors(
        self, vector: Vector, *, kind: NodeKind, top_k: int, doc_ids: DocIds = None
    ) -> Callable[[], list[Hit]]:
        """Begin `search_vectors` while the caller does other things; what is returned ends it.

        It gives the hits as of when it is called, or of when the search began.
        """
        ...

    def side_by_side(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Return what each of some works returns, in their order; what one raises is raised.

        They read from this store and do not depend on each other: where each read is a round
        trip, several are under way at a time; where reading is reckoning, one comes after the
        other.
        """
        ...

    def similarities(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of each node that has a vector; the best of those of a fact."""
        ...


class SearchStore(SearchedIndexes, Protocol):
    """Indexes of a knowledge base, and the vectors in them."""

    def refresh(self, *, sizes: Collection[int] = ()) -> None:
        """Bring what searches are answered from up to date, so that the next one need not.

        Args:
            sizes: Chunk sizes that will be searched for words.
        """
        ...

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return stored vectors by embedding key."""
        ...

    def vectors_of(self, node_ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each node that has one, by node id; any of those of a fact."""
        ...
