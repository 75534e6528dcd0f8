-- Checking invariants. A statement called check_… returns a row (subject, value seen) for each
-- breach, in order.

-- name: check_document_has_source
SELECT doc_id, NULL FROM documents WHERE doc_id NOT IN (SELECT doc_id FROM sources) ORDER BY 1;

-- name: check_summary_span
-- Spans may be empty; one that touches a chunk's edge still belongs to it.
SELECT s.summary_id, s.start || '..' || s.end FROM summaries s JOIN documents d USING (doc_id)
WHERE s.start < 0 OR s.end < s.start OR s.end > d.characters ORDER BY 1;

-- name: check_summary_targets
SELECT s.summary_id, t.value FROM summaries s, json_each(s.target_ids) t
LEFT JOIN chunks c ON c.chunk_id = t.value
WHERE c.chunk_id IS NULL OR c.doc_id <> s.doc_id ORDER BY 1, t.key;

-- name: check_fact_has_evidence
SELECT fact_id, predicate FROM facts WHERE fact_id NOT IN (SELECT fact_id FROM evidence)
ORDER BY 1;

-- name: check_fact_wording
SELECT fact_id, predicate FROM facts f
WHERE EXISTS (SELECT 1 FROM evidence e WHERE e.fact_id = f.fact_id)
AND predicate IS NOT (
  SELECT predicate FROM evidence e WHERE e.fact_id = f.fact_id
  GROUP BY predicate ORDER BY count(DISTINCT doc_id) DESC, predicate LIMIT 1)
ORDER BY 1;

-- name: check_entity_supported
SELECT entity_id, name FROM entities
WHERE entity_id NOT IN (SELECT entity_id FROM mentions)
AND entity_id NOT IN (SELECT subject_id FROM facts)
AND entity_id NOT IN (SELECT object_id FROM facts) ORDER BY 1;

-- name: check_entity_wording
SELECT entity_id, name FROM entities e
WHERE name IS NOT (
  SELECT name FROM entity_names n WHERE n.entity_id = e.entity_id
  GROUP BY name ORDER BY count(DISTINCT doc_id) DESC, name LIMIT 1)
OR type IS NOT coalesce((
  SELECT type FROM entity_names n WHERE n.entity_id = e.entity_id AND type <> 'entity'
  GROUP BY type ORDER BY count(DISTINCT doc_id) DESC, type LIMIT 1), 'entity')
ORDER BY 1;

-- name: check_evidence_span
SELECT x.fact_id, x.doc_id || ' ' || x.start || '..' || x.end
FROM evidence x JOIN documents d USING (doc_id)
WHERE x.start < 0 OR x.end < x.start OR x.end > d.characters ORDER BY 1, 2;

-- name: check_evidence_chunk
SELECT x.fact_id, x.chunk_id FROM evidence x LEFT JOIN chunks c USING (chunk_id)
WHERE c.chunk_id IS NULL OR c.doc_id <> x.doc_id OR x.start > c.end OR x.end < c.start
ORDER BY 1, 2;

-- name: check_evidence_confidence
SELECT fact_id, confidence FROM evidence WHERE NOT (confidence > 0 AND confidence <= 1)
ORDER BY 1, 2;

-- name: check_mentions_span
SELECT x.entity_id, x.doc_id || ' ' || x.start || '..' || x.end
FROM mentions x JOIN documents d USING (doc_id)
WHERE x.start < 0 OR x.end < x.start OR x.end > d.characters ORDER BY 1, 2;

-- name: check_mentions_chunk
SELECT x.entity_id, x.chunk_id FROM mentions x LEFT JOIN chunks c USING (chunk_id)
WHERE c.chunk_id IS NULL OR c.doc_id <> x.doc_id OR x.start > c.end OR x.end < c.start
ORDER BY 1, 2;

-- name: check_mentions_confidence
SELECT entity_id, confidence FROM mentions WHERE NOT (confidence > 0 AND confidence <= 1)
ORDER BY 1, 2;

-- name: check_vector_has_node
SELECT v.node_id, v.kind FROM node_vectors v WHERE NOT CASE v.kind
  WHEN 'chunk' THEN EXISTS
    (SELECT 1 FROM chunks c WHERE c.chunk_id = v.node_id AND c.doc_id = v.doc_id)
  WHEN 'summary' THEN EXISTS
    (SELECT 1 FROM summaries s WHERE s.summary_id = v.node_id AND s.doc_id = v.doc_id)
  WHEN 'fact' THEN EXISTS
    (SELECT 1 FROM evidence e WHERE e.fact_id = v.node_id AND e.doc_id = v.doc_id)
  ELSE v.node_id = v.doc_id
    AND EXISTS (SELECT 1 FROM documents d WHERE d.doc_id = v.doc_id) END
ORDER BY 1;

-- name: check_embedding_has_node
SELECT key, NULL FROM embeddings WHERE key NOT IN (SELECT key FROM node_vectors) ORDER BY 1;

-- name: check_change_log
SELECT d.doc_id, p.part FROM documents d,
  (SELECT 'chunks' AS part UNION SELECT 'vectors' UNION SELECT 'knowledge') p
  LEFT JOIN changes c ON c.doc_id = d.doc_id AND c.part = p.part
WHERE c.seq IS NULL OR c.seq NOT IN (SELECT seq FROM commits) ORDER BY 1, 2;

-- name: last_number
SELECT seq FROM sqlite_sequence WHERE name = ?;

-- name: entity_names_kept
SELECT entity_id, name, normalized FROM entities ORDER BY 1;

-- name: document_titles_kept
SELECT doc_id, title, normalized_title FROM documents ORDER BY 1;

-- name: document_lengths
SELECT doc_id, characters FROM documents ORDER BY doc_id;

-- name: chunk_numbers
SELECT number FROM chunks WHERE size = ?;

-- name: documents_with_vectors
SELECT DISTINCT doc_id FROM node_vectors WHERE kind = ?;

-- name: schema
SELECT type, name, tbl_name, sql FROM sqlite_master;
