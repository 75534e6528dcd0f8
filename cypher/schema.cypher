// What a knowledge base needs before its first document; each statement may run again.

// name: constrain_knowledge_base
CREATE CONSTRAINT knowledge_base_id IF NOT EXISTS FOR (n:KnowledgeBase) REQUIRE n.id IS UNIQUE;
// name: constrain_setting
CREATE CONSTRAINT setting_id IF NOT EXISTS FOR (n:Setting) REQUIRE n.id IS UNIQUE;
// name: constrain_document
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (n:Document) REQUIRE n.id IS UNIQUE;
// name: constrain_document_layout
CREATE CONSTRAINT document_layout_id IF NOT EXISTS FOR (n:DocumentLayout) REQUIRE n.id IS UNIQUE;
// name: constrain_source
CREATE CONSTRAINT source_id IF NOT EXISTS FOR (n:Source) REQUIRE n.id IS UNIQUE;
// name: constrain_chunk
CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (n:Chunk) REQUIRE n.id IS UNIQUE;
// name: constrain_summary
CREATE CONSTRAINT summary_id IF NOT EXISTS FOR (n:Summary) REQUIRE n.id IS UNIQUE;
// name: constrain_entity
CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;
// name: constrain_embedding
CREATE CONSTRAINT embedding_id IF NOT EXISTS FOR (n:Embedding) REQUIRE n.id IS UNIQUE;
// name: constrain_fact_vector
CREATE CONSTRAINT fact_vector_id IF NOT EXISTS FOR (n:FactVector) REQUIRE n.id IS UNIQUE;
// name: constrain_terms
CREATE CONSTRAINT terms_id IF NOT EXISTS FOR (n:Terms) REQUIRE n.id IS UNIQUE;
// name: constrain_related
CREATE CONSTRAINT related_id IF NOT EXISTS FOR ()-[r:RELATED]-() REQUIRE r.id IS UNIQUE;

// name: index_chunk_document
CREATE INDEX chunk_document IF NOT EXISTS FOR (n:Chunk) ON (n.doc_id);
// name: index_chunk_size
CREATE INDEX chunk_size IF NOT EXISTS FOR (n:Chunk) ON (n.size);
// name: index_chunk_embedding_key
CREATE INDEX chunk_embedding_key IF NOT EXISTS FOR (n:Chunk) ON (n.embedding_key);
// name: index_summary_document
CREATE INDEX summary_document IF NOT EXISTS FOR (n:Summary) ON (n.doc_id);
// name: index_summary_embedding_key
CREATE INDEX summary_embedding_key IF NOT EXISTS FOR (n:Summary) ON (n.embedding_key);
// name: index_document_embedding_key
CREATE INDEX document_embedding_key IF NOT EXISTS FOR (n:Document) ON (n.embedding_key);
// name: index_document_name
CREATE INDEX document_name_key IF NOT EXISTS FOR (n:Document) ON (n.name_key);
// name: index_document_title
CREATE TEXT INDEX document_title_key IF NOT EXISTS FOR (n:Document) ON (n.title_key);
// name: index_document_year
CREATE INDEX document_year IF NOT EXISTS FOR (n:Document) ON (n.year);
// name: index_document_region
CREATE INDEX document_region IF NOT EXISTS FOR (n:Document) ON (n.region);
// name: index_document_kind
CREATE INDEX document_kind IF NOT EXISTS FOR (n:Document) ON (n.kind);
// name: index_fact_vector_fact
CREATE INDEX fact_vector_fact IF NOT EXISTS FOR (n:FactVector) ON (n.fact_id);
// name: index_fact_vector_document
CREATE INDEX fact_vector_document IF NOT EXISTS FOR (n:FactVector) ON (n.doc_id);
// name: index_fact_vector_embedding_key
CREATE INDEX fact_vector_embedding_key IF NOT EXISTS FOR (n:FactVector) ON (n.embedding_key);
// name: index_entity_normalized
CREATE INDEX entity_normalized IF NOT EXISTS FOR (n:Entity) ON (n.normalized);
// name: index_entity_normalized_text
CREATE TEXT INDEX entity_normalized_text IF NOT EXISTS FOR (n:Entity) ON (n.normalized);
// name: index_source_document
CREATE INDEX source_document IF NOT EXISTS FOR (n:Source) ON (n.doc_id);
// name: index_terms_document
CREATE INDEX terms_document IF NOT EXISTS FOR (n:Terms) ON (n.doc_id);

// name: index_chunk_text
// For people and other tools; our own searches do not use it, so writers need not wait for it.
CREATE FULLTEXT INDEX chunk_text IF NOT EXISTS FOR (n:Chunk|Summary) ON EACH [n.text]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk', `fulltext.eventually_consistent`: true}};
// name: index_entity_names
CREATE FULLTEXT INDEX entity_names IF NOT EXISTS FOR (n:Entity) ON EACH [n.name, n.normalized]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};
