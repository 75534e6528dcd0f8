// Entities and facts.

// name: find_entities
MATCH (e:KgragEntity) WHERE e.normalized IN $names
RETURN e.id AS id, e.name AS name, e.type AS type;

// name: entities_beginning
MATCH (e:KgragEntity) WHERE e.normalized STARTS WITH $name
RETURN e.id AS id, e.normalized AS normalized ORDER BY size(e.normalized), e.id LIMIT $limit;

// name: entities_containing
MATCH (e:KgragEntity) WHERE e.normalized CONTAINS $name
RETURN e.id AS id, e.normalized AS normalized ORDER BY size(e.normalized), e.id LIMIT $limit;

// name: entities_like
CALL db.index.fulltext.queryNodes('kgrag_entity_names', $query, {limit: $limit}) YIELD node
RETURN node.id AS id, node.normalized AS normalized;

// name: entities
MATCH (e:KgragEntity) WHERE e.id IN $ids
RETURN e.id AS id, e.name AS name, e.type AS type;

// name: entity_degrees
MATCH (e:KgragEntity) WHERE e.id IN $ids
CALL (e) { OPTIONAL MATCH (e)-[r:RELATED]-(:KgragEntity) RETURN count(DISTINCT r) AS degree }
RETURN e.id AS id, degree;

// name: facts_around
UNWIND $ids AS id
MATCH (e:KgragEntity {id: id})
CALL (e) {
  MATCH (e)-[r:RELATED]-(:KgragEntity)
  WHERE $within IS NULL OR any(doc_id IN r.doc_ids WHERE doc_id IN $within)
  WITH DISTINCT r ORDER BY r.id LIMIT $limit
  RETURN r
}
WITH e, r, startNode(r) AS s, endNode(r) AS o
RETURN e.id AS around, r.id AS id, s.id AS subject_id, s.name AS subject, s.type AS subject_type,
  r.predicate AS predicate, o.id AS object_id, o.name AS object, o.type AS object_type,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.qualifiers AS qualifiers;

// name: facts_around_saying
UNWIND $ids AS id
MATCH (e:KgragEntity {id: id})
CALL (e) {
  MATCH (e)-[r:RELATED]-(other:KgragEntity)
  WITH DISTINCT r, other ORDER BY r.id LIMIT $most
  WHERE $within IS NULL OR any(doc_id IN r.doc_ids WHERE doc_id IN $within)
  WITH r, size([word IN $saying
    WHERE other.normalized CONTAINS word OR toLower(r.predicate) CONTAINS word]) AS said
  ORDER BY said DESC, r.id LIMIT $limit
  RETURN r, said
}
WITH e, r, said, startNode(r) AS s, endNode(r) AS o
RETURN e.id AS around, said, r.id AS id, s.id AS subject_id, s.name AS subject,
  s.type AS subject_type, r.predicate AS predicate, o.id AS object_id, o.name AS object,
  o.type AS object_type, r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts,
  r.ends AS ends, r.extractors AS extractors, r.confidences AS confidences,
  r.qualifiers AS qualifiers;

// name: facts_of_chunks
MATCH (c:KgragChunk) WHERE c.id IN $ids
MATCH (c)-[m:MENTIONS]->(s:KgragEntity)
UNWIND m.fact_ids AS id
WITH DISTINCT id
MATCH (s:KgragEntity)-[r:RELATED {id: id}]->(o:KgragEntity)
USING INDEX SEEK r:RELATED(id)
RETURN r.id AS id, s.id AS subject_id, s.name AS subject, s.type AS subject_type,
  r.predicate AS predicate, o.id AS object_id, o.name AS object, o.type AS object_type,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.qualifiers AS qualifiers;

// name: facts
UNWIND $ids AS fact_id
MATCH (s:KgragEntity)-[r:RELATED {id: fact_id}]->(o:KgragEntity)
USING INDEX SEEK r:RELATED(id)
RETURN r.id AS id, s.id AS subject_id, s.name AS subject, s.type AS subject_type,
  r.predicate AS predicate, o.id AS object_id, o.name AS object, o.type AS object_type,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.qualifiers AS qualifiers;

// name: facts_of_document
MATCH (c:KgragChunk {doc_id: $id})-[m:MENTIONS]->(:KgragEntity)
UNWIND m.fact_ids AS fact_id
WITH DISTINCT fact_id
MATCH (s:KgragEntity)-[r:RELATED {id: fact_id}]->(o:KgragEntity)
USING INDEX SEEK r:RELATED(id)
RETURN r.id AS id, s.id AS subject_id, o.id AS object_id, r.predicate AS predicate,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.predicates AS predicates,
  r.qualifiers AS qualifiers;

// name: facts_by_id
UNWIND $ids AS fact_id
MATCH (s:KgragEntity)-[r:RELATED {id: fact_id}]->(o:KgragEntity)
USING INDEX SEEK r:RELATED(id)
RETURN r.id AS id, s.id AS subject_id, o.id AS object_id, r.predicate AS predicate,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.predicates AS predicates,
  r.qualifiers AS qualifiers;

// name: mentions_of_document
MATCH (c:KgragChunk {doc_id: $id})-[m:MENTIONS]->(e:KgragEntity)
RETURN c.id AS chunk_id, e.id AS entity_id, m.fact_ids AS fact_ids, m.starts AS starts,
  m.ends AS ends, m.extractors AS extractors, m.confidences AS confidences,
  m.qualifiers AS qualifiers;

// name: names_of_document
MATCH (:KgragDocument {id: $id})-[n:NAMES]->(e:KgragEntity)
RETURN e.id AS entity_id, n.names AS names, n.types AS types;

// name: naming_documents
MATCH (d:KgragDocument)-[:NAMES]->(e:KgragEntity) WHERE e.id IN $ids
RETURN DISTINCT e.id AS id, d.id AS doc_id ORDER BY id, doc_id;

// name: entity_page
MATCH (e:KgragEntity) WHERE e.id > $after
WITH e ORDER BY e.id LIMIT $limit
CALL (e) { OPTIONAL MATCH (e)-[r:RELATED]-(:KgragEntity) RETURN count(DISTINCT r) AS facts }
RETURN e.id AS id, e.name AS name, e.type AS type, facts ORDER BY id;

// name: stating_facts
// Those with evidence whose qualifiers are of a kind ($told, as they are written), in $ids or in all,
// that say one of $predicates, or anything.
MATCH (s:KgragEntity)-[r:RELATED]->(o:KgragEntity)
WHERE ($predicates IS NULL OR r.predicate IN $predicates) AND any(text IN r.qualifiers WHERE text CONTAINS $told)
  AND ($ids IS NULL OR any(doc_id IN r.doc_ids WHERE doc_id IN $ids))
RETURN r.id AS id, r.predicate AS predicate, s.id AS subject_id, s.name AS subject,
  s.type AS subject_type, o.id AS object_id, o.name AS object, o.type AS object_type,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.qualifiers AS qualifiers;

// name: stating_facts_around
// The same of facts that have one of $around at an end: only what is around these is read.
UNWIND $around AS entity_id
MATCH (:KgragEntity {id: entity_id})-[r:RELATED]-(:KgragEntity)
WITH DISTINCT r
WHERE ($predicates IS NULL OR r.predicate IN $predicates) AND any(text IN r.qualifiers WHERE text CONTAINS $told)
  AND ($ids IS NULL OR any(doc_id IN r.doc_ids WHERE doc_id IN $ids))
WITH r, startNode(r) AS s, endNode(r) AS o
RETURN r.id AS id, r.predicate AS predicate, s.id AS subject_id, s.name AS subject,
  s.type AS subject_type, o.id AS object_id, o.name AS object, o.type AS object_type,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.qualifiers AS qualifiers;
