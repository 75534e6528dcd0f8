"""The part of a store that searches: what the routes of retrieval may ask."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from kgrag.types import Chunk, Document, Entity, Fact, NodeKind, Summary, TextField
from kgrag.vectors.vector import Hit, Vector

T = TypeVar("T")
Stating = tuple[str, str]


class Triple(NamedTuple):
    """A fact without its evidence.

    Attributes:
        fact_id: The fact.
        subject: The entity that it is about.
        predicate: The relation.
        object: The entity at the other end.
    """

    fact_id: str
    subject: Entity
    predicate: str
    object: Entity


StatedTriple = tuple[Triple, tuple[str, ...]]


class SearchedStore(Protocol):
    """A knowledge base, or some documents of one, as searches see it.

    Ids that are not held are left out of results, never an error. Every method raises
    `StoreError` (or a subclass) when the storage itself fails.
    """

    def document_cards(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with empty `text` and `segments`: cheap lists of titles and files."""
        ...

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return chunks in the order asked."""
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
        route: TextField,
        size: int,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return (chunk_id, BM25 score) of a group's chunks, best first, ties by chunk id.

        Args:
            terms: Words as `kgrag.text.words` gives them, with weights > 0.
            route: `text` searches the chunk, `path` the document's title and the headings.
            size: The group.
            top_k: At most so many.
            doc_ids: Only chunks of these documents; of all for None.
        """
        ...

    def search_phrase(
        self,
        phrase: str,
        *,
        route: TextField,
        size: int,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks that hold the phrase as one, blind to blanks, marks, width and case.

        Best first by BM25 of the phrase, ties by chunk id; with `doc_ids`, only of these
        documents.
        """
        ...

    def search_vectors(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return (node_id, cosine in [-1, 1]) of the nearest nodes, exact, best first.

        With `doc_ids`, only nodes of these documents. A fact has a vector for each document that
        states it, in the words of that document: the nearest of them counts.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        ...

    def begin_search_vectors(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
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

    def find_entities(self, names: Sequence[str]) -> list[Entity]:
        """Return entities whose normalised name is one of `names` normalised, ordered by id."""
        ...

    def entity_degrees(self, entity_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of facts around each entity that is held."""
        ...

    def facts_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Fact]:
        """Return facts whose subject or object is one of the entities.

        Ordered by the entity's place in `entity_ids`, then fact id; at most `limit` for each.
        With `doc_ids`, only facts that one of these documents states, with all their evidence.
        """
        ...

    def triples_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Triple]:
        """Return the facts of `facts_around`, in the same order, without their evidence.

        To choose from: most facts around an entity that much is said of do not matter to a
        question.
        """
        ...

    def stating_chunks(self, fact_ids: Sequence[str]) -> list[Stating]:
        """Return (fact id, chunk id) of the evidence of facts, in any order."""
        ...

    def stated_triples(self, fact_ids: Sequence[str]) -> list[StatedTriple]:
        """Return facts in the order asked, each once, with the ids of the chunks that state them.

        The ids are in any order, one for each piece of evidence.
        """
        ...

    def facts(self, fact_ids: Sequence[str]) -> list[Fact]:
        """Return facts with all their evidence, in the order asked, each once."""
        ...
