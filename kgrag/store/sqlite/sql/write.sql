-- Storing and deleting documents, within one transaction.

-- name: put_setting
INSERT OR REPLACE INTO meta VALUES (?, ?);

-- name: is_held
SELECT 1 FROM documents WHERE doc_id = ?;

-- name: document_of
SELECT doc_id FROM sources WHERE source = ?;

-- name: sources_of
SELECT source FROM sources WHERE doc_id = ?;

-- name: put_source
INSERT OR REPLACE INTO sources VALUES (?, ?);

-- name: add_source
INSERT INTO sources VALUES (?, ?);

-- name: delete_source
DELETE FROM sources WHERE source = ?;

-- name: delete_document
-- Everything that names the document goes with it (ON DELETE CASCADE).
DELETE FROM documents WHERE doc_id = ?;

-- name: add_document
INSERT INTO documents (doc_id, title, normalized_title, media_type, content_hash, fingerprint,
  characters, warnings, properties, segments, text, metadata, node_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_heading
INSERT INTO headings VALUES (?, ?, ?, ?, ?, ?);

-- name: add_chunk
INSERT INTO chunks
  (chunk_id, doc_id, size, position, start, end, parent_id, heading_path, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_summary
INSERT INTO summaries VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: add_entity
INSERT INTO entities (entity_id, normalized, name, type) VALUES (?, ?, ?, ?)
ON CONFLICT (entity_id) DO NOTHING;

-- name: add_entity_name
INSERT INTO entity_names VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: add_fact
INSERT INTO facts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: add_evidence
INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: add_mention
INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: add_embedding
INSERT INTO embeddings VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: add_node_vector
INSERT INTO node_vectors (node_id, kind, doc_id, key) VALUES (?, ?, ?, ?)
ON CONFLICT (node_id, doc_id) DO NOTHING;

-- name: delete_evidence_of
DELETE FROM evidence WHERE doc_id = ?;

-- name: delete_mentions_of
DELETE FROM mentions WHERE doc_id = ?;

-- name: delete_names_of
DELETE FROM entity_names WHERE doc_id = ?;

-- name: delete_vectors_of_lost_facts
DELETE FROM node_vectors WHERE doc_id = ?1 AND kind = 'fact'
AND node_id NOT IN (SELECT fact_id FROM evidence WHERE doc_id = ?1);

-- name: set_dimension
INSERT INTO state VALUES ('dimension', ?);

-- name: missing_key
SELECT value FROM json_each(?) WHERE value NOT IN (SELECT key FROM embeddings) LIMIT 1;

-- name: add_commit
INSERT INTO commits VALUES (?, ?);

-- name: put_change
INSERT OR REPLACE INTO changes VALUES (?, ?, ?);

-- name: affected_entities
SELECT entity_id FROM entity_names WHERE doc_id = ?;

-- name: affected_facts
SELECT fact_id FROM evidence WHERE doc_id = ?;

-- name: affected_keys
SELECT key FROM node_vectors WHERE doc_id = ?;

-- Removing what lost its support, and showing each name as most documents write it. Ties go to the
-- smallest text, so the outcome does not depend on the order of ingestion. Rows that show what all
-- documents write stay untouched: most do, and writing is what costs.

-- name: delete_unstated_facts
DELETE FROM facts WHERE fact_id IN (SELECT value FROM json_each(?1))
AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.fact_id = facts.fact_id);

-- name: word_facts
UPDATE facts SET predicate = (
  SELECT predicate FROM evidence e WHERE e.fact_id = facts.fact_id
  GROUP BY predicate ORDER BY count(DISTINCT doc_id) DESC, predicate LIMIT 1)
WHERE fact_id IN (SELECT value FROM json_each(?1)) AND EXISTS (
  SELECT 1 FROM evidence e WHERE e.fact_id = facts.fact_id AND e.predicate <> facts.predicate);

-- name: delete_unnamed_entities
DELETE FROM entities WHERE entity_id IN (SELECT value FROM json_each(?1))
AND NOT EXISTS (SELECT 1 FROM entity_names n WHERE n.entity_id = entities.entity_id);

-- name: name_entities
UPDATE entities SET
  name = (
    SELECT name FROM entity_names n WHERE n.entity_id = entities.entity_id
    GROUP BY name ORDER BY count(DISTINCT doc_id) DESC, name LIMIT 1),
  type = coalesce((
    SELECT type FROM entity_names n
    WHERE n.entity_id = entities.entity_id AND type <> 'entity'
    GROUP BY type ORDER BY count(DISTINCT doc_id) DESC, type LIMIT 1), 'entity')
WHERE entity_id IN (SELECT value FROM json_each(?1)) AND EXISTS (
  SELECT 1 FROM entity_names n WHERE n.entity_id = entities.entity_id
  AND (n.name <> entities.name OR n.type <> entities.type));

-- name: entities_shown
-- How entities are called now, and under which key they are searched for.
SELECT name, normalized, entity_id FROM entities
WHERE entity_id IN (SELECT value FROM json_each(?1));

-- name: key_entity
UPDATE entities SET normalized = ? WHERE entity_id = ?;

-- name: delete_unused_embeddings
DELETE FROM embeddings WHERE key IN (SELECT value FROM json_each(?1))
AND NOT EXISTS (SELECT 1 FROM node_vectors v WHERE v.key = embeddings.key);

-- name: delete_unused_dimension
-- With the last vector goes its dimension: the next may have another.
DELETE FROM state WHERE key = 'dimension' AND json_array_length(?1) > 0
AND NOT EXISTS (SELECT 1 FROM embeddings);
