-- Reading documents, headings, chunks and summaries. Lists of ids come as JSON, so that any number
-- is one parameter; CROSS JOIN keeps SQLite from turning the order of a join round.

-- name: sources
SELECT s.source, s.doc_id, d.fingerprint
FROM documents d INDEXED BY documents_cards CROSS JOIN sources s ON s.doc_id = d.doc_id
ORDER BY s.source;

-- name: shown_sources
SELECT doc_id, min(source), (SELECT value FROM meta WHERE key = 'note.folders')
FROM sources GROUP BY 1;

-- name: document_cards
-- A document shows the smallest of its sources, whatever the order in which they came.
SELECT d.doc_id, d.title, d.media_type, d.content_hash, d.warnings, d.properties,
  d.metadata,
  (SELECT min(source) FROM sources f WHERE f.doc_id = d.doc_id),
  (SELECT value FROM meta WHERE key = 'note.folders')
FROM json_each(?) j CROSS JOIN documents d ON d.doc_id = j.value
ORDER BY j.key;

-- name: all_document_cards
SELECT d.doc_id, d.title, d.media_type, d.content_hash, d.warnings, d.properties,
  d.metadata,
  (SELECT min(source) FROM sources f WHERE f.doc_id = d.doc_id),
  (SELECT value FROM meta WHERE key = 'note.folders')
FROM documents d
ORDER BY d.doc_id;

-- name: documents
SELECT d.doc_id, d.title, d.media_type, d.content_hash, d.warnings, d.properties,
  d.metadata,
  (SELECT min(source) FROM sources f WHERE f.doc_id = d.doc_id),
  (SELECT value FROM meta WHERE key = 'note.folders'), d.segments, d.text
FROM json_each(?) j CROSS JOIN documents d ON d.doc_id = j.value
ORDER BY j.key;

-- name: all_documents
SELECT d.doc_id, d.title, d.media_type, d.content_hash, d.warnings, d.properties,
  d.metadata,
  (SELECT min(source) FROM sources f WHERE f.doc_id = d.doc_id),
  (SELECT value FROM meta WHERE key = 'note.folders'), d.segments, d.text
FROM documents d
ORDER BY d.doc_id;

-- name: headings
SELECT j.value, h.start, h.end, h.level, h.text
FROM json_each(?) j CROSS JOIN headings h ON h.doc_id = j.value
ORDER BY j.key, h.position;

-- name: chunks
SELECT c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.text, c.parent_id,
  c.heading_path
FROM json_each(?) j CROSS JOIN chunks c ON c.chunk_id = j.value
ORDER BY j.key, c.position;

-- name: chunks_of
SELECT c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.text, c.parent_id,
  c.heading_path
FROM json_each(?) j CROSS JOIN chunks c ON c.doc_id = j.value AND c.size = ?
ORDER BY j.key, c.position;

-- name: all_chunks_of
-- All groups of a document, parents first.
SELECT c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.text, c.parent_id,
  c.heading_path
FROM chunks c WHERE c.doc_id = ?
ORDER BY c.parent_id IS NOT NULL, c.size DESC, c.position;

-- name: children
SELECT c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.text, c.parent_id,
  c.heading_path
FROM json_each(?) j CROSS JOIN chunks c ON c.parent_id = j.value AND c.size = ?
ORDER BY j.key, c.position;

-- name: families
-- All children of parents. The parent's text holds the child's: that is not read.
SELECT c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.parent_id, c.heading_path
FROM json_each(?) j CROSS JOIN chunks c ON c.parent_id = j.value
ORDER BY j.key, c.size DESC, c.position;

-- name: summaries
SELECT s.summary_id, s.doc_id, s.start, s.end, s.text, s.level, s.source, s.target_ids
FROM json_each(?) j CROSS JOIN summaries s ON s.summary_id = j.value
ORDER BY j.key;

-- name: all_summaries
SELECT s.summary_id, s.doc_id, s.start, s.end, s.text, s.level, s.source, s.target_ids
FROM summaries s
ORDER BY s.doc_id, s.start, s.end, s.summary_id;

-- name: summaries_of
SELECT s.summary_id, s.doc_id, s.start, s.end, s.text, s.level, s.source, s.target_ids
FROM summaries s WHERE s.doc_id = ?
ORDER BY s.start, s.end, s.summary_id;
