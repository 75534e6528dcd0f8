// The knowledge base as such: its one node, its settings.

// name: labels
CALL db.labels() YIELD label RETURN label;

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
  coalesce(k.switching, false) AS switching, coalesce(k.hidden, []) AS hidden,
  head(COLLECT { MATCH (s:KgragSetting {id: 'embedder'}) RETURN s.value }) AS embedder;

// name: lock_base
// Writing a property takes the node's lock until the transaction ends: one writer at a time of what
// documents share. Copies of the knowledge base see by the mark that somebody may have written.
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) SET k.seq = k.seq, k.mark = randomUUID()
RETURN k.version AS version, k.seq AS seq, k.sizes AS sizes, k.ready AS ready,
  k.terms_version AS terms_version, k.dimension AS dimension, k.deleting AS deleting,
  k.dead_terms AS dead_terms, k.indexed AS indexed, coalesce(k.staged, '') AS staged,
  coalesce(k.switching, false) AS switching, coalesce(k.hidden, []) AS hidden,
  head(COLLECT { MATCH (s:KgragSetting {id: 'embedder'}) RETURN s.value }) AS embedder;

// name: change_base
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) SET k += $values;

// name: count_embeddings
MATCH (e:KgragEmbedding) RETURN count(e) AS n;

// name: count_change
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) SET k += $values, k.seq = k.seq + 1;

// name: setting
OPTIONAL MATCH (s:KgragSetting {id: $key}) RETURN s.value AS value;

// name: put_settings
UNWIND $rows AS row MERGE (s:KgragSetting {id: row.key}) SET s.value = row.value;
