-- Searching by title, and what the indexes of words and vectors read of the database.

-- name: find_documents
SELECT doc_id FROM documents WHERE instr(normalized_title, ?) > 0
ORDER BY length(normalized_title), doc_id LIMIT ?;

-- name: doc_ids
SELECT doc_id FROM documents ORDER BY doc_id;

-- name: count_chunks
SELECT count(*) FROM chunks WHERE size = ?;

-- name: chunk_ids
SELECT c.number, c.chunk_id FROM json_each(?) j CROSS JOIN chunks c ON c.number = j.value;

-- name: indexed_chunks
SELECT c.number, c.doc_id, d.title, c.heading_path, c.text
FROM json_each(?) j CROSS JOIN documents d ON d.doc_id = j.value
CROSS JOIN chunks c ON c.doc_id = d.doc_id AND c.size = ?
ORDER BY j.key, c.position;

-- name: dimension
SELECT value FROM state WHERE key = 'dimension';

-- name: vectors
SELECT e.key, e.vector FROM json_each(?) j CROSS JOIN embeddings e ON e.key = j.value;

-- name: vectors_of
SELECT n.node_id, e.vector
FROM json_each(?) j CROSS JOIN node_vectors n ON n.node_id = j.value
CROSS JOIN embeddings e ON e.key = n.key;

-- name: vector_counts
SELECT n.doc_id, count(*)
FROM json_each(?) j CROSS JOIN node_vectors n ON n.doc_id = j.value AND n.kind = ?
GROUP BY n.doc_id ORDER BY min(n.number);

-- name: indexed_vectors
SELECT n.number, n.node_id, e.vector
FROM json_each(?) j CROSS JOIN node_vectors n ON n.doc_id = j.value AND n.kind = ?
CROSS JOIN embeddings e ON e.key = n.key
ORDER BY j.key, n.number;

-- name: vector_numbers
SELECT n.number FROM json_each(?) j CROSS JOIN node_vectors n ON n.node_id = j.value;

-- name: vector_nodes
SELECT n.number, n.node_id, n.key
FROM json_each(?) j CROSS JOIN node_vectors n ON n.number = j.value;

-- name: latest_mark
-- The change log: caches and kept lists are compared with it.
SELECT seq, stamp FROM commits ORDER BY seq DESC LIMIT 1;

-- name: stamp
SELECT stamp FROM commits WHERE seq = ?;

-- name: changed_since
SELECT doc_id FROM changes WHERE part = ? AND seq > ? ORDER BY doc_id;
