"""The knowledge graph: entities, and facts with their evidence."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from kgrag.qualifiers import Qualifiers, StatementKind
from kgrag.types import DocIds, Entity, Fact, Mention, Summary
from kgrag.vectors.vector import Hit


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


class CountedEntity(NamedTuple):
    """An entity with the number of its facts.

    Attributes:
        entity: It.
        facts: How many facts are around it.
    """

    entity: Entity
    facts: int


class Statement(NamedTuple):
    """A place where a document states a fact with qualifiers.

    Attributes:
        doc_id: The document.
        start: First character of the place.
        end: Offset after it.
        fact: The triple.
        qualifiers: What the document adds to it there.
        extractor: Who found it.
        chunk_id: Of the chunks that it touches, the one with the smallest id.
        confidence: In (0, 1].
    """

    doc_id: str
    start: int
    end: int
    fact: Triple
    qualifiers: Qualifiers
    extractor: str
    chunk_id: str
    confidence: float


Stating = tuple[str, str]
StatedTriple = tuple[Triple, tuple[str, ...]]


MOST_AROUND = 5_000  # facts around an entity of which those that say something are chosen


class SearchedGraph(Protocol):
    """What the routes of retrieval may ask of the graph."""

    def find_entities(self, names: Sequence[str]) -> list[Entity]:
        """Return entities whose normalised name is one of `names` normalised, ordered by id."""
        ...

    def entity_degrees(self, entity_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of facts around each stored entity."""
        ...

    def facts_around(
        self, entity_ids: Sequence[str], *, limit: int, doc_ids: DocIds = None
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
        doc_ids: DocIds = None,
        saying: Collection[str] = (),
    ) -> list[Triple]:
        """Return the facts of `facts_around`, in the same order, without their evidence.

        To choose from: most facts around an entity that much is said of do not matter to a
        question. With `saying`, words as `kgrag.text.words.normalize_name` writes them, the
        facts that say most of them in their predicate or the name of their other end come first,
        then in the order of their ids; of the first `MOST_AROUND` facts around an entity.
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


class GraphStore(SearchedGraph, Protocol):
    """The knowledge graph of a knowledge base."""

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

    def entity_uses(self, entity_ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the documents that name each stored entity, in facts or without, by id."""
        ...

    def entity_page(self, *, after: str = "", limit: int) -> list[CountedEntity]:
        """Return at most `limit` entities whose id comes after one, ordered by id.

        The next page comes after the last of these; an empty one is the end.
        """
        ...

    def statements(
        self,
        kind: StatementKind,
        doc_ids: Sequence[str] | None = None,
        *,
        predicates: Collection[str] | None = None,
        around: Collection[str] | None = None,
    ) -> list[Statement]:
        """Return the places whose qualifiers are of a kind, in some documents or in all, in order.

        A place over several chunks is one. They are ordered by document, start, end, fact,
        extractor and qualifiers. With `predicates`, only places of facts with one of these. With
        `around`, only of facts whose subject or object is one of these entities; only what is
        around them is read.
        """
        ...
