-- Making whole what is damaged, in a copy of the knowledge base.

-- name: any_commit
SELECT 1 FROM commits;

-- name: settings_as_they_are
SELECT key, value FROM meta;

-- name: delete_setting
DELETE FROM meta WHERE key = ?;

-- name: delete_notes
DELETE FROM state WHERE key <> 'staged_meta';

-- name: most_frequent_dimension
INSERT INTO state SELECT 'dimension', length(vector) / 4 FROM embeddings
GROUP BY length(vector) ORDER BY count(*) DESC LIMIT 1;

-- name: delete_seal_of_note
DELETE FROM seals WHERE subject = 'state' AND part = ?;

-- name: unlogged_documents
SELECT DISTINCT doc_id FROM changes WHERE seq NOT IN (SELECT seq FROM commits)
UNION SELECT doc_id FROM documents WHERE doc_id NOT IN (SELECT doc_id FROM changes);

-- name: delete_sources
DELETE FROM sources WHERE doc_id = ?;

-- name: documents_with_vector
SELECT doc_id FROM node_vectors WHERE key = ?;

-- name: delete_nodes_of_vector
DELETE FROM node_vectors WHERE key = ?;

-- name: delete_vector
DELETE FROM embeddings WHERE key = ?;

-- name: embedded
-- What has vectors: chunks by their size, other nodes by their kind.
SELECT DISTINCT coalesce(c.size, n.kind) FROM node_vectors n
LEFT JOIN chunks c ON n.kind = 'chunk' AND c.chunk_id = n.node_id;

-- name: embedded_documents
SELECT DISTINCT doc_id FROM node_vectors ORDER BY 1;

-- name: damaged_vector
SELECT CAST(vector AS BLOB), seal FROM embeddings WHERE key = ?;

-- name: mend_vector
UPDATE embeddings SET vector = ?, seal = ? WHERE key = ?;

-- name: raise_last_number
UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?;

-- name: statement_of
SELECT sql FROM sqlite_master WHERE name = ?;

-- name: lost_documents
SELECT subject FROM seals
WHERE subject NOT IN (SELECT doc_id FROM documents) AND subject NOT IN ('meta', 'state', 'corrections', 'decisions')
GROUP BY subject HAVING count(*) > 1;

-- name: strange_documents
SELECT doc_id FROM documents WHERE doc_id NOT IN (SELECT subject FROM seals);

-- name: rename_document
UPDATE documents SET doc_id = ? WHERE doc_id = ?;

-- name: add_empty_document
INSERT INTO documents (doc_id, title, normalized_title, media_type, content_hash, fingerprint,
  characters, warnings, properties, segments, text)
VALUES (?, '', '', '', '', '', 0, '[]', '{}', '[]', '');

-- name: delete_strange_documents
DELETE FROM documents WHERE doc_id NOT IN (SELECT subject FROM seals)
AND doc_id NOT IN (SELECT doc_id FROM chunks);

-- Deleting rows of documents, chunks, facts or vectors that could not be read.

-- name: delete_orphaned_sources
DELETE FROM sources WHERE doc_id NOT IN (SELECT doc_id FROM documents);

-- name: delete_orphaned_headings
DELETE FROM headings WHERE doc_id NOT IN (SELECT doc_id FROM documents);

-- name: delete_orphaned_chunks
DELETE FROM chunks WHERE doc_id NOT IN (SELECT doc_id FROM documents);

-- name: delete_orphaned_summaries
DELETE FROM summaries WHERE doc_id NOT IN (SELECT doc_id FROM documents);

-- name: delete_orphaned_names
DELETE FROM entity_names WHERE doc_id NOT IN (SELECT doc_id FROM documents);

-- name: delete_orphaned_evidence
DELETE FROM evidence WHERE doc_id NOT IN (SELECT doc_id FROM documents);

-- name: delete_orphaned_mentions
DELETE FROM mentions WHERE doc_id NOT IN (SELECT doc_id FROM documents);

-- name: delete_orphaned_vectors
DELETE FROM node_vectors WHERE doc_id NOT IN (SELECT doc_id FROM documents);

-- name: delete_orphaned_staged
DELETE FROM staged_documents WHERE doc_id NOT IN (SELECT doc_id FROM documents);

-- name: delete_chunks_without_parent
DELETE FROM chunks WHERE parent_id IS NOT NULL
AND parent_id NOT IN (SELECT chunk_id FROM chunks);

-- name: delete_evidence_without_chunk
DELETE FROM evidence WHERE chunk_id NOT IN (SELECT chunk_id FROM chunks);

-- name: delete_mentions_without_chunk
DELETE FROM mentions WHERE chunk_id NOT IN (SELECT chunk_id FROM chunks);

-- name: delete_evidence_without_fact
DELETE FROM evidence WHERE fact_id NOT IN (SELECT fact_id FROM facts);

-- name: delete_nodes_without_vector
DELETE FROM node_vectors WHERE key NOT IN (SELECT key FROM embeddings);

-- name: delete_incomplete_staged_nodes
DELETE FROM staged_nodes WHERE doc_id NOT IN (SELECT doc_id FROM staged_documents)
OR key NOT IN (SELECT key FROM staged_embeddings);

-- name: extractors_in_document
SELECT extractor FROM evidence WHERE doc_id = ?1
UNION SELECT extractor FROM mentions WHERE doc_id = ?1
UNION SELECT 'summary' FROM summaries WHERE doc_id = ?1;

-- name: smallest_names
SELECT entity_id, min(name), min(type) FROM entity_names GROUP BY 1;

-- name: delete_facts_without_entity
DELETE FROM facts WHERE subject_id NOT IN (SELECT entity_id FROM entities)
OR object_id NOT IN (SELECT entity_id FROM entities);

-- name: delete_mentions_without_entity
DELETE FROM mentions WHERE entity_id NOT IN (SELECT entity_id FROM entities);

-- name: entity_ids
SELECT entity_id FROM entities;

-- name: fact_ids
SELECT fact_id FROM facts;

-- name: keys
SELECT key FROM embeddings;
