// Indexes that are made of what is there already, which is faster than document by document. <size>
// and <dimension> are whole numbers, put in before it runs.

// name: index_chunk_text
// For people and other tools; our own searches do not use it, so writers need not wait for it.
CREATE FULLTEXT INDEX kgrag_chunk_text IF NOT EXISTS
FOR (n:KgragChunk|KgragSummary) ON EACH [n.text]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk', `fulltext.eventually_consistent`: true}};

// name: index_terms
CREATE FULLTEXT INDEX kgrag_terms_<size> IF NOT EXISTS FOR (n:KgragTerms<size>)
ON EACH [n.words, n.pairs, n.path_words, n.path_pairs, n.doc_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

// name: drop_index_terms
DROP INDEX kgrag_terms_<size> IF EXISTS;

// name: index_chunk_vectors
// Vectors are kept as they are: a quantised index would give other cosines than were stored.
CREATE VECTOR INDEX kgrag_chunk_embedding IF NOT EXISTS FOR (n:KgragChunkEmbedding) ON (n.vector)
OPTIONS {indexConfig: {`vector.dimensions`: <dimension>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: index_summary_vectors
CREATE VECTOR INDEX kgrag_summary_embedding IF NOT EXISTS
FOR (n:KgragSummaryEmbedding) ON (n.vector)
OPTIONS {indexConfig: {`vector.dimensions`: <dimension>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: index_document_vectors
CREATE VECTOR INDEX kgrag_document_embedding IF NOT EXISTS
FOR (n:KgragDocumentEmbedding) ON (n.vector)
OPTIONS {indexConfig: {`vector.dimensions`: <dimension>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: index_fact_vectors
CREATE VECTOR INDEX kgrag_fact_embedding IF NOT EXISTS FOR (n:KgragFactEmbedding) ON (n.vector)
OPTIONS {indexConfig: {`vector.dimensions`: <dimension>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: drop_chunk_vectors
DROP INDEX kgrag_chunk_embedding IF EXISTS;
// name: drop_summary_vectors
DROP INDEX kgrag_summary_embedding IF EXISTS;
// name: drop_document_vectors
DROP INDEX kgrag_document_embedding IF EXISTS;
// name: drop_fact_vectors
DROP INDEX kgrag_fact_embedding IF EXISTS;

// name: constrain_staged_document
// Made when vectors are first staged.
CREATE CONSTRAINT kgrag_staged_document_id IF NOT EXISTS
FOR (n:KgragStagedDocument) REQUIRE n.id IS UNIQUE;
// name: constrain_staged_embedding
CREATE CONSTRAINT kgrag_staged_embedding_id IF NOT EXISTS
FOR (n:KgragStagedEmbedding) REQUIRE n.id IS UNIQUE;

// name: drop_constraint
DROP CONSTRAINT $name IF EXISTS;
// name: drop_index
DROP INDEX $name IF EXISTS;

// name: index_states
SHOW INDEXES YIELD name, state, options, labelsOrTypes, properties
RETURN name, state, options, labelsOrTypes AS labels, properties;

// name: await_indexes
UNWIND $names AS name CALL db.awaitIndex(name, $seconds);

// name: await_fulltext
CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh();
