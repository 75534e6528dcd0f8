"""What a knowledge base holds, to be listed, looked up, checked and deleted; nothing is encoded."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

from kgrag.answering.dated import as_of_asked
from kgrag.in_force import InForce
from kgrag.limits import MOST_RESULTS, check_query, check_whole, checked_count
from kgrag.lookup import facts_around, find_document
from kgrag.problems import ReadingProblem, reading_problems
from kgrag.status import Status
from kgrag.store.contents import Counts, Problem
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id
from kgrag.text.titles import CITING_PREDICATES
from kgrag.types import Document, Entity, Fact

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    from kgrag.curating import Named
    from kgrag.ingestion.duplicates import Proposal
    from kgrag.tables.tables import Tables


class Stored:
    """What a store holds.

    Attributes:
        store: The storage.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def documents(self) -> list[Document]:
        """Return the cards of all documents (empty text), ordered by file."""
        return sorted(self.store.document_cards(), key=lambda card: (card.file, card.doc_id))

    def find_document(self, name: str) -> Document:
        """Return the card of the one document with this id, file, file name or title.

        Raises:
            NotFoundError: If no document, or more than one, is called so.
        """
        return find_document(self.store, name)

    def graph(self, name: str, *, hops: int = 1, limit: int = 50) -> tuple[Entity, list[Fact]]:
        """Return an entity and the facts around it; see `kgrag.lookup.facts_around`."""
        return facts_around(self.store, name, hops=hops, limit=limit)

    def to_networkx(self) -> "MultiDiGraph[str]":
        """Return the graph as one of networkx; see `kgrag.networks.to_networkx`."""
        return to_networkx(self.store)

    def counts(self) -> Counts:
        """Return how many of each are stored."""
        return self.store.counts()

    def query(
        self, text: str, *, max_rows: int = 200, timeout_s: float = 5.0
    ) -> list[dict[str, object]]:
        """Return the rows of a query that only reads: Cypher on Neo4j, SQL in a folder."""
        check_whole("query", text)
        check_query(max_rows, timeout_s)
        return self.store.run_query(text, max_rows=max_rows, timeout_s=timeout_s)

    def verify(self) -> list[Problem]:
        """Check every invariant; an empty list means that all hold."""
        return self.store.verify()

    def problems(self) -> list[ReadingProblem]:
        """Return what was read badly or not at all; see `kgrag.problems.reading_problems`."""
        return list(reading_problems(self.store))

    def statuses(self, as_of: str | date | None = None) -> dict[str, Status]:
        """Return whether each document is in force at a day, by id; see `kgrag.status.Status`.

        Args:
            as_of: 2022, 2022-03, 2022-03-05, 2022年3月, or a date; of a year or month its last
                day. Today for None.

        Raises:
            ValueError: If it is no date.
        """
        day = as_of_asked("", as_of).day
        cards = self.store.document_cards()
        in_force = InForce.read(self.store, cards)
        return {card.doc_id: in_force.status(card.doc_id, day) for card in cards}

    def tables(self) -> "Tables":
        """Return the complete tables of what documents state: figures, duties, citations."""
        from kgrag.tables.tables import Tables

        return Tables(self.store)

    def export(self) -> Iterator[dict[str, object]]:
        """Yield every record as JSON-ready mappings, in a fixed order."""
        return self.store.export()

    def delete(self, name: str) -> Document:
        """Delete a document, found as `find_document` does, and return its card."""
        card = self.find_document(name)
        from kgrag.ingestion.connect import connect

        self.store.delete_document(card.doc_id)
        connect(self.store)
        return card

    def entities(
        self, *, limit: int = 40, type_: str | None = None, merged: bool = False
    ) -> "list[Named]":
        """Return entities, those with most facts first; see `kgrag.curating.named_entities`."""
        from kgrag.curating import named_entities

        limit = checked_count("limit", limit, most=MOST_RESULTS)
        return named_entities(self.store, limit=limit, type_=type_, merged=merged)

    def duplicates(self, *, limit: int = 40, type_: str | None = None) -> "list[Proposal]":
        """Return pairs of entities that may be one; see `kgrag.curating.likely_duplicates`."""
        from kgrag.curating import likely_duplicates

        limit = checked_count("limit", limit, most=MOST_RESULTS)
        return likely_duplicates(self.store, limit=limit, type_=type_)


def to_networkx(store: Store) -> "MultiDiGraph[str]":
    """Return documents, entities, facts and citations as a graph, held whole in memory.

    Nodes are named by their ids. Those of documents have `kind` "document", `title`, `file` and
    `media_type`; those of entities `kind` "entity", `name` and `type`.

    Edges from subject to object have the fact's id as key, `kind` "fact", `predicate` and
    `evidence`, a list of (doc_id, start, end). Edges from a document to one that it cites have
    "cites" as key and `kind`, and `predicates`, sorted: which words of citation it does so with.
    """
    from networkx import MultiDiGraph

    graph: MultiDiGraph[str] = MultiDiGraph()
    nodes: dict[str, list[str]] = defaultdict(list)
    cards = store.document_cards()
    for card in cards:
        nodes[node_id(card.title, card.metadata)].append(card.doc_id)
        graph.add_node(
            card.doc_id,
            kind="document",
            title=card.title,
            file=card.file,
            media_type=card.media_type,
        )
    for card in cards:
        cited: dict[str, set[str]] = defaultdict(set)
        for fact in store.knowledge_of(card.doc_id)[0]:  # with the evidence in this document
            _add_fact(graph, fact)
            if fact.predicate in CITING_PREDICATES:
                for doc_id in nodes.get(fact.object.entity_id, ()):
                    cited[doc_id].add(fact.predicate)
        for doc_id in sorted(cited.keys() - {card.doc_id}):
            predicates = sorted(cited[doc_id])
            graph.add_edge(card.doc_id, doc_id, "cites", kind="cites", predicates=predicates)
    return graph


def _add_fact(graph: "MultiDiGraph[str]", fact: Fact) -> None:
    for entity in (fact.subject, fact.object):
        graph.add_node(entity.entity_id, kind="entity", name=entity.name, type=entity.type)
    ends = (fact.subject.entity_id, fact.object.entity_id, fact.fact_id)
    if not graph.has_edge(*ends):
        graph.add_edge(*ends, kind="fact", predicate=fact.predicate, evidence=[])
    # A clause that lies over several chunks has a record for each.
    spans = dict.fromkeys((e.doc_id, e.start, e.end) for e in fact.evidence)
    graph.edges[ends]["evidence"].extend(spans)
