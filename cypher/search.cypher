// Searching by words, by vectors and by name.

// name: search_terms
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit}) YIELD node, score
RETURN node.id AS id, score;

// name: search_chunk_vectors
// Equal texts share an embedding, so one hit may stand for several chunks. An index over cosines
// leaves out the zero vector, which stands for empty texts.
CALL () {
  CALL db.index.vector.queryNodes('kgrag_chunk_embedding', $k, $vector) YIELD node, score
  RETURN node, score
  UNION ALL MATCH (node:KgragZeroEmbedding:KgragChunkEmbedding) RETURN node, 0.5 AS score
}
WITH node, score ORDER BY score DESC LIMIT $limit
MATCH (c:KgragChunk {embedding_key: node.id})
RETURN c.id AS id, score;

// name: search_summary_vectors
CALL () {
  CALL db.index.vector.queryNodes('kgrag_summary_embedding', $k, $vector) YIELD node, score
  RETURN node, score
  UNION ALL MATCH (node:KgragZeroEmbedding:KgragSummaryEmbedding) RETURN node, 0.5 AS score
}
WITH node, score ORDER BY score DESC LIMIT $limit
MATCH (s:KgragSummary {embedding_key: node.id})
RETURN s.id AS id, score;

// name: search_document_vectors
CALL () {
  CALL db.index.vector.queryNodes('kgrag_document_embedding', $k, $vector) YIELD node, score
  RETURN node, score
  UNION ALL MATCH (node:KgragZeroEmbedding:KgragDocumentEmbedding) RETURN node, 0.5 AS score
}
WITH node, score ORDER BY score DESC LIMIT $limit
MATCH (d:KgragDocument {embedding_key: node.id})
RETURN d.id AS id, score;

// name: search_fact_vectors
// A fact has an embedding for each document that words it otherwise, and may come as often.
CALL () {
  CALL db.index.vector.queryNodes('kgrag_fact_embedding', $k, $vector) YIELD node, score
  RETURN node, score
  UNION ALL MATCH (node:KgragZeroEmbedding:KgragFactEmbedding) RETURN node, 0.5 AS score
}
WITH node, score ORDER BY score DESC LIMIT $limit
MATCH (f:KgragFactVector {embedding_key: node.id})
WITH DISTINCT node, score, f.fact_id AS id
RETURN id, score;

// name: some_chunk_with_embedding
MATCH (c:KgragChunk) WHERE c.embedding_key IS NOT NULL RETURN c.id AS id ORDER BY id LIMIT $limit;

// name: some_summary_with_embedding
MATCH (s:KgragSummary) WHERE s.embedding_key IS NOT NULL RETURN s.id AS id ORDER BY id LIMIT $limit;

// name: some_document_with_embedding
MATCH (d:KgragDocument) WHERE d.embedding_key IS NOT NULL
RETURN d.id AS id ORDER BY id LIMIT $limit;

// name: some_fact_with_embedding
MATCH (f:KgragFactVector) WHERE f.fact_id IS NOT NULL
RETURN DISTINCT f.fact_id AS id ORDER BY id LIMIT $limit;

// name: chunk_keys_within
// Nothing while staged vectors take over: nodes of two encoders would be compared with one vector.
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) WHERE NOT coalesce(k.switching, false)
MATCH (c:KgragChunk) WHERE c.doc_id IN $ids AND c.embedding_key IS NOT NULL
RETURN c.id AS id, c.embedding_key AS key;

// name: summary_keys_within
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) WHERE NOT coalesce(k.switching, false)
MATCH (s:KgragSummary) WHERE s.doc_id IN $ids AND s.embedding_key IS NOT NULL
RETURN s.id AS id, s.embedding_key AS key;

// name: document_keys_within
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) WHERE NOT coalesce(k.switching, false)
MATCH (d:KgragDocument) WHERE d.id IN $ids AND d.embedding_key IS NOT NULL
RETURN d.id AS id, d.embedding_key AS key;

// name: fact_keys_within
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) WHERE NOT coalesce(k.switching, false)
MATCH (f:KgragFactVector) WHERE f.doc_id IN $ids
RETURN DISTINCT f.fact_id AS id, f.embedding_key AS key;

// name: embedding_keys
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) WHERE NOT coalesce(k.switching, false)
CALL () {
  MATCH (n:KgragChunk) WHERE n.id IN $ids RETURN n.id AS id, n.embedding_key AS key
  UNION ALL MATCH (n:KgragSummary) WHERE n.id IN $ids RETURN n.id AS id, n.embedding_key AS key
  UNION ALL MATCH (n:KgragDocument) WHERE n.id IN $ids RETURN n.id AS id, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragFactVector) WHERE n.fact_id IN $ids RETURN n.fact_id AS id, n.embedding_key AS key
}
WITH DISTINCT id, key WHERE key IS NOT NULL
RETURN id, key;

// name: vectors
MATCH (e:KgragEmbedding) WHERE e.id IN $keys RETURN e.id AS key, e.vector AS vector;

// name: find_documents
MATCH (d:KgragDocument) WHERE d.title_key CONTAINS $name
RETURN d.id AS id, d.title_key AS title_key;

// name: any_chunk
MATCH (c:KgragChunk) WHERE c.size = $size RETURN c.id AS id LIMIT 1;

// name: count_terms
MATCH (t:KgragTerms) RETURN count(t) AS n;

// name: documents_without_terms
MATCH (c:KgragChunk) WHERE c.size = $size AND NOT EXISTS { MATCH (t:KgragTerms {id: c.id}) }
RETURN c.doc_id AS id, count(*) AS n ORDER BY id;

// name: delete_any_terms
MATCH (t:KgragTerms) WITH t LIMIT $limit DELETE t RETURN count(*) AS n;
