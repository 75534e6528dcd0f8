// Vectors of another encoder, beside those in use until every document has them.

// name: staged_documents
MATCH (d:KgragStagedDocument) RETURN d.id AS id;

// name: documents_not_staged
MATCH (d:KgragDocument) WHERE NOT EXISTS { MATCH (s:KgragStagedDocument {id: d.id}) }
RETURN d.id AS id LIMIT 1;

// name: some_staged_documents
MATCH (d:KgragStagedDocument)
RETURN d.id AS id, d.nodes AS nodes, d.kinds AS kinds, d.keys AS keys LIMIT $limit;

// name: staged_dimension
MATCH (e:KgragStagedEmbedding) RETURN size(e.vector) AS n LIMIT 1;

// name: staged_vectors
MATCH (e:KgragStagedEmbedding) WHERE e.id IN $keys RETURN e.id AS key, e.vector AS vector;

// name: stage_documents
// The nodes of a document and their embeddings, side by side.
UNWIND $rows AS row
MERGE (d:KgragStagedDocument {id: row.id})
SET d.nodes = row.nodes, d.kinds = row.kinds, d.keys = row.keys;

// name: stage_embeddings
UNWIND $rows AS row
MERGE (e:KgragStagedEmbedding {id: row.key}) SET e.checksum = row.checksum
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'vector', row.vector)
WITH e, row WHERE row.zero SET e:KgragZeroEmbedding;

// name: unstage
MATCH (d:KgragStagedDocument {id: $id}) DELETE d;

// name: unstage_documents
MATCH (d:KgragStagedDocument) WHERE d.id IN $ids DELETE d;

// name: promote_embeddings
// A staged vector that is in use as well, of the same encoder, stays what it is.
MATCH (e:KgragStagedEmbedding)
WHERE e.id IN $keys AND NOT EXISTS { MATCH (:KgragEmbedding {id: e.id}) }
SET e:KgragEmbedding REMOVE e:KgragStagedEmbedding;

// name: delete_some_staged_documents
MATCH (d:KgragStagedDocument) WITH d LIMIT $limit DELETE d RETURN count(*) AS n;

// name: delete_some_staged_embeddings
MATCH (e:KgragStagedEmbedding) WITH e LIMIT $limit DELETE e RETURN count(*) AS n;

// name: any_dimension
MATCH (e:KgragEmbedding) RETURN size(e.vector) AS n LIMIT 1;
