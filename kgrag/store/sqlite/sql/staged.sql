-- Vectors of another encoder in tables of their own, until they take over.

-- name: note
SELECT value FROM state WHERE key = ?;

-- name: put_note
INSERT OR REPLACE INTO state VALUES (?, ?);

-- name: delete_note
DELETE FROM state WHERE key = ?;

-- name: staged_documents
SELECT doc_id FROM staged_documents;

-- name: staged_vectors
SELECT e.key, e.vector FROM json_each(?) j CROSS JOIN staged_embeddings e ON e.key = j.value;

-- name: staged_dimension
SELECT length(vector) / 4 FROM staged_embeddings LIMIT 1;

-- name: add_staged_document
INSERT INTO staged_documents VALUES (?);

-- name: add_staged_node
INSERT INTO staged_nodes (doc_id, node_id, kind, key) VALUES (?, ?, ?, ?);

-- name: add_staged_embedding
INSERT INTO staged_embeddings VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: delete_staged_document
DELETE FROM staged_documents WHERE doc_id = ?;

-- name: unchanged_documents
-- Those that are held as they were at a commit.
SELECT d.doc_id FROM json_each(?) j CROSS JOIN documents d ON d.doc_id = j.value
WHERE NOT EXISTS (SELECT 1 FROM changes c WHERE c.doc_id = d.doc_id AND c.seq > ?);

-- name: unstaged_document
SELECT 1 FROM documents WHERE doc_id NOT IN (SELECT doc_id FROM staged_documents) LIMIT 1;

-- name: schema_of
-- What made a table and, after it, its indexes.
SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL
ORDER BY type = 'index', name;

-- name: last_node_number
SELECT name, seq FROM sqlite_sequence WHERE name = 'node_vectors';

-- name: put_last_number
INSERT INTO sqlite_sequence VALUES (?, ?);

-- name: rename_staged_embeddings
ALTER TABLE staged_embeddings RENAME TO embeddings;

-- name: take_staged_nodes
INSERT INTO node_vectors (node_id, kind, doc_id, key)
SELECT node_id, kind, doc_id, key FROM staged_nodes ORDER BY doc_id, node_id;

-- name: delete_left_embeddings
-- Of documents that changed after they were encoded.
DELETE FROM embeddings WHERE rowid IN (
  SELECT e.rowid FROM embeddings e
  WHERE NOT EXISTS (SELECT 1 FROM node_vectors n WHERE n.key = e.key));

-- name: delete_dimension
DELETE FROM state WHERE key = 'dimension';

-- name: find_dimension
INSERT INTO state SELECT 'dimension', length(vector) / 4 FROM embeddings LIMIT 1;
