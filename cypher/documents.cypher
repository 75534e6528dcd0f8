// Documents, chunks and summaries.

// name: sources
MATCH (s:KgragSource) MATCH (d:KgragDocument {id: s.doc_id})
RETURN s.id AS source, s.doc_id AS doc_id, d.fingerprint AS fingerprint;

// name: all_cards
MATCH (d:KgragDocument)
OPTIONAL MATCH (n:KgragSetting {id: 'note.folders'})
RETURN d.id AS id, d.title AS title, d.media_type AS media_type, d.content_hash AS content_hash,
  d.warnings AS warnings, d.properties AS properties, d.metadata AS metadata, d.file AS file,
  n.value AS folders, d.fingerprint AS fingerprint, d.characters AS characters;

// name: cards
MATCH (d:KgragDocument) WHERE d.id IN $ids
OPTIONAL MATCH (n:KgragSetting {id: 'note.folders'})
RETURN d.id AS id, d.title AS title, d.media_type AS media_type, d.content_hash AS content_hash,
  d.warnings AS warnings, d.properties AS properties, d.metadata AS metadata, d.file AS file,
  n.value AS folders, d.fingerprint AS fingerprint, d.characters AS characters;

// name: revision
MATCH (d:KgragDocument {id: $id}) RETURN coalesce(d.revision, '') AS revision;

// name: layouts
MATCH (l:KgragDocumentLayout) WHERE l.id IN $ids
RETURN l.id AS id, l.headings AS headings, l.segments AS segments;

// name: texts
// The parents of a document, put together, are its text.
MATCH (c:KgragChunk) WHERE c.doc_id IN $ids AND c.parent_id IS NULL
RETURN c.doc_id AS id, c.index AS index, c.text AS text;

// name: chunks
// Those that a deletion of a large document has not reached yet are gone for readers.
MATCH (c:KgragChunk) WHERE c.id IN $ids AND EXISTS { MATCH (d:KgragDocument {id: c.doc_id}) }
RETURN c.id AS id, c.doc_id AS doc_id, c.size AS size, c.index AS index, c.start AS start,
  c.end AS end, c.text AS text, c.parent_id AS parent_id, c.heading_path AS heading_path;

// name: chunks_of
MATCH (c:KgragChunk) WHERE c.doc_id IN $ids AND c.size = $size
RETURN c.id AS id, c.doc_id AS doc_id, c.size AS size, c.index AS index, c.start AS start,
  c.end AS end, c.text AS text, c.parent_id AS parent_id, c.heading_path AS heading_path;

// name: chunks_of_documents
MATCH (c:KgragChunk) WHERE c.doc_id IN $ids
RETURN c.id AS id, c.doc_id AS doc_id, c.size AS size, c.index AS index, c.start AS start,
  c.end AS end, c.text AS text, c.parent_id AS parent_id, c.heading_path AS heading_path;

// name: children
MATCH (p:KgragChunk)-[:HAS_CHILD]->(c:KgragChunk) WHERE p.id IN $ids AND c.size = $size
RETURN c.id AS id, c.doc_id AS doc_id, c.size AS size, c.index AS index, c.start AS start,
  c.end AS end, c.text AS text, c.parent_id AS parent_id, c.heading_path AS heading_path;

// name: families
MATCH (p:KgragChunk) WHERE p.id IN $ids
CALL (p) {
  WITH p WHERE p.parent_id IS NULL
  RETURN p AS c UNION ALL MATCH (p)-[:HAS_CHILD]->(c:KgragChunk) RETURN c
}
RETURN c.id AS id, c.doc_id AS doc_id, c.size AS size, c.index AS index, c.start AS start,
  c.end AS end, c.text AS text, c.parent_id AS parent_id, c.heading_path AS heading_path;

// name: summaries
MATCH (s:KgragSummary) WHERE s.id IN $ids
RETURN s.id AS id, s.doc_id AS doc_id, s.start AS start, s.end AS end, s.text AS text,
  s.level AS level, s.source AS source, s.target_ids AS target_ids;

// name: all_summaries
MATCH (s:KgragSummary)
RETURN s.id AS id, s.doc_id AS doc_id, s.start AS start, s.end AS end, s.text AS text,
  s.level AS level, s.source AS source, s.target_ids AS target_ids;

// name: summaries_of_document
MATCH (s:KgragSummary {doc_id: $id})
RETURN s.id AS id, s.doc_id AS doc_id, s.start AS start, s.end AS end, s.text AS text,
  s.level AS level, s.source AS source, s.target_ids AS target_ids,
  s.embedding_key AS embedding_key;
