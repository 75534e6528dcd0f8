"""The graph of a knowledge base as one of networkx, for its algorithms and for drawing."""

from collections import defaultdict
from typing import TYPE_CHECKING

from kgrag.language.document_nodes import node_id
from kgrag.language.titles import CITING_PREDICATES
from kgrag.store.store import Store
from kgrag.types import Fact

if TYPE_CHECKING:
    from networkx import MultiDiGraph


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
