// What breaks an invariant: rows of (subject, value), none where all is well.

// name: nodes_without_property
// What every node of a label has.
CALL () {
  MATCH (n:KnowledgeBase) RETURN n, ['id', 'version', 'seq', 'sizes', 'ready', 'terms_version',
    'deleting', 'dead_terms', 'indexed'] AS keys
  UNION ALL MATCH (n:Setting) RETURN n, ['id', 'value'] AS keys
  UNION ALL MATCH (n:Source) RETURN n, ['id', 'doc_id'] AS keys
  UNION ALL MATCH (n:Document) RETURN n, ['id', 'title', 'name', 'caption', 'file', 'media_type',
    'characters', 'content_hash', 'fingerprint', 'layout', 'warnings', 'metadata', 'title_key',
    'name_key'] AS keys
  UNION ALL MATCH (n:DocumentLayout) RETURN n, ['id', 'headings', 'segments'] AS keys
  UNION ALL MATCH (n:Chunk) RETURN n, ['id', 'doc_id', 'size', 'index', 'start', 'end', 'text',
    'heading_path', 'heading'] AS keys
  UNION ALL MATCH (n:Summary) RETURN n, ['id', 'doc_id', 'start', 'end', 'level', 'source',
    'target_ids', 'text'] AS keys
  UNION ALL MATCH (n:Entity) RETURN n, ['id', 'name', 'caption', 'normalized', 'type'] AS keys
  UNION ALL MATCH (n:Embedding) RETURN n, ['id', 'vector'] AS keys
  UNION ALL MATCH (n:FactVector) RETURN n, ['id', 'doc_id', 'fact_id', 'embedding_key'] AS keys
  UNION ALL MATCH (n:Terms) RETURN n, ['id', 'doc_id', 'doc_key', 'size', 'words', 'pairs',
    'path_words', 'path_pairs'] AS keys
}
WITH n, [key IN keys WHERE n[key] IS NULL] AS missing WHERE size(missing) > 0
RETURN coalesce(n.id, labels(n)[0]) AS subject, missing[0] AS value ORDER BY subject LIMIT 100;

// name: relationships_without_property
CALL () {
  MATCH (n)-[r:FIRST_CHUNK]->() RETURN n, r, ['size'] AS keys
  UNION ALL MATCH (n)-[r:MENTIONS]->()
  RETURN n, r, ['fact_ids', 'starts', 'ends', 'extractors', 'confidences'] AS keys
  UNION ALL MATCH (n)-[r:NAMES]->() RETURN n, r, ['names', 'types'] AS keys
  UNION ALL MATCH (n)-[r:RELATED]->() RETURN n, r, ['id', 'predicate', 'doc_ids', 'chunk_ids',
    'starts', 'ends', 'extractors', 'confidences', 'predicates'] AS keys
  UNION ALL MATCH (n)-[r:CITES]->() RETURN n, r, ['predicates'] AS keys
}
WITH n, r, [key IN keys WHERE r[key] IS NULL] AS missing WHERE size(missing) > 0
RETURN n.id AS subject, type(r) + '.' + missing[0] AS value ORDER BY subject LIMIT 100;

// name: relationships_doubled
MATCH (a)-[r:NAMES|SUMMARIZES|CITES]->(b)
WITH a, type(r) AS type, b, count(r) AS n WHERE n > 1
RETURN a.id AS subject, type + ' ' + b.id AS value ORDER BY subject, value LIMIT 100;

// name: documents_without_source
MATCH (d:Document) WHERE NOT EXISTS { MATCH (s:Source {doc_id: d.id}) }
RETURN d.id AS subject, '' AS value ORDER BY subject;

// name: sources_without_document
MATCH (s:Source) WHERE NOT EXISTS { MATCH (d:Document {id: s.doc_id}) }
RETURN s.id AS subject, s.doc_id AS value ORDER BY subject;

// name: documents_without_layout
MATCH (d:Document) WHERE NOT EXISTS { MATCH (l:DocumentLayout {id: d.id}) }
RETURN d.id AS subject, '' AS value ORDER BY subject;

// name: layouts_without_document
MATCH (l:DocumentLayout) WHERE NOT EXISTS { MATCH (d:Document {id: l.id}) }
RETURN l.id AS subject, '' AS value ORDER BY subject;

// name: chunks_without_document
MATCH (c:Chunk) WHERE NOT EXISTS { MATCH (d:Document {id: c.doc_id}) }
RETURN c.id AS subject, c.doc_id AS value ORDER BY subject LIMIT 100;

// name: chunks_with_wrong_labels
MATCH (c:Chunk)
WHERE (c.parent_id IS NULL) <> (c:ParentChunk) OR (c.parent_id IS NULL) = (c:ChildChunk)
RETURN c.id AS subject, reduce(text = '', l IN labels(c) | text + ':' + l) AS value
ORDER BY subject LIMIT 100;

// name: parents_not_part_of_document
MATCH (c:ParentChunk)
WHERE COUNT { MATCH (c)-[:PART_OF]->(d:Document) WHERE d.id = c.doc_id } <> 1
  OR COUNT { (c)-[:PART_OF]->() } <> 1
RETURN c.id AS subject, c.doc_id AS value ORDER BY subject LIMIT 100;

// name: children_without_parent_link
MATCH (c:ChildChunk)
WHERE COUNT { MATCH (p:ParentChunk)-[:HAS_CHILD]->(c) WHERE p.id = c.parent_id } <> 1
  OR COUNT { ()-[:HAS_CHILD]->(c) } <> 1
RETURN c.id AS subject, c.parent_id AS value ORDER BY subject LIMIT 100;

// name: chunks_without_neighbour
MATCH (c:Chunk)
WHERE c.index > 0 AND COUNT {
  MATCH (b:Chunk)-[:NEXT_CHUNK]->(c)
  WHERE b.doc_id = c.doc_id AND b.size = c.size AND b.index = c.index - 1 } <> 1
  OR COUNT { ()-[:NEXT_CHUNK]->(c) } <> CASE WHEN c.index > 0 THEN 1 ELSE 0 END
RETURN c.id AS subject, toString(c.index) AS value ORDER BY subject LIMIT 100;

// name: first_chunks_without_link
MATCH (c:Chunk)
WHERE COUNT { MATCH (d:Document)-[r:FIRST_CHUNK]->(c) WHERE d.id = c.doc_id AND r.size = c.size }
    <> CASE WHEN c.index = 0 THEN 1 ELSE 0 END
  OR COUNT { ()-[:FIRST_CHUNK]->(c) } <> CASE WHEN c.index = 0 THEN 1 ELSE 0 END
RETURN c.id AS subject, toString(c.size) AS value ORDER BY subject LIMIT 100;

// name: summaries_outside_text
MATCH (s:Summary)
OPTIONAL MATCH (d:Document {id: s.doc_id})
WITH s, d WHERE d IS NULL OR s.start < 0 OR s.end < s.start OR s.end > d.characters
RETURN s.id AS subject, s.doc_id + ' ' + s.start + '..' + s.end AS value ORDER BY subject;

// name: summaries_without_target
MATCH (s:Summary)
UNWIND s.target_ids AS target
WITH s, target WHERE NOT EXISTS {
  MATCH (s)-[:SUMMARIZES]->(c:Chunk {id: target}) WHERE c.doc_id = s.doc_id }
RETURN s.id AS subject, target AS value ORDER BY subject, value;

// name: summaries_with_other_target
MATCH (s:Summary)-[:SUMMARIZES]->(c) WHERE NOT c.id IN s.target_ids
RETURN s.id AS subject, c.id AS value ORDER BY subject, value;

// name: nodes_without_stored_embedding
CALL () {
  MATCH (n:Chunk) WHERE n.embedding_key IS NOT NULL RETURN n, 'ChunkEmbedding' AS label
  UNION ALL MATCH (n:Summary) WHERE n.embedding_key IS NOT NULL RETURN n, 'SummaryEmbedding' AS label
  UNION ALL MATCH (n:Document) WHERE n.embedding_key IS NOT NULL RETURN n, 'DocumentEmbedding' AS label
  UNION ALL MATCH (n:FactVector) RETURN n, 'FactEmbedding' AS label
}
OPTIONAL MATCH (e:Embedding {id: n.embedding_key}) WHERE label IN labels(e)
WITH n, e WHERE e IS NULL
RETURN n.id AS subject, n.embedding_key AS value ORDER BY subject LIMIT 100;

// name: embeddings_without_node
MATCH (e:Embedding)
WHERE e:ChunkEmbedding <> EXISTS { MATCH (n:Chunk {embedding_key: e.id}) }
  OR e:SummaryEmbedding <> EXISTS { MATCH (n:Summary {embedding_key: e.id}) }
  OR e:DocumentEmbedding <> EXISTS { MATCH (n:Document {embedding_key: e.id}) }
  OR e:FactEmbedding <> EXISTS { MATCH (n:FactVector {embedding_key: e.id}) }
  OR NOT (e:ChunkEmbedding OR e:SummaryEmbedding OR e:DocumentEmbedding OR e:FactEmbedding)
RETURN e.id AS subject, '' AS value ORDER BY subject LIMIT 100;

// name: fact_vectors_without_fact
MATCH (f:FactVector)
WHERE NOT EXISTS { MATCH (:Entity)-[r:RELATED {id: f.fact_id}]->() WHERE f.doc_id IN r.doc_ids }
RETURN f.fact_id AS subject, f.doc_id AS value ORDER BY subject, value LIMIT 100;

// name: any_fact_vector
MATCH (f:FactVector) RETURN count(f) > 0 AS held;

// name: embeddings_of_other_dimension
MATCH (k:KnowledgeBase {id: 'kgrag'})
MATCH (e:Embedding) WHERE k.dimension IS NULL OR size(e.vector) <> k.dimension
RETURN e.id AS subject, toString(size(e.vector)) AS value ORDER BY subject LIMIT 100;

// name: terms_without_chunk
MATCH (k:KnowledgeBase {id: 'kgrag'})
MATCH (t:Terms)
OPTIONAL MATCH (c:Chunk {id: t.id})
WITH k, t, c
WHERE NOT t.size IN k.sizes OR c IS NULL OR c.size <> t.size OR c.doc_id <> t.doc_id
  OR NOT 'Terms' + toString(t.size) IN labels(t)
RETURN t.id AS subject, toString(t.size) AS value ORDER BY subject LIMIT 100;

// name: chunks_without_terms
MATCH (k:KnowledgeBase {id: 'kgrag'})
UNWIND k.ready AS size
MATCH (c:Chunk {size: size}) WHERE NOT EXISTS { MATCH (t:Terms {id: c.id}) }
RETURN c.id AS subject, toString(size) AS value ORDER BY subject LIMIT 100;

// name: entities_without_document
MATCH (e:Entity) WHERE NOT EXISTS { (:Document)-[:NAMES]->(e) }
RETURN e.id AS subject, e.name AS value ORDER BY subject;

// name: names_without_use
// A name is there because a fact or a mention of the document has it.
MATCH (d:Document)-[:NAMES]->(e:Entity)
WHERE NOT EXISTS { MATCH (c:Chunk {doc_id: d.id})-[:MENTIONS]->(e) }
RETURN e.id AS subject, d.id AS value ORDER BY subject, value LIMIT 100;

// name: mentions_without_name
MATCH (c:Chunk)-[:MENTIONS]->(e:Entity)
WITH DISTINCT c.doc_id AS doc_id, e
WHERE NOT EXISTS { (:Document {id: doc_id})-[:NAMES]->(e) }
RETURN e.id AS subject, doc_id AS value ORDER BY subject, value LIMIT 100;

// name: indexes_not_online
SHOW INDEXES YIELD name, state WHERE state <> 'ONLINE' RETURN name AS subject, state AS value;

// name: chunk_places
MATCH (c:Chunk) RETURN c.id AS id, c.doc_id AS doc_id, c.start AS start, c.end AS end;

// name: document_names
MATCH (d:Document)
RETURN d.id AS id, d.title AS title, d.title_key AS title_key, d.name_key AS name_key,
  d.characters AS characters, d.file AS file, d.name AS name, d.caption AS caption,
  d.metadata AS metadata, properties(d) AS properties;

// name: entity_keys
MATCH (e:Entity)
RETURN e.id AS id, e.name AS name, e.type AS type, e.normalized AS normalized,
  e.caption AS caption;

// name: every_mention_link
MATCH (c:Chunk)-[m:MENTIONS]->(e:Entity)
RETURN c.id AS chunk_id, e.id AS entity_id, m.fact_ids AS fact_ids, m.starts AS starts,
  m.ends AS ends, m.confidences AS confidences, size(m.extractors) AS n;

// name: every_citation
MATCH (a:Document)-[r:CITES]->(b:Document)
RETURN a.id AS citing, b.id AS cited, r.predicates AS predicates;

// name: every_citing_fact
// Whom the facts let a document cite.
MATCH (o:Entity)<-[r:RELATED]-() WHERE r.predicate IN $predicates
MATCH (b:Document {name_key: o.normalized})
UNWIND r.doc_ids AS doc_id
MATCH (a:Document {id: doc_id}) WHERE a <> b
RETURN DISTINCT a.id AS citing, b.id AS cited, r.predicate AS predicate;
