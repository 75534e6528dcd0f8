// Storing and deleting; every statement may run twice without harm.

// name: source
OPTIONAL MATCH (s:Source {id: $source}) RETURN s.doc_id AS doc_id;

// name: sources_of
MATCH (s:Source {doc_id: $id}) RETURN s.id AS source;

// name: put_source
MERGE (s:Source {id: $source}) SET s.doc_id = $id;

// name: delete_source
MATCH (s:Source {id: $source}) DELETE s;

// name: delete_sources_of
MATCH (s:Source {doc_id: $id}) DELETE s;

// name: show_file
// A document shows the smallest of its sources.
MATCH (d:Document {id: $id}) SET d.file = $file;

// name: layout
OPTIONAL MATCH (d:Document {id: $id}) RETURN d.id AS id, d.layout AS layout;

// name: put_document
MERGE (d:Document {id: $id}) SET d += $properties
MERGE (l:DocumentLayout {id: $id}) SET l.headings = $headings, l.segments = $segments;

// name: documents_to_describe
MATCH (d:Document) WHERE d.id > $after
RETURN d.id AS id, d.title AS title, d.metadata AS metadata ORDER BY id LIMIT $limit;

// name: describe_documents
UNWIND $rows AS row
MATCH (d:Document {id: row.id}) SET d += row.properties;

// name: create_chunks
UNWIND $rows AS row
CREATE (c:Chunk) SET c = row;

// name: label_chunks
MATCH (c:Chunk {doc_id: $id})
FOREACH (_ IN CASE WHEN c.parent_id IS NULL THEN [1] ELSE [] END | SET c:ParentChunk)
FOREACH (_ IN CASE WHEN c.parent_id IS NULL THEN [] ELSE [1] END | SET c:ChildChunk);

// name: link_children
MATCH (c:Chunk {doc_id: $id}) WHERE c.parent_id IS NOT NULL
MATCH (p:Chunk {id: c.parent_id})
CREATE (p)-[:HAS_CHILD]->(c);

// name: link_document
MATCH (d:Document {id: $id})
MATCH (c:Chunk {doc_id: $id})
FOREACH (_ IN CASE WHEN c.parent_id IS NULL THEN [1] ELSE [] END | CREATE (c)-[:PART_OF]->(d))
FOREACH (_ IN CASE WHEN c.index = 0 THEN [1] ELSE [] END |
  CREATE (d)-[:FIRST_CHUNK {size: c.size}]->(c));

// name: link_neighbours
MATCH (c:Chunk {doc_id: $id})
WITH c ORDER BY c.index
WITH c.size AS size, collect(c) AS group
UNWIND range(0, size(group) - 2) AS i
WITH group[i] AS a, group[i + 1] AS b
CREATE (a)-[:NEXT_CHUNK]->(b);

// name: put_terms
UNWIND $rows AS row
MERGE (t:Terms {id: row.id}) SET t = row, t:$($label);

// name: delete_terms_of
MATCH (t:Terms {doc_id: $id}) DELETE t RETURN count(*) AS n;

// name: delete_chunks_of
MATCH (c:Chunk {doc_id: $id}) DETACH DELETE c;

// name: delete_some_terms
MATCH (t:Terms {doc_id: $id}) WITH t LIMIT $limit DELETE t RETURN count(*) AS n;

// name: delete_some_chunks
MATCH (c:Chunk {doc_id: $id})
WITH c, c.embedding_key AS key LIMIT $limit
DETACH DELETE c
RETURN key;

// name: count_chunks_of
MATCH (c:Chunk {doc_id: $id}) RETURN count(c) AS n;

// name: delete_document
MATCH (d:Document {id: $id}) DETACH DELETE d;

// name: delete_layout
MATCH (l:DocumentLayout {id: $id}) DELETE l;

// name: chunk_ids_held
MATCH (c:Chunk) WHERE c.id IN $ids AND c.doc_id = $doc_id RETURN c.id AS id;

// name: put_entities
UNWIND $rows AS row
MERGE (e:Entity {id: row.id})
ON CREATE SET e.name = row.name, e.normalized = row.normalized, e.type = row.type,
  e.caption = row.caption;

// name: put_facts
UNWIND $rows AS row
MATCH (s:Entity {id: row.subject_id})
MATCH (o:Entity {id: row.object_id})
MERGE (s)-[r:RELATED {id: row.id}]->(o)
SET r = row.properties;

// name: delete_facts
UNWIND $ids AS id
MATCH (:Entity)-[r:RELATED {id: id}]->(:Entity) DELETE r;

// name: put_mentions
UNWIND $rows AS row
MATCH (c:Chunk {id: row.chunk_id})
MATCH (e:Entity {id: row.entity_id})
MERGE (c)-[m:MENTIONS]->(e)
SET m = row.properties;

// name: delete_mentions
UNWIND $rows AS row
MATCH (:Chunk {id: row.chunk_id})-[m:MENTIONS]->(:Entity {id: row.entity_id}) DELETE m;

// name: put_names
UNWIND $rows AS row
MATCH (d:Document {id: $id})
MATCH (e:Entity {id: row.entity_id})
MERGE (d)-[n:NAMES]->(e)
SET n.names = row.names, n.types = row.types;

// name: delete_names
UNWIND $ids AS entity_id
MATCH (:Document {id: $id})-[n:NAMES]->(:Entity {id: entity_id}) DELETE n;

// name: names_counted
// How many documents write an entity so.
MATCH (e:Entity) WHERE e.id IN $ids
OPTIONAL MATCH (d:Document)-[n:NAMES]->(e)
UNWIND coalesce(n.names, [null]) AS name
RETURN e.id AS id, e.name AS shown, name, count(DISTINCT d) AS documents;

// name: types_counted
MATCH (e:Entity) WHERE e.id IN $ids
OPTIONAL MATCH (d:Document)-[n:NAMES]->(e)
UNWIND coalesce(n.types, [null]) AS type
RETURN e.id AS id, e.type AS shown, type, count(DISTINCT d) AS documents;

// name: show_entities
UNWIND $rows AS row
MATCH (e:Entity {id: row.id})
SET e.name = row.name, e.type = row.type, e.caption = row.caption;

// name: delete_entities
MATCH (e:Entity) WHERE e.id IN $ids DETACH DELETE e;

// name: put_summaries
UNWIND $rows AS row
MERGE (s:Summary {id: row.id}) SET s += row
WITH s
UNWIND s.target_ids AS target
MATCH (c:Chunk {id: target})
MERGE (s)-[:SUMMARIZES]->(c);

// name: delete_summaries
MATCH (s:Summary) WHERE s.id IN $ids DETACH DELETE s;

// name: embeddings_held
MATCH (e:Embedding) WHERE e.id IN $keys RETURN e.id AS key;

// name: create_embeddings
UNWIND $rows AS row
CREATE (e:Embedding {id: row.key})
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'vector', row.vector)
WITH e, row WHERE row.zero SET e:ZeroEmbedding;

// name: mark_chunk_embeddings
MATCH (e:Embedding) WHERE e.id IN $keys SET e:ChunkEmbedding;
// name: mark_summary_embeddings
MATCH (e:Embedding) WHERE e.id IN $keys SET e:SummaryEmbedding;
// name: mark_document_embeddings
MATCH (e:Embedding) WHERE e.id IN $keys SET e:DocumentEmbedding;
// name: mark_fact_embeddings
MATCH (e:Embedding) WHERE e.id IN $keys SET e:FactEmbedding;
// name: unmark_chunk_embeddings
MATCH (e:Embedding) WHERE e.id IN $keys REMOVE e:ChunkEmbedding;
// name: unmark_summary_embeddings
MATCH (e:Embedding) WHERE e.id IN $keys REMOVE e:SummaryEmbedding;
// name: unmark_document_embeddings
MATCH (e:Embedding) WHERE e.id IN $keys REMOVE e:DocumentEmbedding;
// name: unmark_fact_embeddings
MATCH (e:Embedding) WHERE e.id IN $keys REMOVE e:FactEmbedding;

// name: embed_chunks
UNWIND $rows AS row MATCH (n:Chunk {id: row.id}) SET n.embedding_key = row.key;
// name: embed_summaries
UNWIND $rows AS row MATCH (n:Summary {id: row.id}) SET n.embedding_key = row.key;
// name: embed_document
UNWIND $rows AS row MATCH (n:Document {id: row.id}) SET n.embedding_key = row.key;
// name: embed_facts
// A fact is a relationship of many documents; each has a node of its own for its wording.
UNWIND $rows AS row
MERGE (f:FactVector {id: row.doc_id + ' ' + row.id})
SET f.doc_id = row.doc_id, f.fact_id = row.id, f.embedding_key = row.key
WITH f WHERE f.embedding_key IS NULL DELETE f;

// name: delete_fact_vectors
MATCH (f:FactVector {doc_id: $id}) DELETE f;

// name: embedding_keys_of
CALL () {
  MATCH (n:Chunk {doc_id: $id}) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'chunk' AS kind, n.embedding_key AS key
  UNION ALL
  MATCH (n:Summary {doc_id: $id}) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'summary' AS kind, n.embedding_key AS key
  UNION ALL
  MATCH (n:Document {id: $id}) WHERE n.embedding_key IS NOT NULL
  RETURN n.id AS id, 'document' AS kind, n.embedding_key AS key
  UNION ALL
  MATCH (n:FactVector {doc_id: $id})
  RETURN n.fact_id AS id, 'fact' AS kind, n.embedding_key AS key
}
RETURN id, kind, key;

// name: embeddings_used
// Which kinds of nodes still have an embedding.
MATCH (e:Embedding) WHERE e.id IN $keys
RETURN e.id AS key, e:ChunkEmbedding AS is_chunk, e:SummaryEmbedding AS is_summary,
  e:DocumentEmbedding AS is_document, e:FactEmbedding AS is_fact,
  EXISTS { MATCH (n:Chunk {embedding_key: e.id}) } AS chunk,
  EXISTS { MATCH (n:Summary {embedding_key: e.id}) } AS summary,
  EXISTS { MATCH (n:Document {embedding_key: e.id}) } AS document,
  EXISTS { MATCH (n:FactVector {embedding_key: e.id}) } AS fact;

// name: delete_embeddings
MATCH (e:Embedding) WHERE e.id IN $keys DELETE e;

// name: any_embedding
MATCH (e:Embedding) RETURN count(e) > 0 AS held;

// name: cites
// What a document cites among those held, as its facts say it now.
MATCH (d:Document {id: $id})
MATCH (c:Chunk {doc_id: $id})-[m:MENTIONS]->(o:Entity)<-[r:RELATED]-()
WHERE r.id IN m.fact_ids AND r.predicate IN $predicates
MATCH (other:Document {name_key: o.normalized}) WHERE other <> d
RETURN d.id AS citing, other.id AS cited, r.predicate AS predicate;

// name: cited_by
MATCH (d:Document {id: $id})
MATCH (o:Entity {normalized: d.name_key})<-[r:RELATED]-() WHERE r.predicate IN $predicates
UNWIND r.doc_ids AS doc_id
MATCH (other:Document {id: doc_id}) WHERE other <> d
RETURN DISTINCT other.id AS citing, d.id AS cited, r.predicate AS predicate;

// name: delete_cites
MATCH (:Document {id: $id})-[r:CITES]-() DELETE r;

// name: put_cites
UNWIND $rows AS row
MATCH (a:Document {id: row.citing})
MATCH (b:Document {id: row.cited})
MERGE (a)-[r:CITES]->(b)
SET r.predicates = row.predicates;
