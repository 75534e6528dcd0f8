"""Link references to the stored documents that they cite, in whatever order these were added."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from kgrag.errors import NotFoundError
from kgrag.ids import entity_id, fact_id
from kgrag.ingestion.citation_fit import Cited, Held
from kgrag.ingestion.link import DocumentNames
from kgrag.ingestion.resolve import document_node
from kgrag.ingestion.self_names import DOCUMENT_TYPE
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.title_keys import cited_name
from kgrag.types import Document, Entity, Evidence, Fact

# Start, end, id of the cited entity, and its name there; entities are renamed during a run.
Place = tuple[int, int, str, str]
Meant = tuple[Entity, str, str]  # the node, how it was found, the title as cited


def connect(store: Store) -> int:
    """Link every reference to the document that it cites; return how many documents changed.

    A title without a stored document keeps its own node until such a document is added. Correct
    links are not rewritten: the function is idempotent, and repairs an interrupted run.
    """
    cards = {card.doc_id: card for card in store.document_cards()}
    names = DocumentNames(Held(c.doc_id, c.title, c.metadata) for c in cards.values())
    wanted: dict[str, dict[Place, Meant]] = defaultdict(dict)
    wrong: set[str] = set()
    for citation in store.statements("reference"):
        citing = cards.get(citation.doc_id)
        if citing is None:
            continue
        title = citation.qualifiers.object or citation.fact.object.name
        node, match = _meant(citation, title, citing, names, cards)
        object_id = citation.fact.object.entity_id
        wanted[citation.doc_id][_place(citation, object_id)] = node, match, title
        if (node.entity_id, match) != (object_id, citation.qualifiers.match):
            wrong.add(citation.doc_id)
    return sum(_repoint(store, doc_id, wanted[doc_id]) for doc_id in sorted(wrong))


def _meant(
    citation: Statement,
    title: str,
    citing: Document,
    names: DocumentNames,
    cards: Mapping[str, Document],
) -> tuple[Entity, str]:
    """Return the node that a citation refers to, and how it was matched."""
    told, metadata = citation.qualifiers, citing.metadata
    cited = Cited(
        "" if title == told.number else title,
        number=told.number,
        issuer=told.issuer,
        doc_id=citation.doc_id,
        regions=metadata.regions,
        year=metadata.year,
    )
    found = names.resolve(cited)
    if found is None:
        name = cited_name(title)
        return Entity(entity_id(name), name, DOCUMENT_TYPE), ""
    doc_id, match = found
    return document_node(cards[doc_id]), match


def _place(cited: Statement | Evidence, object_id: str) -> Place:
    return cited.start, cited.end, object_id, cited.qualifiers.object


def _repoint(store: Store, doc_id: str, wanted: Mapping[Place, Meant]) -> bool:
    """Store a document's facts with corrected references; return False if it is gone."""
    facts, mentions, _ = store.knowledge_of(doc_id)
    try:
        store.replace_knowledge(doc_id, facts=_repointed(facts, wanted), mentions=mentions)
    except NotFoundError:  # deleted by another process meanwhile
        return False
    return True


def _repointed(facts: list[Fact], wanted: Mapping[Place, Meant]) -> list[Fact]:
    kept: list[Fact] = []
    moved: dict[str, Fact] = {}
    for fact in facts:
        staying: list[Evidence] = []
        for e in fact.evidence:
            is_reference = e.qualifiers.kind == "reference"
            meant = wanted.get(_place(e, fact.object.entity_id)) if is_reference else None
            if meant is None:
                staying.append(e)
                continue
            node, match, title = meant
            written = "" if node.name == title else title
            there = replace(e, qualifiers=replace(e.qualifiers, object=written, match=match))
            fid = fact_id(fact.subject.entity_id, fact.predicate, node.entity_id)
            known = moved.get(fid) or Fact(fid, fact.subject, fact.predicate, node, ())
            moved[fid] = replace(known, evidence=(*known.evidence, there))
        if staying:
            kept.append(replace(fact, evidence=tuple(staying)))
    return [*kept, *moved.values()]
