"""Reading the knowledge graph: entities, facts and what is known from where."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from kgrag.store.graph import StatedTriple, Stating, Triple
from kgrag.store.sqlite.known_entities import KnownEntities
from kgrag.store.sqlite.read import summaries_of
from kgrag.text import normalize_name
from kgrag.types import Entity, Evidence, Fact, Mention, Summary

_EVIDENCE_COLUMNS = "e.doc_id, e.start, e.end, e.chunk_id, e.extractor, e.confidence"
_EVIDENCE_ORDER = "e.doc_id, e.start, e.end, e.extractor, e.chunk_id"
_STATED_WITHIN = (
    "AND EXISTS (SELECT 1 FROM evidence e WHERE e.fact_id = g.fact_id"
    " AND e.doc_id IN (SELECT value FROM json_each(:documents)))"
)

_Row = tuple[str, str, str, str]  # fact, subject, predicate, object


def find_entities(connection: sqlite3.Connection, names: Sequence[str]) -> list[Entity]:
    """Return entities that bear one of the names, ordered by id."""
    normalized = sorted({normalize_name(name) for name in names})
    rows = connection.execute(
        "SELECT e.entity_id, e.name, e.type FROM json_each(?) j"
        " CROSS JOIN entities e ON e.normalized = j.value ORDER BY e.entity_id",
        (json.dumps(normalized),),
    )
    return [Entity(*row) for row in rows]


def entities(connection: sqlite3.Connection, entity_ids: Sequence[str]) -> list[Entity]:
    """Return entities in the order asked."""
    rows = connection.execute(
        "SELECT e.entity_id, e.name, e.type FROM json_each(?) j"
        " CROSS JOIN entities e ON e.entity_id = j.value ORDER BY j.key",
        (json.dumps(list(entity_ids)),),
    )
    return [Entity(*row) for row in rows]


def facts_around(
    connection: sqlite3.Connection,
    entity_ids: Sequence[str],
    limit: int,
    doc_ids: Collection[str] | None = None,
) -> list[Fact]:
    """Return at most `limit` facts around each entity that documents state, each fact once."""
    return _with_evidence(connection, _around(connection, entity_ids, limit, doc_ids))


def triples_around(
    connection: sqlite3.Connection,
    entity_ids: Sequence[str],
    limit: int,
    doc_ids: Collection[str] | None = None,
    *,
    known: KnownEntities,
) -> list[Triple]:
    """Return the same facts, without evidence."""
    return _named(connection, _around(connection, entity_ids, limit, doc_ids), known)


def stated_triples(
    connection: sqlite3.Connection, fact_ids: Iterable[str], *, known: KnownEntities
) -> list[StatedTriple]:
    """Return facts in the order asked, each once, with the chunks that state them."""
    stating: dict[str, list[str]] = {fact_id: [] for fact_id in fact_ids}
    rows = connection.execute(
        "SELECT f.fact_id, f.subject_id, f.predicate, f.object_id, e.chunk_id FROM json_each(?) j"
        " CROSS JOIN facts f ON f.fact_id = j.value CROSS JOIN evidence e ON e.fact_id = j.value",
        (json.dumps(list(stating)),),
    )
    found: dict[str, _Row] = {}
    for *row, chunk_id in rows:
        found[row[0]] = (row[0], row[1], row[2], row[3])
        stating[row[0]].append(chunk_id)
    triples = _named(connection, [found[f] for f in stating if f in found], known)
    return [(t, tuple(stating[t.fact_id])) for t in triples]


def facts(connection: sqlite3.Connection, fact_ids: Iterable[str]) -> list[Fact]:
    """Return facts with all their evidence, in the order asked, each once."""
    return _with_evidence(connection, _by_id(connection, fact_ids))


def stating_chunks(connection: sqlite3.Connection, fact_ids: Iterable[str]) -> list[Stating]:
    """Return (fact id, chunk id) of evidence, in no order."""
    rows = connection.execute(
        "SELECT e.fact_id, e.chunk_id FROM json_each(?) j"
        " CROSS JOIN evidence e ON e.fact_id = j.value",
        (json.dumps(list(fact_ids)),),
    )
    return rows.fetchall()


def _around(
    connection: sqlite3.Connection,
    entity_ids: Sequence[str],
    limit: int,
    doc_ids: Collection[str] | None,
) -> list[_Row]:
    """Return at most `limit` facts around each entity, in order, each once."""
    within = "" if doc_ids is None else _STATED_WITHIN
    columns = "g.fact_id, g.subject_id, g.predicate, g.object_id"
    # Both branches come in order of fact_id from their index, so a hub costs no more than `limit`.
    statement = (
        f"SELECT {columns} FROM facts g WHERE g.subject_id = :entity {within}"
        f" UNION ALL SELECT {columns} FROM facts g"
        f" WHERE g.object_id = :entity AND g.subject_id <> :entity {within}"
        " ORDER BY 1 LIMIT :limit"
    )
    given = {"limit": max(limit, 0), "documents": json.dumps(sorted(doc_ids or ()))}
    found: dict[str, _Row] = {}
    for entity_id in entity_ids:
        for row in connection.execute(statement, {**given, "entity": entity_id}):
            found.setdefault(row[0], row)
    return list(found.values())


def _by_id(connection: sqlite3.Connection, fact_ids: Iterable[str]) -> list[_Row]:
    """Return facts in the order asked, each once."""
    ids = list(dict.fromkeys(fact_ids))
    rows = connection.execute(
        "SELECT f.fact_id, f.subject_id, f.predicate, f.object_id FROM json_each(?) j"
        " CROSS JOIN facts f ON f.fact_id = j.value",
        (json.dumps(ids),),
    )
    by_id = {row[0]: row for row in rows}
    return [by_id[fact_id] for fact_id in ids if fact_id in by_id]


def _named(
    connection: sqlite3.Connection, rows: Sequence[_Row], known: KnownEntities
) -> list[Triple]:
    """Return triples with the entities at both ends, each of which is read once."""
    ends = {end for _, subject, _, object_ in rows for end in (subject, object_)}
    named = known.of(connection, ends)
    return [
        Triple(fact_id, named[subject], predicate, named[object_])
        for fact_id, subject, predicate, object_ in rows
    ]


def _with_evidence(connection: sqlite3.Connection, rows: Sequence[_Row]) -> list[Fact]:
    """Return facts with all their evidence in order."""
    evidence: defaultdict[str, list[Evidence]] = defaultdict(list)
    for fact_id, *place in connection.execute(
        f"SELECT e.fact_id, {_EVIDENCE_COLUMNS} FROM json_each(?) j"
        " CROSS JOIN evidence e ON e.fact_id = j.value",
        (json.dumps([row[0] for row in rows]),),
    ):
        evidence[fact_id].append(Evidence(*place))
    for several in evidence.values():
        if len(several) > 1:
            several.sort(key=lambda e: (e.doc_id, e.start, e.end, e.extractor, e.chunk_id))
    named = _named(connection, rows, KnownEntities())
    return [Fact(*found, tuple(evidence[found.fact_id])) for found in named]


def facts_of_chunks(connection: sqlite3.Connection, chunk_ids: Sequence[str]) -> list[Fact]:
    """Return facts with evidence in the chunks, with all their evidence, ordered by id."""
    rows = connection.execute(
        "SELECT DISTINCT e.fact_id FROM json_each(?) j"
        " CROSS JOIN evidence e ON e.chunk_id = j.value ORDER BY e.fact_id",
        (json.dumps(list(chunk_ids)),),
    )
    return facts(connection, [fact_id for (fact_id,) in rows])


def entity_degrees(connection: sqlite3.Connection, entity_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of facts around each entity; one about itself counts once."""
    rows = connection.execute(
        """
        SELECT e.entity_id,
               (SELECT count(*) FROM facts WHERE subject_id = e.entity_id)
               + (SELECT count(*) FROM facts
                  WHERE object_id = e.entity_id AND subject_id <> e.entity_id)
        FROM json_each(?) j CROSS JOIN entities e ON e.entity_id = j.value
        """,
        (json.dumps(list(entity_ids)),),
    )
    return dict(rows.fetchall())


def knowledge_of(
    connection: sqlite3.Connection, doc_id: str
) -> tuple[list[Fact], list[Mention], list[Summary]]:
    """Return facts, mentions and summaries of one document, in its own wording.

    Where the document writes a name in several ways, the smallest is given, and a type other
    than `entity` if there is one.
    """
    surfaces = _surfaces(connection, doc_id)
    facts = _facts_of_document(connection, doc_id, surfaces)
    mentions = [
        Mention(surfaces[entity_id], Evidence(*evidence))
        for entity_id, *evidence in connection.execute(
            f"SELECT e.entity_id, {_EVIDENCE_COLUMNS} FROM mentions e WHERE e.doc_id = ?"
            f" ORDER BY e.entity_id, {_EVIDENCE_ORDER}",
            (doc_id,),
        )
    ]
    return facts, mentions, summaries_of(connection, doc_id)


def _surfaces(connection: sqlite3.Connection, doc_id: str) -> dict[str, Entity]:
    """Return the entities that a document names, as it names them."""
    rows = connection.execute(
        "SELECT entity_id, min(name), coalesce(min(nullif(type, 'entity')), 'entity')"
        " FROM entity_names WHERE doc_id = ? GROUP BY entity_id",
        (doc_id,),
    )
    return {row[0]: Entity(*row) for row in rows}


def _facts_of_document(
    connection: sqlite3.Connection, doc_id: str, surfaces: dict[str, Entity]
) -> list[Fact]:
    rows = connection.execute(
        f"SELECT e.fact_id, f.subject_id, f.object_id, e.predicate, {_EVIDENCE_COLUMNS}"
        " FROM evidence e JOIN facts f USING (fact_id) WHERE e.doc_id = ?"
        f" ORDER BY e.fact_id, {_EVIDENCE_ORDER}",
        (doc_id,),
    ).fetchall()
    ends = {fact_id: (subject, object_) for fact_id, subject, object_, *_ in rows}
    predicates: dict[str, str] = {}
    evidence: defaultdict[str, list[Evidence]] = defaultdict(list)
    for fact_id, _, _, predicate, *place in rows:
        predicates[fact_id] = min(predicates.get(fact_id, predicate), predicate)
        evidence[fact_id].append(Evidence(*place))
    return [
        Fact(
            fact_id, surfaces[subject], predicates[fact_id], surfaces[object_],
            tuple(evidence[fact_id]),
        )
        for fact_id, (subject, object_) in ends.items()
    ]  # fmt: skip
