-- Settings, counts, a document's bundle, and the export: in a fixed order, without row numbers.

-- name: settings
-- Without notes, of which there are many: these are not even passed over.
SELECT key, value FROM meta WHERE key < 'note.'
UNION ALL SELECT key, value FROM meta WHERE key >= 'note/' ORDER BY key;

-- name: notes_of
SELECT key, value FROM meta WHERE key >= ?1 AND key < ?1 || char(1114111) ORDER BY key;

-- name: setting
SELECT value FROM meta WHERE key = ?;

-- name: notes
SELECT key, value FROM state ORDER BY key;

-- name: count_all
SELECT (SELECT count(*) FROM documents), (SELECT coalesce(sum(characters), 0) FROM documents),
  (SELECT count(*) FROM summaries), (SELECT count(*) FROM entities),
  (SELECT count(*) FROM facts), (SELECT count(*) FROM mentions),
  (SELECT count(*) FROM embeddings);

-- name: count_sizes
SELECT size, count(*) FROM chunks GROUP BY size ORDER BY size DESC;

-- name: fingerprint
SELECT fingerprint FROM documents WHERE doc_id = ?;

-- name: bundle_vectors
SELECT n.node_id, n.kind, n.key, e.vector
FROM node_vectors n JOIN embeddings e USING (key) WHERE n.doc_id = ?
ORDER BY n.number;

-- name: export_documents
SELECT doc_id, fingerprint FROM documents ORDER BY doc_id;

-- name: export_chunks
SELECT c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.text, c.parent_id,
  c.heading_path
FROM chunks c ORDER BY doc_id, size DESC, position;

-- name: export_summaries
SELECT s.summary_id, s.doc_id, s.start, s.end, s.text, s.level, s.source, s.target_ids
FROM summaries s ORDER BY summary_id;

-- name: export_entities
SELECT entity_id, name, type FROM entities ORDER BY entity_id;

-- name: export_names
SELECT entity_id, name, type, doc_id FROM entity_names ORDER BY entity_id, doc_id, name, type;

-- name: export_facts
SELECT fact_id, subject_id, predicate, object_id FROM facts ORDER BY fact_id;

-- name: export_evidence
SELECT fact_id, predicate, doc_id, start, end, chunk_id, extractor, confidence, qualifiers
FROM evidence ORDER BY fact_id, doc_id, start, end, extractor, chunk_id, qualifiers;

-- name: export_mentions
SELECT entity_id, doc_id, start, end, chunk_id, extractor, confidence, qualifiers FROM mentions
ORDER BY entity_id, doc_id, start, end, extractor, chunk_id, qualifiers;

-- name: export_vectors
SELECT node_id, kind, doc_id, key FROM node_vectors ORDER BY node_id, doc_id;

-- name: export_embeddings
SELECT key, vector FROM embeddings ORDER BY key;
