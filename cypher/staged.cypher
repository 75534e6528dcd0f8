// Vectors of another encoder, beside those in use until every document has them.

// name: staged_documents
MATCH (d:StagedDocument) RETURN d.id AS id;

// name: documents_not_staged
MATCH (d:Document) WHERE NOT EXISTS { MATCH (s:StagedDocument {id: d.id}) } RETURN d.id AS id LIMIT 1;

// name: some_staged_documents
MATCH (d:StagedDocument)
RETURN d.id AS id, d.nodes AS nodes, d.kinds AS kinds, d.keys AS keys LIMIT $limit;

// name: staged_dimension
MATCH (e:StagedEmbedding) RETURN size(e.vector) AS n LIMIT 1;

// name: staged_vectors
MATCH (e:StagedEmbedding) WHERE e.id IN $keys RETURN e.id AS key, e.vector AS vector;

// name: stage_documents
// The nodes of a document and their embeddings, side by side.
UNWIND $rows AS row
MERGE (d:StagedDocument {id: row.id}) SET d.nodes = row.nodes, d.kinds = row.kinds, d.keys = row.keys;

// name: stage_embeddings
UNWIND $rows AS row
MERGE (e:StagedEmbedding {id: row.key})
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'vector', row.vector)
WITH e, row WHERE row.zero SET e:ZeroEmbedding;

// name: unstage
MATCH (d:StagedDocument {id: $id}) DELETE d;

// name: unstage_documents
MATCH (d:StagedDocument) WHERE d.id IN $ids DELETE d;

// name: promote_embeddings
// A staged vector that is in use as well, of the same encoder, stays what it is.
MATCH (e:StagedEmbedding) WHERE e.id IN $keys AND NOT EXISTS { MATCH (:Embedding {id: e.id}) }
SET e:Embedding REMOVE e:StagedEmbedding;

// name: delete_some_staged_documents
MATCH (d:StagedDocument) WITH d LIMIT $limit DELETE d RETURN count(*) AS n;

// name: delete_some_staged_embeddings
MATCH (e:StagedEmbedding) WITH e LIMIT $limit DELETE e RETURN count(*) AS n;

// name: any_dimension
MATCH (e:Embedding) RETURN size(e.vector) AS n LIMIT 1;
