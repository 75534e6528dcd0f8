// The knowledge base as such: its one node, its settings.

// name: labels
CALL db.labels() YIELD label RETURN label;

// name: count_public
// Nodes under the labels that other programs use, too; from the database's own counts.
CALL () { MATCH (n:Document) RETURN count(n) AS documents }
CALL () { MATCH (n:Chunk) RETURN count(n) AS chunks }
CALL () { MATCH (n:Summary) RETURN count(n) AS summaries }
CALL () { MATCH (n:Entity) RETURN count(n) AS entities }
RETURN documents + chunks + summaries + entities AS n;

// name: count_ours
// Those of a knowledge base under the same labels.
OPTIONAL MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
WITH coalesce(k.hidden, []) AS hidden
CALL () { MATCH (n:KgragDocument) RETURN count(n) AS documents }
CALL () { MATCH (n:KgragChunk) RETURN count(n) AS chunks }
CALL () { MATCH (n:KgragSummary) RETURN count(n) AS summaries }
CALL () { MATCH (n:KgragEntity) RETURN count(n) AS entities }
RETURN CASE WHEN 'Document' IN hidden THEN 0 ELSE documents END
  + CASE WHEN 'Chunk' IN hidden THEN 0 ELSE chunks END
  + CASE WHEN 'Summary' IN hidden THEN 0 ELSE summaries END
  + CASE WHEN 'Entity' IN hidden THEN 0 ELSE entities END AS n;

// name: count_foreign
// Looks at every node, so that it is asked only where there are some.
MATCH (n:Document|Chunk|Summary|Entity) WHERE none(l IN labels(n) WHERE l STARTS WITH 'Kgrag')
RETURN count(n) AS n;

// name: create_base
MERGE (k:KgragKnowledgeBase {id: 'kgrag'})
ON CREATE SET k.version = $version, k.seq = 0, k.sizes = [], k.ready = [], k.terms_version = '',
  k.deleting = [], k.dead_terms = 0, k.indexed = 0, k.staged = '', k.switching = false,
  k.hidden = [], k.relabelling = false, k.mark = randomUUID()
RETURN k.version AS version;

// name: base
MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
RETURN k.version AS version, k.seq AS seq, k.sizes AS sizes, k.ready AS ready,
  k.terms_version AS terms_version, k.dimension AS dimension, k.deleting AS deleting,
  k.dead_terms AS dead_terms, k.indexed AS indexed, coalesce(k.staged, '') AS staged,
  coalesce(k.switching, false) AS switching;

// name: lock_base
// Writing a property takes the node's lock until the transaction ends: one writer at a time. Copies
// of the knowledge base see by the mark that somebody may have written.
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) SET k.seq = k.seq, k.mark = randomUUID()
RETURN k.version AS version, k.seq AS seq, k.sizes AS sizes, k.ready AS ready,
  k.terms_version AS terms_version, k.dimension AS dimension, k.deleting AS deleting,
  k.dead_terms AS dead_terms, k.indexed AS indexed, coalesce(k.staged, '') AS staged,
  coalesce(k.switching, false) AS switching, coalesce(k.hidden, []) AS hidden;

// name: state
MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
RETURN coalesce(k.mark, '') AS mark, coalesce(k.switching, false) AS switching,
  COLLECT { MATCH (s:KgragSetting) RETURN [s.id, s.value] } AS settings;

// name: change_base
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) SET k += $values;

// name: description
// Which version of the properties that follow from title and metadata the documents have.
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) RETURN coalesce(k.description, 0) AS version;

// name: count_embeddings
MATCH (e:KgragEmbedding) RETURN count(e) AS n;

// name: count_change
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) SET k.seq = k.seq + 1;

// name: setting
OPTIONAL MATCH (s:KgragSetting {id: $key}) RETURN s.value AS value;

// name: settings
MATCH (s:KgragSetting) RETURN s.id AS key, s.value AS value;

// name: put_settings
UNWIND $rows AS row MERGE (s:KgragSetting {id: row.key}) SET s.value = row.value;
