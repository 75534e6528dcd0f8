-- Checksums. What each part of a document is, all of its columns in a fixed order. How entities and
-- facts are called is left out: it follows from what documents write, and is compared with that.
-- What came with a later version of the schema has statements of its own, without the rows of who
-- has nothing of it: these have the checksums that they had.

-- name: sealed_text
SELECT title, normalized_title, media_type, content_hash, fingerprint, characters, warnings,
  properties, segments, text
FROM documents WHERE doc_id = ?;

-- name: sealed_headings
SELECT position, start, "end", level, text FROM headings WHERE doc_id = ? ORDER BY position;

-- name: sealed_metadata
SELECT metadata, node_id FROM documents
WHERE doc_id = ? AND (metadata <> '{}' OR node_id <> '');

-- name: sealed_chunks
SELECT number, chunk_id, size, position, start, "end", parent_id, heading_path, text
FROM chunks WHERE doc_id = ? ORDER BY size DESC, position;

-- name: sealed_summaries
SELECT summary_id, start, "end", level, source, target_ids, text
FROM summaries WHERE doc_id = ? ORDER BY summary_id;

-- name: sealed_names
SELECT entity_id, name, type FROM entity_names WHERE doc_id = ? ORDER BY entity_id, name, type;

-- name: sealed_facts
SELECT e.fact_id, e.start, e."end", e.extractor, e.chunk_id, e.confidence, e.predicate,
  f.subject_id, f.object_id
FROM evidence e LEFT JOIN facts f ON f.fact_id = e.fact_id WHERE e.doc_id = ?
ORDER BY e.fact_id, e.start, e."end", e.extractor, e.chunk_id, e.qualifiers;

-- name: sealed_mentions
SELECT entity_id, start, "end", extractor, chunk_id, confidence FROM mentions WHERE doc_id = ?
ORDER BY entity_id, start, "end", extractor, chunk_id, qualifiers;

-- name: sealed_qualifiers
SELECT fact_id, start, "end", extractor, chunk_id, qualifiers FROM evidence
WHERE doc_id = ?1 AND qualifiers <> '{}'
UNION ALL SELECT entity_id, start, "end", extractor, chunk_id, qualifiers FROM mentions
WHERE doc_id = ?1 AND qualifiers <> '{}'
ORDER BY 1, 2, 3, 4, 5, 6;

-- name: sealed_vectors
SELECT number, node_id, kind, key FROM node_vectors WHERE doc_id = ? ORDER BY node_id;

-- name: sealed_sources
SELECT source FROM sources WHERE doc_id = ? ORDER BY source;

-- name: sealed_log
SELECT part, seq FROM changes WHERE doc_id = ? ORDER BY part;

-- name: seals
SELECT subject, part, seal FROM seals;

-- name: seals_of
SELECT part, seal FROM seals WHERE subject = ?;

-- name: put_seal
INSERT OR REPLACE INTO seals VALUES (?, ?, ?);

-- name: delete_seals
DELETE FROM seals WHERE subject = ?;

-- name: logged_documents
SELECT doc_id FROM changes;
