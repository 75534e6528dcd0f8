// What breaks an invariant: rows of (subject, value), none where all is well.

// name: nodes_without_property
// What every node of a label has.
CALL () {
  MATCH (n:KgragKnowledgeBase) RETURN n, ['id', 'version', 'seq', 'sizes', 'ready', 'terms_version',
    'deleting', 'dead_terms', 'indexed'] AS keys
  UNION ALL MATCH (n:KgragSetting) RETURN n, ['id', 'value'] AS keys
  UNION ALL MATCH (n:KgragSource) RETURN n, ['id', 'doc_id'] AS keys
  UNION ALL MATCH (n:KgragDocument) RETURN n, ['id', 'title', 'name', 'caption', 'file',
    'media_type', 'characters', 'content_hash', 'fingerprint', 'layout', 'warnings', 'properties', 'metadata', 'title_key',
    'name_key', 'node_id', 'name_id'] AS keys
  UNION ALL MATCH (n:KgragCorrection) RETURN n, ['id', 'doc_id', 'field', 'value'] AS keys
  UNION ALL MATCH (n:KgragDecision) RETURN n, ['id', 'kind', 'name', 'into'] AS keys
  UNION ALL MATCH (n:KgragDocumentLayout) RETURN n, ['id', 'headings', 'segments'] AS keys
  UNION ALL MATCH (n:KgragChunk) RETURN n, ['id', 'doc_id', 'size', 'index', 'start', 'end', 'text',
    'heading_path', 'heading'] AS keys
  UNION ALL MATCH (n:KgragSummary) RETURN n, ['id', 'doc_id', 'start', 'end', 'level', 'source',
    'target_ids', 'text'] AS keys
  UNION ALL MATCH (n:KgragEntity) RETURN n, ['id', 'name', 'caption', 'normalized', 'type'] AS keys
  UNION ALL MATCH (n:KgragEmbedding) RETURN n, ['id', 'vector'] AS keys
  UNION ALL MATCH (n:KgragFactVector) RETURN n, ['id', 'doc_id', 'fact_id', 'embedding_key'] AS keys
  UNION ALL MATCH (n:KgragTerms) RETURN n, ['id', 'doc_id', 'doc_key', 'size', 'words', 'pairs',
    'path_words', 'path_pairs'] AS keys
}
WITH n, [key IN keys WHERE n[key] IS NULL] AS missing WHERE size(missing) > 0
RETURN coalesce(n.id, labels(n)[0]) AS subject, missing[0] AS value ORDER BY subject LIMIT 100;

// name: relationships_without_property
CALL () {
  MATCH (n:KgragDocument)-[r:FIRST_CHUNK]->(:KgragChunk) RETURN n, r, ['size'] AS keys
  UNION ALL MATCH (n:KgragChunk)-[r:MENTIONS]->(:KgragEntity)
  RETURN n, r, ['fact_ids', 'starts', 'ends', 'extractors', 'confidences'] AS keys
  UNION ALL MATCH (n:KgragDocument)-[r:NAMES]->(:KgragEntity)
  RETURN n, r, ['names', 'types'] AS keys
  UNION ALL MATCH (n:KgragEntity)-[r:RELATED]->(:KgragEntity)
  RETURN n, r, ['id', 'predicate', 'doc_ids', 'chunk_ids', 'starts',
    'ends', 'extractors', 'confidences', 'predicates'] AS keys
  UNION ALL MATCH (n:KgragDocument)-[r:CITES]->(:KgragDocument) RETURN n, r, ['predicates'] AS keys
}
WITH n, r, [key IN keys WHERE r[key] IS NULL] AS missing WHERE size(missing) > 0
RETURN n.id AS subject, type(r) + '.' + missing[0] AS value ORDER BY subject LIMIT 100;

// name: relationships_doubled
MATCH (a:KgragDocument|KgragSummary)-[r:NAMES|SUMMARIZES|CITES]->
  (b:KgragEntity|KgragChunk|KgragDocument)
WITH a, type(r) AS type, b, count(r) AS n WHERE n > 1
RETURN a.id AS subject, type + ' ' + b.id AS value ORDER BY subject, value LIMIT 100;

// name: documents_without_source
MATCH (d:KgragDocument) WHERE NOT EXISTS { MATCH (s:KgragSource {doc_id: d.id}) }
RETURN d.id AS subject, '' AS value ORDER BY subject;

// name: sources_without_document
MATCH (s:KgragSource) WHERE NOT EXISTS { MATCH (d:KgragDocument {id: s.doc_id}) }
RETURN s.id AS subject, s.doc_id AS value ORDER BY subject;

// name: documents_without_layout
MATCH (d:KgragDocument) WHERE NOT EXISTS { MATCH (l:KgragDocumentLayout {id: d.id}) }
RETURN d.id AS subject, '' AS value ORDER BY subject;

// name: layouts_without_document
MATCH (l:KgragDocumentLayout) WHERE NOT EXISTS { MATCH (d:KgragDocument {id: l.id}) }
RETURN l.id AS subject, '' AS value ORDER BY subject;

// name: chunks_without_document
MATCH (c:KgragChunk) WHERE NOT EXISTS { MATCH (d:KgragDocument {id: c.doc_id}) }
RETURN c.id AS subject, c.doc_id AS value ORDER BY subject LIMIT 100;

// name: nodes_with_wrong_labels
// Beside ours, those that people and other tools read, but where another program has a constraint.
MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
WITH coalesce(k.hidden, []) AS hidden
CALL (hidden) {
  MATCH (n:KgragDocument) WHERE n:Document = ('Document' IN hidden) RETURN n
  UNION ALL MATCH (n:KgragSummary) WHERE n:Summary = ('Summary' IN hidden) RETURN n
  UNION ALL MATCH (n:KgragEntity) WHERE n:Entity = ('Entity' IN hidden) RETURN n
  UNION ALL MATCH (n:KgragTarget) WHERE n:Target = ('Target' IN hidden) RETURN n
  UNION ALL MATCH (n:KgragDuty) WHERE n:Duty = ('Duty' IN hidden) RETURN n
  UNION ALL MATCH (n:KgragOrgan) WHERE n:Organ = ('Organ' IN hidden) RETURN n
  UNION ALL MATCH (n:KgragRegion) WHERE n:Region = ('Region' IN hidden) RETURN n
  UNION ALL MATCH (n:KgragChunk)
  WHERE n:Chunk = ('Chunk' IN hidden) OR n:ParentChunk&ChildChunk OR n.parent_id IS NULL AND NOT n:ParentChunk
    OR n.parent_id IS NOT NULL AND NOT n:ChildChunk
  RETURN n
}
RETURN n.id AS subject, reduce(text = '', l IN labels(n) | text + ':' + l) AS value
ORDER BY subject LIMIT 100;

// name: parents_not_part_of_document
MATCH (c:KgragChunk:ParentChunk)
WHERE COUNT { MATCH (c)-[:PART_OF]->(d:KgragDocument) WHERE d.id = c.doc_id } <> 1
  OR COUNT { (c)-[:PART_OF]->(:KgragDocument) } <> 1
RETURN c.id AS subject, c.doc_id AS value ORDER BY subject LIMIT 100;

// name: children_without_parent_link
MATCH (c:KgragChunk:ChildChunk)
WHERE COUNT { MATCH (p:KgragChunk:ParentChunk)-[:HAS_CHILD]->(c) WHERE p.id = c.parent_id } <> 1
  OR COUNT { (:KgragChunk)-[:HAS_CHILD]->(c) } <> 1
RETURN c.id AS subject, c.parent_id AS value ORDER BY subject LIMIT 100;

// name: chunks_without_neighbour
MATCH (c:KgragChunk)
WHERE c.index > 0 AND COUNT {
  MATCH (b:KgragChunk)-[:NEXT_CHUNK]->(c)
  WHERE b.doc_id = c.doc_id AND b.size = c.size AND b.index = c.index - 1 } <> 1
  OR COUNT { (:KgragChunk)-[:NEXT_CHUNK]->(c) } <> CASE WHEN c.index > 0 THEN 1 ELSE 0 END
RETURN c.id AS subject, toString(c.index) AS value ORDER BY subject LIMIT 100;

// name: first_chunks_without_link
MATCH (c:KgragChunk)
WHERE COUNT { MATCH (d:KgragDocument)-[r:FIRST_CHUNK]->(c)
  WHERE d.id = c.doc_id AND r.size = c.size
  }
    <> CASE WHEN c.index = 0 THEN 1 ELSE 0 END
  OR COUNT { (:KgragDocument)-[:FIRST_CHUNK]->(c) } <> CASE WHEN c.index = 0 THEN 1 ELSE 0 END
RETURN c.id AS subject, toString(c.size) AS value ORDER BY subject LIMIT 100;

// name: summaries_outside_text
MATCH (s:KgragSummary)
OPTIONAL MATCH (d:KgragDocument {id: s.doc_id})
WITH s, d WHERE d IS NULL OR s.start < 0 OR s.end < s.start OR s.end > d.characters
RETURN s.id AS subject, s.doc_id + ' ' + s.start + '..' + s.end AS value ORDER BY subject;

// name: summaries_without_target
MATCH (s:KgragSummary)
UNWIND s.target_ids AS target
WITH s, target WHERE NOT EXISTS {
  MATCH (s)-[:SUMMARIZES]->(c:KgragChunk {id: target}) WHERE c.doc_id = s.doc_id }
RETURN s.id AS subject, target AS value ORDER BY subject, value;

// name: summaries_with_other_target
MATCH (s:KgragSummary)-[:SUMMARIZES]->(c:KgragChunk) WHERE NOT c.id IN s.target_ids
RETURN s.id AS subject, c.id AS value ORDER BY subject, value;

// name: nodes_without_stored_embedding
CALL () {
  MATCH (n:KgragChunk) WHERE n.embedding_key IS NOT NULL
  RETURN n, 'KgragChunkEmbedding' AS label
  UNION ALL MATCH (n:KgragSummary) WHERE n.embedding_key IS NOT NULL
  RETURN n, 'KgragSummaryEmbedding' AS label
  UNION ALL MATCH (n:KgragDocument) WHERE n.embedding_key IS NOT NULL
  RETURN n, 'KgragDocumentEmbedding' AS label
  UNION ALL MATCH (n:KgragFactVector) RETURN n, 'KgragFactEmbedding' AS label
}
OPTIONAL MATCH (e:KgragEmbedding {id: n.embedding_key}) WHERE label IN labels(e)
WITH n, e WHERE e IS NULL
RETURN n.id AS subject, n.embedding_key AS value ORDER BY subject LIMIT 100;

// name: embeddings_without_node
MATCH (e:KgragEmbedding)
WHERE e:KgragChunkEmbedding <> EXISTS { MATCH (n:KgragChunk {embedding_key: e.id}) }
  OR e:KgragSummaryEmbedding <> EXISTS { MATCH (n:KgragSummary {embedding_key: e.id}) }
  OR e:KgragDocumentEmbedding <> EXISTS { MATCH (n:KgragDocument {embedding_key: e.id}) }
  OR e:KgragFactEmbedding <> EXISTS { MATCH (n:KgragFactVector {embedding_key: e.id}) }
  OR NOT e:KgragChunkEmbedding|KgragSummaryEmbedding|KgragDocumentEmbedding|KgragFactEmbedding
RETURN e.id AS subject, '' AS value ORDER BY subject LIMIT 100;

// name: fact_vectors_without_fact
MATCH (f:KgragFactVector)
WHERE NOT EXISTS {
  MATCH (:KgragEntity)-[r:RELATED {id: f.fact_id}]->(:KgragEntity) WHERE f.doc_id IN r.doc_ids }
RETURN f.fact_id AS subject, f.doc_id AS value ORDER BY subject, value LIMIT 100;

// name: embeddings_of_other_dimension
MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
MATCH (e:KgragEmbedding) WHERE k.dimension IS NULL OR size(e.vector) <> k.dimension
RETURN e.id AS subject, toString(size(e.vector)) AS value ORDER BY subject LIMIT 100;

// name: terms_without_chunk
// The size stands in a label before the knowledge base's name, where it has one.
MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
MATCH (t:KgragTerms)
OPTIONAL MATCH (c:KgragChunk {id: t.id})
WITH k, t, c
WHERE NOT t.size IN k.sizes OR c IS NULL OR c.size <> t.size OR c.doc_id <> t.doc_id
  OR NOT left('KgragTerms', 10) + toString(t.size) + substring('KgragTerms', 10) IN labels(t)
RETURN t.id AS subject, toString(t.size) AS value ORDER BY subject LIMIT 100;

// name: chunks_without_terms
MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
UNWIND k.ready AS size
MATCH (c:KgragChunk {size: size}) WHERE NOT EXISTS { MATCH (t:KgragTerms {id: c.id}) }
RETURN c.id AS subject, toString(size) AS value ORDER BY subject LIMIT 100;

// name: entities_without_document
MATCH (e:KgragEntity) WHERE NOT EXISTS { (:KgragDocument)-[:NAMES]->(e) }
RETURN e.id AS subject, e.name AS value ORDER BY subject;

// name: names_without_use
// A name is there because a fact or a mention of the document has it.
MATCH (d:KgragDocument)-[:NAMES]->(e:KgragEntity)
WHERE NOT EXISTS { MATCH (c:KgragChunk {doc_id: d.id})-[:MENTIONS]->(e) }
RETURN e.id AS subject, d.id AS value ORDER BY subject, value LIMIT 100;

// name: mentions_without_name
MATCH (c:KgragChunk)-[:MENTIONS]->(e:KgragEntity)
WITH DISTINCT c.doc_id AS doc_id, e
WHERE NOT EXISTS { (:KgragDocument {id: doc_id})-[:NAMES]->(e) }
RETURN e.id AS subject, doc_id AS value ORDER BY subject, value LIMIT 100;

// name: chunk_places
MATCH (c:KgragChunk) RETURN c.id AS id, c.doc_id AS doc_id, c.start AS start, c.end AS end;

// name: document_names
MATCH (d:KgragDocument)
RETURN d.id AS id, d.title AS title, d.title_key AS title_key, d.name_key AS name_key,
  d.characters AS characters, d.file AS file, d.name AS name, d.caption AS caption,
  d.properties AS told, d.metadata AS metadata, d.layout AS layout, properties(d) AS properties;

// name: entity_keys
MATCH (e:KgragEntity)
RETURN e.id AS id, e.name AS name, e.type AS type, e.normalized AS normalized,
  e.caption AS caption;

// name: every_mention_link
MATCH (c:KgragChunk)-[m:MENTIONS]->(e:KgragEntity)
RETURN c.id AS chunk_id, e.id AS entity_id, m.fact_ids AS fact_ids, m.starts AS starts,
  m.ends AS ends, m.confidences AS confidences, size(m.extractors) AS n,
  m.qualifiers AS qualifiers;

// name: every_citation
MATCH (a:KgragDocument)-[r:CITES]->(b:KgragDocument)
RETURN a.id AS citing, b.id AS cited, r.predicates AS predicates;

// name: every_citing_fact
// Whom the facts let a document cite.
MATCH (o:KgragEntity)<-[r:RELATED]-(:KgragEntity) WHERE r.predicate IN $predicates
MATCH (b:KgragDocument) WHERE b.node_id = o.id OR b.name_id = o.id
UNWIND r.doc_ids AS doc_id
MATCH (a:KgragDocument {id: doc_id}) WHERE a <> b
RETURN DISTINCT a.id AS citing, b.id AS cited, r.predicate AS predicate;

// name: every_typed
// Typed nodes and relationships: the invariant that each may break, its subject, what the problem
// names, and what is compared.
CALL () {
  MATCH (n:KgragTarget|KgragDuty)
  RETURN 'statement-follows-facts' AS invariant, n.id AS subject, n.doc_id AS about,
    [properties(n)] AS compared
  UNION ALL
  MATCH (d:KgragDocument)-[r:STATES|ASSIGNS]->(n:KgragTarget|KgragDuty)
  RETURN 'statement-follows-facts' AS invariant, n.id AS subject, n.doc_id AS about,
    [type(r), d.id] AS compared
  UNION ALL
  MATCH (n:KgragTarget|KgragDuty)-[r:OF|APPLIES_TO]->(other:KgragEntity|KgragRegion)
  RETURN 'statement-follows-facts' AS invariant, n.id AS subject, n.doc_id AS about,
    [type(r), other.id] AS compared
  UNION ALL
  MATCH (n:KgragDuty)-[r:ASSIGNED_TO]->(other:KgragOrgan)
  RETURN 'statement-follows-facts' AS invariant, n.id AS subject, n.doc_id AS about,
    [type(r), other.id, properties(r)] AS compared
  UNION ALL
  MATCH (d:KgragDocument)-[r:ISSUED_BY]->(other:KgragOrgan)
  RETURN 'link-follows-facts' AS invariant, d.id AS subject, type(r) AS about,
    [other.id, properties(r)] AS compared
  UNION ALL
  MATCH (d:KgragDocument)-[r:APPLIES_TO]->(other:KgragRegion)
  RETURN 'link-follows-facts' AS invariant, d.id AS subject, type(r) AS about,
    [other.id, properties(r)] AS compared
  UNION ALL
  MATCH (d:KgragDocument)
    -[r:BASED_ON|IMPLEMENTS|AMENDS|REPEALS|FORWARDS|ISSUES|REFERS_TO]->(other:KgragDocument|KgragEntity)
  RETURN 'link-follows-facts' AS invariant, d.id AS subject, type(r) AS about,
    [other.id, properties(r)] AS compared
  UNION ALL
  MATCH (n:KgragOrgan|KgragRegion)
  RETURN 'shared-node' AS invariant, n.id AS subject, n.name AS about, [properties(n)] AS compared
}
RETURN invariant, subject, about, compared;
