"""Parts of the graph: the surroundings of an entity, and all of it for networkx."""

from collections import defaultdict
from typing import TYPE_CHECKING

from kgrag.limits import MOST_HOPS, MOST_RESULTS, checked_count, checked_text
from kgrag.store.likeness import not_called
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id
from kgrag.text.messages import message
from kgrag.text.titles import CITING_PREDICATES
from kgrag.types import Entity, Fact

if TYPE_CHECKING:
    from networkx import MultiDiGraph


def facts_around(
    store: Store, name: str, *, hops: int = 1, limit: int = 50
) -> tuple[Entity, list[Fact]]:
    """Return an entity and the facts around it, nearest first.

    Args:
        store: The knowledge base.
        name: The entity's name, or a part of it.
        hops: Distance, from 1 to `limits.MOST_HOPS`.
        limit: Maximum number of facts around each entity, from 1 to `limits.MOST_RESULTS`.

    Raises:
        NotFoundError: If there is no such entity; lists similar ones.
        OutOfRangeError: If hops, limit or the length of the name are out of range.
    """
    checked_count("hops", hops, most=MOST_HOPS)
    checked_count("limit", limit, most=MOST_RESULTS)
    center = _entity(store, checked_text("name", name))
    facts: dict[str, Fact] = {}
    frontier, met = [center.entity_id], {center.entity_id}
    for _ in range(hops):
        around = store.facts_around(frontier, limit=limit)
        facts.update((fact.fact_id, fact) for fact in around if fact.fact_id not in facts)
        ends = dict.fromkeys(e.entity_id for f in around for e in (f.subject, f.object))
        frontier = [entity_id for entity_id in ends if entity_id not in met]
        met.update(frontier)
    return center, list(facts.values())


def _entity(store: Store, name: str) -> Entity:
    exact = store.find_entities([name])
    if exact:
        return exact[0]
    like = store.entities([e for e, _ in store.search_entities(name, top_k=5)])
    if len(like) == 1:
        return like[0]
    raise not_called(message("entity"), name, (entity.name for entity in like))


def to_networkx(store: Store) -> "MultiDiGraph[str]":
    """Return documents, entities, facts and citations as a graph in memory.

    Nodes are ids. Those of documents have `kind` "document", `title`, `file` and `media_type`;
    those of entities `kind` "entity", `name` and `type`.

    Edges from subject to object have the fact's id as key, `kind` "fact", `predicate` and
    `evidence`, a list of (doc_id, start, end). Edges from a document to one that it cites have
    "cites" as key and `kind`, and `predicates`, a sorted list of the citing predicates.
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
