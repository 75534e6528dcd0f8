"""Reading the knowledge graph: entities, facts and what is known from where."""

from collections.abc import Callable, Collection, Iterable, Sequence

from kgrag.store.bundles import StatedFact, assemble_knowledge
from kgrag.store.graph import Triple
from kgrag.store.neo4j.connection import Database, Row
from kgrag.store.neo4j.knowledge import Knowledge, Place, is_whole, statements_in
from kgrag.text import normalize_name
from kgrag.types import Entity, Evidence, Fact, Mention

Run = Callable[..., list[Row]]

_READINGS = 10  # of facts that are written just now


def find_entities(database: Database, names: Sequence[str]) -> list[Entity]:
    """Return entities that bear one of the names, ordered by id."""
    normalized = sorted({normalize_name(name) for name in names})
    rows = database.read("find_entities", names=normalized) if normalized else []
    return sorted((Entity(*row) for row in rows), key=lambda e: e.entity_id)


def entities(database: Database, entity_ids: Sequence[str]) -> list[Entity]:
    """Return entities in the order asked."""
    rows = database.read("entities", ids=list(entity_ids)) if entity_ids else []
    by_id = {row["id"]: Entity(*row) for row in rows}
    return [by_id[e] for e in entity_ids if e in by_id]


def entity_degrees(database: Database, entity_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of facts around each entity; one about itself counts once."""
    rows = database.read("entity_degrees", ids=list(entity_ids)) if entity_ids else []
    return {row["id"]: row["degree"] for row in rows}


def facts_around(
    database: Database,
    entity_ids: Sequence[str],
    limit: int,
    doc_ids: Collection[str] | None = None,
) -> list[Fact]:
    """Return at most `limit` facts around each entity that documents state, each fact once."""
    ids = list(dict.fromkeys(entity_ids))
    if not ids or limit < 1:
        return []
    place = {entity_id: n for n, entity_id in enumerate(ids)}
    within = None if doc_ids is None else sorted(doc_ids)
    rows = _whole(lambda: database.read("facts_around", ids=ids, limit=limit, within=within))
    rows.sort(key=lambda row: (place[row["around"]], row["id"]))
    return _facts({row["id"]: row for row in reversed(rows)}, (row["id"] for row in rows))


def triple(fact: Fact) -> Triple:
    """Return a fact without its evidence."""
    return Triple(fact.fact_id, fact.subject, fact.predicate, fact.object)


def facts_of_chunks(database: Database, chunk_ids: Sequence[str]) -> list[Fact]:
    """Return facts with evidence in the chunks, with all their evidence, ordered by id."""
    if not chunk_ids:
        return []
    rows = _whole(lambda: database.read("facts_of_chunks", ids=list(chunk_ids)))
    by_id = {row["id"]: row for row in rows}
    return _facts(by_id, sorted(by_id))


def facts(database: Database, fact_ids: Sequence[str]) -> list[Fact]:
    """Return facts with all their evidence, in the order asked, each once."""
    if not fact_ids:
        return []
    rows = _whole(lambda: database.read("facts", ids=sorted(set(fact_ids))))
    by_id = {row["id"]: row for row in rows}
    return _facts(by_id, (fact_id for fact_id in fact_ids if fact_id in by_id))


def _whole(read: Callable[[], list[Row]]) -> list[Row]:
    """Return rows of facts, each with its evidence whole.

    A server reads the lists of a relationship one after the other: where a writer comes between,
    they are of different lengths, and are read again.
    """
    rows = read()
    for _ in range(_READINGS):
        if all(is_whole(row) for row in rows):
            break
        rows = read()
    return rows


def stored_knowledge(run: Run, doc_id: str) -> Knowledge:
    """Return what the graph holds of a document.

    Args:
        run: Runs a statement by name, in the caller's transaction or outside of any.
        doc_id: The document.
    """
    found = Knowledge()
    for row in _whole(lambda: run("facts_of_document", id=doc_id)):
        found.ends[row["id"]] = (row["subject_id"], row["object_id"])
        for s in statements_in(row):
            if s.doc_id == doc_id:
                place = Place(s.start, s.end, s.extractor, s.chunk_id)
                found.stated[row["id"], place] = (s.predicate, s.confidence)
    for row in run("mentions_of_document", id=doc_id):
        columns = (row["starts"], row["ends"], row["extractors"], row["confidences"])
        for start, end, extractor, confidence in zip(*columns, strict=True):
            place = Place(start, end, extractor, row["chunk_id"])
            found.mentioned[row["entity_id"], place] = confidence
    for row in run("names_of_document", id=doc_id):
        pairs = zip(row["names"], row["types"], strict=True)
        found.names |= {Entity(row["entity_id"], name, type_) for name, type_ in pairs}
    return found


def said_by(doc_id: str, knowledge: Knowledge) -> tuple[list[Fact], list[Mention]]:
    """Return the facts and mentions of one document, every wording and spelling of them."""
    stated = [
        StatedFact(fact_id, *_triple(knowledge, fact_id, predicate), _evidence(doc_id, place, c))
        for (fact_id, place), (predicate, c) in knowledge.stated.items()
    ]
    mentioned = [
        (entity_id, _evidence(doc_id, place, confidence))
        for (entity_id, place), confidence in knowledge.mentioned.items()
    ]
    return assemble_knowledge(names=knowledge.names, stated=stated, mentioned=mentioned)


def said_once(doc_id: str, knowledge: Knowledge) -> tuple[list[Fact], list[Mention]]:
    """Return each fact and mention of one document once, under the smallest of its wordings.

    Of several types of an entity, the smallest other than `entity`.
    """
    surfaces: dict[str, Entity] = {}
    for entity_id, (names, types) in knowledge.name_rows().items():
        type_ = min((t for t in types if t != "entity"), default="entity")
        surfaces[entity_id] = Entity(entity_id, min(names), type_)
    predicates: dict[str, str] = {}
    evidence: dict[str, list[Evidence]] = {}
    for (fact_id, place), (predicate, confidence) in knowledge.stated.items():
        predicates[fact_id] = min(predicates.get(fact_id, predicate), predicate)
        evidence.setdefault(fact_id, []).append(_evidence(doc_id, place, confidence))
    facts = []
    for fact_id in sorted(predicates):
        subject_id, object_id = knowledge.ends[fact_id]
        ordered = tuple(sorted(evidence[fact_id], key=_order))
        subject, object_ = surfaces[subject_id], surfaces[object_id]
        facts.append(Fact(fact_id, subject, predicates[fact_id], object_, ordered))
    mentions = [
        Mention(surfaces[entity_id], _evidence(doc_id, place, confidence))
        for (entity_id, place), confidence in knowledge.mentioned.items()
    ]
    return facts, sorted(mentions, key=lambda m: (m.entity.entity_id, *_order(m.evidence)))


def _facts(rows: dict[str, Row], fact_ids: Iterable[str]) -> list[Fact]:
    """Return facts in the order of first mention, each once."""
    return [_fact(rows[fact_id]) for fact_id in dict.fromkeys(fact_ids)]


def _fact(row: Row) -> Fact:
    evidence = sorted((s.evidence() for s in statements_in(row.data())), key=_order)
    subject = Entity(row["subject_id"], row["subject"], row["subject_type"])
    object_ = Entity(row["object_id"], row["object"], row["object_type"])
    return Fact(row["id"], subject, row["predicate"], object_, tuple(evidence))


def _triple(knowledge: Knowledge, fact_id: str, predicate: str) -> tuple[str, str, str]:
    subject_id, object_id = knowledge.ends[fact_id]
    return subject_id, predicate, object_id


def _evidence(doc_id: str, place: Place, confidence: float) -> Evidence:
    return Evidence(doc_id, place.start, place.end, place.chunk_id, place.extractor, confidence)


def _order(e: Evidence) -> tuple[str, int, int, str, str]:
    return (e.doc_id, e.start, e.end, e.extractor, e.chunk_id)
