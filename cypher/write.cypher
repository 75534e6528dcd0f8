// Storing and deleting; every statement may run twice without harm.

// name: source
OPTIONAL MATCH (s:KgragSource {id: $source}) RETURN s.doc_id AS doc_id;

// name: sources_of
MATCH (s:KgragSource {doc_id: $id}) RETURN s.id AS source;

// name: put_source
MERGE (s:KgragSource {id: $source}) SET s.doc_id = $id;

// name: claim_document
// Whoever stores the same document waits here until the transaction ends.
MERGE (d:KgragDocument {id: $id}) ON CREATE SET d.revision = ''
RETURN d.revision = '' AS is_new, d.layout AS layout, d.node_id AS node_id,
  d.fingerprint AS fingerprint;

// name: delete_source
MATCH (s:KgragSource {id: $source}) DELETE s;

// name: delete_sources_of
MATCH (s:KgragSource {doc_id: $id}) DELETE s;

// name: show_file
// A document shows the smallest of its sources.
OPTIONAL MATCH (s:KgragSource {doc_id: $id})
WITH coalesce(min(s.id), '') AS file
MATCH (d:KgragDocument {id: $id}) SET d.file = file;

// name: layout
OPTIONAL MATCH (d:KgragDocument {id: $id}) RETURN d.id AS id, d.node_id AS node_id;

// name: revise_document
MATCH (d:KgragDocument {id: $id}) SET d.revision = randomUUID();

// name: put_document
// As create_chunks, put_entities and put_summaries: $labels is the one that other programs read and
// write, too, or nothing where one of them has a constraint on it.
MERGE (d:KgragDocument {id: $id}) SET d:$($labels), d += $properties,
  d.revision = randomUUID()
MERGE (l:KgragDocumentLayout {id: $id}) SET l.headings = $headings, l.segments = $segments;

// name: described
MATCH (d:KgragDocument {id: $id})
RETURN d.title AS title, d.properties AS properties, d.metadata AS metadata;

// name: create_chunks
UNWIND $rows AS row
CREATE (c:KgragChunk) SET c = row, c:$($labels);

// name: label_chunks
MATCH (c:KgragChunk {doc_id: $id})
FOREACH (_ IN CASE WHEN c.parent_id IS NULL THEN [1] ELSE [] END | SET c:ParentChunk)
FOREACH (_ IN CASE WHEN c.parent_id IS NULL THEN [] ELSE [1] END | SET c:ChildChunk);

// name: link_children
MATCH (c:KgragChunk {doc_id: $id}) WHERE c.parent_id IS NOT NULL
MATCH (p:KgragChunk {id: c.parent_id})
CREATE (p)-[:HAS_CHILD]->(c);

// name: link_document
MATCH (d:KgragDocument {id: $id})
MATCH (c:KgragChunk {doc_id: $id})
FOREACH (_ IN CASE WHEN c.parent_id IS NULL THEN [1] ELSE [] END | CREATE (c)-[:PART_OF]->(d))
FOREACH (_ IN CASE WHEN c.index = 0 THEN [1] ELSE [] END |
  CREATE (d)-[:FIRST_CHUNK {size: c.size}]->(c));

// name: link_neighbours
MATCH (c:KgragChunk {doc_id: $id})
WITH c ORDER BY c.index
WITH c.size AS size, collect(c) AS group
UNWIND range(0, size(group) - 2) AS i
WITH group[i] AS a, group[i + 1] AS b
CREATE (a)-[:NEXT_CHUNK]->(b);

// name: put_terms
UNWIND $rows AS row
MERGE (t:KgragTerms {id: row.id}) SET t = row, t:$($label);

// name: delete_terms_of
MATCH (t:KgragTerms {doc_id: $id}) DELETE t RETURN count(*) AS n;

// name: delete_chunks_of
MATCH (c:KgragChunk {doc_id: $id}) DETACH DELETE c;

// name: delete_some_terms
MATCH (t:KgragTerms {doc_id: $id}) WITH t LIMIT $limit DELETE t RETURN count(*) AS n;

// name: delete_some_chunks
MATCH (c:KgragChunk {doc_id: $id})
WITH c, c.embedding_key AS key LIMIT $limit
DETACH DELETE c
RETURN key;

// name: count_chunks_of
MATCH (c:KgragChunk {doc_id: $id}) RETURN count(c) AS n;

// name: delete_document
MATCH (d:KgragDocument {id: $id}) DETACH DELETE d;

// name: delete_layout
MATCH (l:KgragDocumentLayout {id: $id}) DELETE l;

// name: chunk_ids_held
MATCH (c:KgragChunk) WHERE c.id IN $ids AND c.doc_id = $doc_id RETURN c.id AS id;

// name: put_entities
UNWIND $rows AS row
MERGE (e:KgragEntity {id: row.id})
ON CREATE SET e:$($labels), e.name = row.name, e.normalized = row.normalized, e.type = row.type,
  e.caption = row.caption;

// name: create_facts
UNWIND $rows AS row
MATCH (s:KgragEntity {id: row.subject_id})
MATCH (o:KgragEntity {id: row.object_id})
CREATE (s)-[r:RELATED]->(o) SET r = row.properties;

// name: change_facts
// Without the hint, here and elsewhere: a plan made while there are few facts reads all of them for
// each row, and stays in use when there are many.
UNWIND $rows AS row
MATCH (:KgragEntity)-[r:RELATED {id: row.id}]->(:KgragEntity)
USING INDEX SEEK r:RELATED(id)
SET r = row.properties;

// name: delete_facts
UNWIND $ids AS id
MATCH (:KgragEntity)-[r:RELATED {id: id}]->(:KgragEntity)
USING INDEX SEEK r:RELATED(id)
DELETE r;

// name: put_mentions
UNWIND $rows AS row
MATCH (c:KgragChunk {id: row.chunk_id})
MATCH (e:KgragEntity {id: row.entity_id})
MERGE (c)-[m:MENTIONS]->(e)
SET m = row.properties;

// name: delete_mentions
UNWIND $rows AS row
MATCH (:KgragChunk {id: row.chunk_id})-[m:MENTIONS]->(:KgragEntity {id: row.entity_id}) DELETE m;

// name: put_names
UNWIND $rows AS row
MATCH (d:KgragDocument {id: $id})
MATCH (e:KgragEntity {id: row.entity_id})
MERGE (d)-[n:NAMES]->(e)
SET n.names = row.names, n.types = row.types;

// name: delete_names
UNWIND $ids AS entity_id
MATCH (:KgragDocument {id: $id})-[n:NAMES]->(:KgragEntity {id: entity_id}) DELETE n;

// name: names_counted
// How many documents write an entity so, and say that it is of such a type.
MATCH (e:KgragEntity) WHERE e.id IN $ids
CALL (e) {
  MATCH (d:KgragDocument)-[n:NAMES]->(e)
  UNWIND n.names AS name
  WITH name, count(DISTINCT d) AS documents
  RETURN collect([name, documents]) AS names
}
CALL (e) {
  MATCH (d:KgragDocument)-[n:NAMES]->(e)
  UNWIND n.types AS type
  WITH type, count(DISTINCT d) AS documents
  RETURN collect([type, documents]) AS types
}
RETURN e.id AS id, e.name AS name, e.type AS type, names, types;

// name: show_entities
UNWIND $rows AS row
MATCH (e:KgragEntity {id: row.id})
SET e.name = row.name, e.normalized = row.normalized, e.type = row.type,
  e.caption = row.caption;

// name: delete_entities
MATCH (e:KgragEntity) WHERE e.id IN $ids DETACH DELETE e;

// name: put_summaries
UNWIND $rows AS row
MERGE (s:KgragSummary {id: row.id}) SET s:$($labels), s += row
WITH s
UNWIND s.target_ids AS target
MATCH (c:KgragChunk {id: target})
MERGE (s)-[:SUMMARIZES]->(c);

// name: delete_summaries
MATCH (s:KgragSummary) WHERE s.id IN $ids DETACH DELETE s;

// name: embeddings_held
MATCH (e:KgragEmbedding) WHERE e.id IN $keys RETURN e.id AS key;

// name: create_embeddings
// Those come back that are made here. Another writer may make one at the same time: whoever comes
// second waits for it to be there.
UNWIND $rows AS row
MERGE (e:KgragEmbedding {id: row.key})
ON CREATE SET e.checksum = row.checksum, e:$(row.labels)
WITH e, row WHERE e.vector IS NULL
CALL db.create.setNodeVectorProperty(e, 'vector', row.vector)
RETURN e.id AS key;

// name: mark_chunk_embeddings
MATCH (e:KgragEmbedding) WHERE e.id IN $keys SET e:KgragChunkEmbedding;
// name: mark_summary_embeddings
MATCH (e:KgragEmbedding) WHERE e.id IN $keys SET e:KgragSummaryEmbedding;
// name: mark_document_embeddings
MATCH (e:KgragEmbedding) WHERE e.id IN $keys SET e:KgragDocumentEmbedding;
// name: mark_fact_embeddings
MATCH (e:KgragEmbedding) WHERE e.id IN $keys SET e:KgragFactEmbedding;
// name: unmark_chunk_embeddings
MATCH (e:KgragEmbedding) WHERE e.id IN $keys REMOVE e:KgragChunkEmbedding;
// name: unmark_summary_embeddings
MATCH (e:KgragEmbedding) WHERE e.id IN $keys REMOVE e:KgragSummaryEmbedding;
// name: unmark_document_embeddings
MATCH (e:KgragEmbedding) WHERE e.id IN $keys REMOVE e:KgragDocumentEmbedding;
// name: unmark_fact_embeddings
MATCH (e:KgragEmbedding) WHERE e.id IN $keys REMOVE e:KgragFactEmbedding;

// name: embed_chunks
UNWIND $rows AS row MATCH (n:KgragChunk {id: row.id}) SET n.embedding_key = row.key;
// name: embed_summaries
UNWIND $rows AS row MATCH (n:KgragSummary {id: row.id}) SET n.embedding_key = row.key;
// name: embed_document
UNWIND $rows AS row MATCH (n:KgragDocument {id: row.id}) SET n.embedding_key = row.key;
// name: embed_facts
// A fact is a relationship of many documents; each has a node of its own for its wording.
UNWIND $rows AS row
MERGE (f:KgragFactVector {id: row.doc_id + ' ' + row.id})
SET f.doc_id = row.doc_id, f.fact_id = row.id, f.embedding_key = row.key
WITH f WHERE f.embedding_key IS NULL DELETE f;

// name: delete_fact_vectors
MATCH (f:KgragFactVector {doc_id: $id}) DELETE f;

// name: embedding_keys_of
CALL () {
  MATCH (n:KgragChunk {doc_id: $id}) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'chunk' AS kind, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragSummary {doc_id: $id}) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'summary' AS kind, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragDocument {id: $id}) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'document' AS kind, n.embedding_key AS key
  UNION ALL
  MATCH (n:KgragFactVector {doc_id: $id})
  RETURN n.fact_id AS id, 'fact' AS kind, n.embedding_key AS key
}
RETURN id, kind, key;

// name: embeddings_used
// Which kinds of nodes still have an embedding.
MATCH (e:KgragEmbedding) WHERE e.id IN $keys
RETURN e.id AS key, e:KgragChunkEmbedding AS is_chunk, e:KgragSummaryEmbedding AS is_summary,
  e:KgragDocumentEmbedding AS is_document, e:KgragFactEmbedding AS is_fact,
  EXISTS { MATCH (n:KgragChunk {embedding_key: e.id}) } AS chunk,
  EXISTS { MATCH (n:KgragSummary {embedding_key: e.id}) } AS summary,
  EXISTS { MATCH (n:KgragDocument {embedding_key: e.id}) } AS document,
  EXISTS { MATCH (n:KgragFactVector {embedding_key: e.id}) } AS fact;

// name: delete_embeddings
MATCH (e:KgragEmbedding) WHERE e.id IN $keys DELETE e;

// name: any_embedding
MATCH (e:KgragEmbedding) RETURN count(e) > 0 AS held;

// name: cites
// What a document cites among those held, and what cites it, as the facts say it now.
MATCH (d:KgragDocument {id: $id})
CALL (d) {
  MATCH (c:KgragChunk {doc_id: d.id})-[m:MENTIONS]->(o:KgragEntity)<-[r:RELATED]-(:KgragEntity)
  WHERE r.id IN m.fact_ids AND r.predicate IN $predicates
  MATCH (other:KgragDocument) WHERE (other.node_id = o.id OR other.name_id = o.id) AND other <> d
  RETURN d.id AS citing, other.id AS cited, r.predicate AS predicate
  UNION
  MATCH (o:KgragEntity)<-[r:RELATED]-(:KgragEntity)
  WHERE o.id IN [d.node_id, d.name_id] AND r.predicate IN $predicates
  UNWIND r.doc_ids AS doc_id
  MATCH (other:KgragDocument {id: doc_id}) WHERE other <> d
  RETURN other.id AS citing, d.id AS cited, r.predicate AS predicate
}
RETURN citing, cited, predicate;

// name: delete_cites
MATCH (:KgragDocument {id: $id})-[r:CITES]-(:KgragDocument) DELETE r;

// name: put_cites
UNWIND $rows AS row
MATCH (a:KgragDocument {id: row.citing})
MATCH (b:KgragDocument {id: row.cited})
MERGE (a)-[r:CITES]->(b)
SET r.predicates = row.predicates;
