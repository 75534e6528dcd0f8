// Indexes that depend on a number: <size> and <dimension> are whole numbers, put in before it runs.

// name: index_terms
CREATE FULLTEXT INDEX terms_<size> IF NOT EXISTS FOR (n:Terms<size>)
ON EACH [n.words, n.pairs, n.path_words, n.path_pairs, n.doc_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

// name: drop_index_terms
DROP INDEX terms_<size> IF EXISTS;

// name: index_chunk_vectors
// Vectors are kept as they are: a quantised index would give other cosines than were stored.
CREATE VECTOR INDEX chunk_embedding IF NOT EXISTS FOR (n:ChunkEmbedding) ON (n.vector)
OPTIONS {indexConfig: {`vector.dimensions`: <dimension>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: index_summary_vectors
CREATE VECTOR INDEX summary_embedding IF NOT EXISTS FOR (n:SummaryEmbedding) ON (n.vector)
OPTIONS {indexConfig: {`vector.dimensions`: <dimension>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: index_document_vectors
CREATE VECTOR INDEX document_embedding IF NOT EXISTS FOR (n:DocumentEmbedding) ON (n.vector)
OPTIONS {indexConfig: {`vector.dimensions`: <dimension>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: index_fact_vectors
CREATE VECTOR INDEX fact_embedding IF NOT EXISTS FOR (n:FactEmbedding) ON (n.vector)
OPTIONS {indexConfig: {`vector.dimensions`: <dimension>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: drop_chunk_vectors
DROP INDEX chunk_embedding IF EXISTS;
// name: drop_summary_vectors
DROP INDEX summary_embedding IF EXISTS;
// name: drop_document_vectors
DROP INDEX document_embedding IF EXISTS;
// name: drop_fact_vectors
DROP INDEX fact_embedding IF EXISTS;

// name: constrain_staged_document
// Made when vectors are first staged.
CREATE CONSTRAINT staged_document_id IF NOT EXISTS FOR (n:StagedDocument) REQUIRE n.id IS UNIQUE;
// name: constrain_staged_embedding
CREATE CONSTRAINT staged_embedding_id IF NOT EXISTS FOR (n:StagedEmbedding) REQUIRE n.id IS UNIQUE;

// name: index_states
SHOW INDEXES YIELD name, state, options RETURN name, state, options;

// name: await_indexes
CALL db.awaitIndexes($seconds);

// name: await_fulltext
CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh();
