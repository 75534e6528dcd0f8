// Everything of a kind, in order, for exports and checks.

// name: every_entity
MATCH (e:KgragEntity) RETURN e.id AS id, e.name AS name, e.type AS type ORDER BY id;

// name: every_name
MATCH (e:KgragEntity)
CALL (e) {
  MATCH (d:KgragDocument)-[n:NAMES]->(e)
  UNWIND range(0, size(n.names) - 1) AS i
  RETURN collect([d.id, n.names[i], n.types[i]]) AS ways
}
RETURN e.id AS id, ways ORDER BY id;

// name: every_fact
MATCH (s:KgragEntity)-[r:RELATED]->(o:KgragEntity)
RETURN r.id AS id, s.id AS subject_id, r.predicate AS predicate, o.id AS object_id,
  r.doc_ids AS doc_ids, r.chunk_ids AS chunk_ids, r.starts AS starts, r.ends AS ends,
  r.extractors AS extractors, r.confidences AS confidences, r.predicates AS predicates,
  r.qualifiers AS qualifiers
ORDER BY id;

// name: every_mention
MATCH (e:KgragEntity)
CALL (e) {
  MATCH (c:KgragChunk)-[m:MENTIONS]->(e)
  UNWIND range(0, size(m.starts) - 1) AS i
  RETURN collect([c.doc_id, m.starts[i], m.ends[i], m.extractors[i], c.id,
    m.qualifiers[i], m.confidences[i]]) AS places
}
RETURN e.id AS id, places ORDER BY id;

// name: every_node_with_embedding
CALL () {
  MATCH (n:KgragChunk) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'chunk' AS kind, n.doc_id AS doc_id, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragSummary) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'summary' AS kind, n.doc_id AS doc_id, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragDocument) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'document' AS kind, n.id AS doc_id, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragFactVector)
  RETURN n.fact_id AS id, 'fact' AS kind, n.doc_id AS doc_id, n.embedding_key AS key
}
RETURN id, kind, doc_id, key;

// name: every_embedding
MATCH (e:KgragEmbedding) RETURN e.id AS key, e.vector AS vector, e.checksum AS checksum
ORDER BY key;

// name: chunk_sizes
MATCH (c:KgragChunk) RETURN c.size AS size, count(*) AS n;

// name: counts
CALL () {
  MATCH (d:KgragDocument)
  RETURN count(d) AS documents, coalesce(sum(d.characters), 0) AS characters
}
CALL () { MATCH (s:KgragSummary) RETURN count(s) AS summaries }
CALL () { MATCH (e:KgragEntity) RETURN count(e) AS entities }
CALL () { MATCH (:KgragEntity)-[r:RELATED]->() RETURN count(r) AS facts }
CALL () { MATCH (:KgragChunk)-[m:MENTIONS]->() RETURN coalesce(sum(size(m.starts)), 0) AS mentions }
CALL () { MATCH (v:KgragEmbedding) RETURN count(v) AS vectors }
RETURN documents, characters, summaries, entities, facts, mentions, vectors;

// name: count_public
// Nodes under the labels that other programs use, too; from the database's own counts.
CALL () { MATCH (n:Document) RETURN count(n) AS documents }
CALL () { MATCH (n:Chunk) RETURN count(n) AS chunks }
CALL () { MATCH (n:Summary) RETURN count(n) AS summaries }
CALL () { MATCH (n:Entity) RETURN count(n) AS entities }
CALL () { MATCH (n:Target) RETURN count(n) AS targets }
CALL () { MATCH (n:Duty) RETURN count(n) AS duties }
CALL () { MATCH (n:Organ) RETURN count(n) AS organs }
CALL () { MATCH (n:Region) RETURN count(n) AS regions }
RETURN documents + chunks + summaries + entities + targets + duties + organs + regions AS n;

// name: count_ours
// Those of a knowledge base under the same labels.
OPTIONAL MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
WITH coalesce(k.hidden, []) AS hidden
CALL () { MATCH (n:KgragDocument) RETURN count(n) AS documents }
CALL () { MATCH (n:KgragChunk) RETURN count(n) AS chunks }
CALL () { MATCH (n:KgragSummary) RETURN count(n) AS summaries }
CALL () { MATCH (n:KgragEntity) RETURN count(n) AS entities }
CALL () { MATCH (n:KgragTarget) RETURN count(n) AS targets }
CALL () { MATCH (n:KgragDuty) RETURN count(n) AS duties }
CALL () { MATCH (n:KgragOrgan) RETURN count(n) AS organs }
CALL () { MATCH (n:KgragRegion) RETURN count(n) AS regions }
RETURN CASE WHEN 'Document' IN hidden THEN 0 ELSE documents END
  + CASE WHEN 'Chunk' IN hidden THEN 0 ELSE chunks END
  + CASE WHEN 'Summary' IN hidden THEN 0 ELSE summaries END
  + CASE WHEN 'Entity' IN hidden THEN 0 ELSE entities END
  + CASE WHEN 'Target' IN hidden THEN 0 ELSE targets END
  + CASE WHEN 'Duty' IN hidden THEN 0 ELSE duties END
  + CASE WHEN 'Organ' IN hidden THEN 0 ELSE organs END
  + CASE WHEN 'Region' IN hidden THEN 0 ELSE regions END AS n;

// name: count_foreign
// Looks at every node, so that it is asked only where there are some.
MATCH (n:Document|Chunk|Summary|Entity|Target|Duty|Organ|Region)
WHERE none(l IN labels(n) WHERE l STARTS WITH 'Kgrag')
RETURN count(n) AS n;

// name: settings
MATCH (s:KgragSetting) WHERE s.id < 'note.' OR s.id >= 'note/'
RETURN s.id AS key, s.value AS value;

// name: notes
MATCH (s:KgragSetting) WHERE s.id STARTS WITH $prefix RETURN s.id AS key, s.value AS value;

// name: state
MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
RETURN coalesce(k.mark, '') AS mark, coalesce(k.switching, false) AS switching,
  COLLECT {
    MATCH (s:KgragSetting) WHERE s.id < 'note.' OR s.id >= 'note/' RETURN [s.id, s.value]
  } AS settings;

// name: revisions
MATCH (d:KgragDocument) RETURN d.id AS id, coalesce(d.revision, '') AS revision;
