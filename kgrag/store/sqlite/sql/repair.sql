-- Reading what is as it was stored of a damaged knowledge base, in a copy of it.

-- name: any_seal
SELECT 1 FROM seals UNION ALL SELECT 1 FROM commits;

-- name: latest_number
SELECT max(seq) FROM (SELECT 0 AS seq UNION SELECT seq FROM commits UNION SELECT seq FROM changes);

-- name: statement_of
SELECT sql FROM sqlite_master WHERE name = ?;

-- name: every_source
SELECT doc_id, source FROM sources ORDER BY source;

-- name: delete_vector
DELETE FROM embeddings WHERE key = ?;

-- name: documents_lacking_vectors
SELECT DISTINCT doc_id FROM node_vectors WHERE key NOT IN (SELECT key FROM embeddings);
