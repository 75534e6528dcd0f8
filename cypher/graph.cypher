// Entities and facts.

// name: find_entities
MATCH (e:Entity) WHERE e.normalized IN $names
RETURN e.id AS id, e.name AS name, e.type AS type;

// name: entities
MATCH (e:Entity) WHERE e.id IN $ids
RETURN e.id AS id, e.name AS name, e.type AS type;

// name: entity_degrees
MATCH (e:Entity) WHERE e.id IN $ids
CALL (e) { OPTIONAL MATCH (e)-[r:RELATED]-() RETURN count(DISTINCT r) AS degree }
RETURN e.id AS id, degree;

// name: facts_around
UNWIND $ids AS id
MATCH (e:Entity {id: id})
CALL (e) {
  MATCH (e)-[r:RELATED]-()
  WHERE $within IS NULL OR any(doc_id IN r.doc_ids WHERE doc_id IN $within)
  WITH DISTINCT r ORDER BY r.id LIMIT $limit
  RETURN r
}
WITH e, r, startNode(r) AS s, endNode(r) AS o
RETURN e.id AS around, r.id AS id, s.id AS subject_id, s.name AS subject, s.type AS subject_type,
  r.predicate AS predicate, o.id AS object_id, o.name AS object, o.type AS object_type,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences;

// name: facts_of_chunks
MATCH (c:Chunk) WHERE c.id IN $ids
MATCH (c)-[m:MENTIONS]->(s:Entity)
UNWIND m.fact_ids AS id
WITH DISTINCT id
MATCH (s:Entity)-[r:RELATED {id: id}]->(o:Entity)
RETURN r.id AS id, s.id AS subject_id, s.name AS subject, s.type AS subject_type,
  r.predicate AS predicate, o.id AS object_id, o.name AS object, o.type AS object_type,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences;

// name: facts
UNWIND $ids AS fact_id
MATCH (s:Entity)-[r:RELATED {id: fact_id}]->(o:Entity)
RETURN r.id AS id, s.id AS subject_id, s.name AS subject, s.type AS subject_type,
  r.predicate AS predicate, o.id AS object_id, o.name AS object, o.type AS object_type,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences;

// name: facts_of_document
MATCH (c:Chunk {doc_id: $id})-[m:MENTIONS]->(:Entity)
UNWIND m.fact_ids AS fact_id
WITH DISTINCT fact_id
MATCH (s:Entity)-[r:RELATED {id: fact_id}]->(o:Entity)
RETURN r.id AS id, s.id AS subject_id, o.id AS object_id, r.predicate AS predicate,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.predicates AS predicates;

// name: facts_by_id
UNWIND $ids AS fact_id
MATCH (s:Entity)-[r:RELATED {id: fact_id}]->(o:Entity)
RETURN r.id AS id, s.id AS subject_id, o.id AS object_id, r.predicate AS predicate,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.predicates AS predicates;

// name: mentions_of_document
MATCH (c:Chunk {doc_id: $id})-[m:MENTIONS]->(e:Entity)
RETURN c.id AS chunk_id, e.id AS entity_id, m.fact_ids AS fact_ids, m.starts AS starts,
  m.ends AS ends, m.extractors AS extractors, m.confidences AS confidences;

// name: names_of_document
MATCH (:Document {id: $id})-[n:NAMES]->(e:Entity)
RETURN e.id AS entity_id, n.names AS names, n.types AS types;
