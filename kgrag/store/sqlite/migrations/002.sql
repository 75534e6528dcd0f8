-- Version 2: facts have vectors. A fact has one for each document that states it, of the words of
-- that document, so that a vector goes with its document whatever the others say.
CREATE TABLE node_vectors_2 (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('chunk', 'summary', 'document', 'fact')),
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    key TEXT NOT NULL REFERENCES embeddings (key),
    UNIQUE (node_id, doc_id)
);
INSERT INTO node_vectors_2 SELECT number, node_id, kind, doc_id, key FROM node_vectors;
-- Search caches know rows by number: none is used again after this, either.
DELETE FROM sqlite_sequence WHERE name = 'node_vectors_2';
INSERT INTO sqlite_sequence
    SELECT 'node_vectors_2', seq FROM sqlite_sequence WHERE name = 'node_vectors';
DROP TABLE node_vectors;
ALTER TABLE node_vectors_2 RENAME TO node_vectors;
CREATE INDEX node_vectors_document ON node_vectors (doc_id, kind);
CREATE INDEX node_vectors_key ON node_vectors (key);
