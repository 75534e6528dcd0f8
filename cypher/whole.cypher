// Everything of a kind, in order, for exports and checks.

// name: every_entity
MATCH (e:KgragEntity) RETURN e.id AS id, e.name AS name, e.type AS type ORDER BY id;

// name: every_name
MATCH (e:KgragEntity)
CALL (e) {
  MATCH (d:KgragDocument)-[n:NAMES]->(e)
  UNWIND range(0, size(n.names) - 1) AS i
  RETURN collect([d.id, n.names[i], n.types[i]]) AS ways
}
RETURN e.id AS id, ways ORDER BY id;

// name: every_fact
MATCH (s:KgragEntity)-[r:RELATED]->(o:KgragEntity)
RETURN r.id AS id, s.id AS subject_id, r.predicate AS predicate, o.id AS object_id,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.predicates AS predicates
ORDER BY id;

// name: every_mention
MATCH (e:KgragEntity)
CALL (e) {
  MATCH (c:KgragChunk)-[m:MENTIONS]->(e)
  UNWIND range(0, size(m.starts) - 1) AS i
  RETURN collect([c.doc_id, m.starts[i], m.ends[i], m.extractors[i], c.id, m.confidences[i]])
    AS places
}
RETURN e.id AS id, places ORDER BY id;

// name: every_node_with_embedding
CALL () {
  MATCH (n:KgragChunk) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'chunk' AS kind, n.doc_id AS doc_id, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragSummary) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'summary' AS kind, n.doc_id AS doc_id, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragDocument) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'document' AS kind, n.id AS doc_id, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragFactVector)
  RETURN n.fact_id AS id, 'fact' AS kind, n.doc_id AS doc_id, n.embedding_key AS key
}
RETURN id, kind, doc_id, key;

// name: every_embedding
MATCH (e:KgragEmbedding) RETURN e.id AS key, e.vector AS vector, e.checksum AS checksum
ORDER BY key;
