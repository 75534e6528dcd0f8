// What a knowledge base needs before its first document; each statement may run again.

// name: constrain_knowledge_base
CREATE CONSTRAINT kgrag_knowledge_base_id IF NOT EXISTS
FOR (n:KgragKnowledgeBase) REQUIRE n.id IS UNIQUE;
// name: constrain_setting
CREATE CONSTRAINT kgrag_setting_id IF NOT EXISTS FOR (n:KgragSetting) REQUIRE n.id IS UNIQUE;
// name: constrain_document
CREATE CONSTRAINT kgrag_document_id IF NOT EXISTS FOR (n:KgragDocument) REQUIRE n.id IS UNIQUE;
// name: constrain_document_layout
CREATE CONSTRAINT kgrag_document_layout_id IF NOT EXISTS
FOR (n:KgragDocumentLayout) REQUIRE n.id IS UNIQUE;
// name: constrain_source
CREATE CONSTRAINT kgrag_source_id IF NOT EXISTS FOR (n:KgragSource) REQUIRE n.id IS UNIQUE;
// name: constrain_chunk
CREATE CONSTRAINT kgrag_chunk_id IF NOT EXISTS FOR (n:KgragChunk) REQUIRE n.id IS UNIQUE;
// name: constrain_summary
CREATE CONSTRAINT kgrag_summary_id IF NOT EXISTS FOR (n:KgragSummary) REQUIRE n.id IS UNIQUE;
// name: constrain_entity
CREATE CONSTRAINT kgrag_entity_id IF NOT EXISTS FOR (n:KgragEntity) REQUIRE n.id IS UNIQUE;
// name: constrain_embedding
CREATE CONSTRAINT kgrag_embedding_id IF NOT EXISTS FOR (n:KgragEmbedding) REQUIRE n.id IS UNIQUE;
// name: constrain_fact_vector
CREATE CONSTRAINT kgrag_fact_vector_id IF NOT EXISTS FOR (n:KgragFactVector) REQUIRE n.id IS UNIQUE;
// name: constrain_terms
CREATE CONSTRAINT kgrag_terms_id IF NOT EXISTS FOR (n:KgragTerms) REQUIRE n.id IS UNIQUE;
// name: constrain_correction
CREATE CONSTRAINT kgrag_correction_id IF NOT EXISTS FOR (n:KgragCorrection) REQUIRE n.id IS UNIQUE;
// name: constrain_decision
CREATE CONSTRAINT kgrag_decision_id IF NOT EXISTS FOR (n:KgragDecision) REQUIRE n.id IS UNIQUE;
// name: constrain_target
CREATE CONSTRAINT kgrag_target_id IF NOT EXISTS FOR (n:KgragTarget) REQUIRE n.id IS UNIQUE;
// name: constrain_duty
CREATE CONSTRAINT kgrag_duty_id IF NOT EXISTS FOR (n:KgragDuty) REQUIRE n.id IS UNIQUE;
// name: constrain_organ
CREATE CONSTRAINT kgrag_organ_id IF NOT EXISTS FOR (n:KgragOrgan) REQUIRE n.id IS UNIQUE;
// name: constrain_region
CREATE CONSTRAINT kgrag_region_id IF NOT EXISTS FOR (n:KgragRegion) REQUIRE n.id IS UNIQUE;
// name: index_related
// Shared by all knowledge bases of a database, so that its name is always the same. Facts of two
// of them may have one id: that there is only one in each is seen to by the writers' lock.
CREATE INDEX kgrag__related_id IF NOT EXISTS FOR ()-[r:RELATED]-() ON (r.id);

// name: index_chunk_document
CREATE INDEX kgrag_chunk_document IF NOT EXISTS FOR (n:KgragChunk) ON (n.doc_id);
// name: index_chunk_size
CREATE INDEX kgrag_chunk_size IF NOT EXISTS FOR (n:KgragChunk) ON (n.size);
// name: index_chunk_embedding_key
CREATE INDEX kgrag_chunk_key IF NOT EXISTS FOR (n:KgragChunk) ON (n.embedding_key);
// name: index_summary_document
CREATE INDEX kgrag_summary_document IF NOT EXISTS FOR (n:KgragSummary) ON (n.doc_id);
// name: index_summary_embedding_key
CREATE INDEX kgrag_summary_key IF NOT EXISTS FOR (n:KgragSummary) ON (n.embedding_key);
// name: index_document_embedding_key
CREATE INDEX kgrag_document_key IF NOT EXISTS FOR (n:KgragDocument) ON (n.embedding_key);
// name: index_document_name
CREATE INDEX kgrag_document_name_key IF NOT EXISTS FOR (n:KgragDocument) ON (n.name_key);
// name: index_document_node
CREATE INDEX kgrag_document_node_id IF NOT EXISTS FOR (n:KgragDocument) ON (n.node_id);
// name: index_document_name_id
CREATE INDEX kgrag_document_name_id IF NOT EXISTS FOR (n:KgragDocument) ON (n.name_id);
// name: index_document_title
CREATE TEXT INDEX kgrag_document_title_key IF NOT EXISTS FOR (n:KgragDocument) ON (n.title_key);
// name: index_document_year
CREATE INDEX kgrag_document_year IF NOT EXISTS FOR (n:KgragDocument) ON (n.year);
// name: index_document_region
CREATE INDEX kgrag_document_region IF NOT EXISTS FOR (n:KgragDocument) ON (n.region);
// name: index_document_kind
CREATE INDEX kgrag_document_kind IF NOT EXISTS FOR (n:KgragDocument) ON (n.kind);
// name: index_fact_vector_fact
CREATE INDEX kgrag_fact_vector_fact IF NOT EXISTS FOR (n:KgragFactVector) ON (n.fact_id);
// name: index_fact_vector_document
CREATE INDEX kgrag_fact_vector_document IF NOT EXISTS FOR (n:KgragFactVector) ON (n.doc_id);
// name: index_fact_vector_embedding_key
CREATE INDEX kgrag_fact_vector_key IF NOT EXISTS FOR (n:KgragFactVector) ON (n.embedding_key);
// name: index_entity_normalized
CREATE INDEX kgrag_entity_normalized IF NOT EXISTS FOR (n:KgragEntity) ON (n.normalized);
// name: index_entity_normalized_text
CREATE TEXT INDEX kgrag_entity_text IF NOT EXISTS FOR (n:KgragEntity) ON (n.normalized);
// name: index_correction_document
CREATE INDEX kgrag_correction_document IF NOT EXISTS FOR (n:KgragCorrection) ON (n.doc_id);
// name: index_source_document
CREATE INDEX kgrag_source_document IF NOT EXISTS FOR (n:KgragSource) ON (n.doc_id);
// name: index_terms_document
CREATE INDEX kgrag_terms_document IF NOT EXISTS FOR (n:KgragTerms) ON (n.doc_id);
// name: index_target_document
CREATE INDEX kgrag_target_document IF NOT EXISTS FOR (n:KgragTarget) ON (n.doc_id);
// name: index_target_year
CREATE INDEX kgrag_target_year IF NOT EXISTS FOR (n:KgragTarget) ON (n.year);
// name: index_target_indicator
CREATE TEXT INDEX kgrag_target_indicator IF NOT EXISTS FOR (n:KgragTarget) ON (n.indicator);
// name: index_duty_document
CREATE INDEX kgrag_duty_document IF NOT EXISTS FOR (n:KgragDuty) ON (n.doc_id);
// name: index_organ_name
CREATE TEXT INDEX kgrag_organ_name IF NOT EXISTS FOR (n:KgragOrgan) ON (n.name);
// name: index_region_name
CREATE INDEX kgrag_region_name IF NOT EXISTS FOR (n:KgragRegion) ON (n.name);

// name: index_entity_names
CREATE FULLTEXT INDEX kgrag_entity_names IF NOT EXISTS
FOR (n:KgragEntity) ON EACH [n.name, n.normalized]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};
