// From version 1 of the graph's shape, in which our nodes had no labels of their own. Pages are by
// id, some at a time, and may be done again. Ours are known by what only we write.

// name: old_base
MATCH (k:KnowledgeBase {id: 'kgrag'}) WHERE k.version = 1 AND k.seq IS NOT NULL
RETURN k.version AS version;

// name: take_old_base
// From now on an older kgrag finds no knowledge base, also where it is running.
MATCH (k:KnowledgeBase {id: 'kgrag'}) WHERE k.version = 1 AND k.seq IS NOT NULL
SET k:KgragKnowledgeBase, k.labelled = false REMOVE k:KnowledgeBase;

// name: is_labelled
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) RETURN k.labelled AS labelled;

// name: label_documents
MATCH (n:Document) WHERE n.id > $after AND n.content_hash IS NOT NULL
  AND n.fingerprint IS NOT NULL AND n.layout IS NOT NULL AND n.title_key IS NOT NULL
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragDocument
RETURN max(n.id) AS last;

// name: label_chunks_of_old
MATCH (n:Chunk) WHERE n.id > $after AND n.heading_path IS NOT NULL
  AND n.id ENDS WITH ':' + toStringOrNull(n.size) + ':' + toStringOrNull(n.index)
  AND n.id STARTS WITH toStringOrNull(n.doc_id)
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragChunk
RETURN max(n.id) AS last;

// name: label_summaries
MATCH (n:Summary) WHERE n.id > $after AND n.id STARTS WITH 's-'
  AND n.level IS NOT NULL AND n.source IS NOT NULL AND n.target_ids IS NOT NULL
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragSummary
RETURN max(n.id) AS last;

// name: label_entities
MATCH (n:Entity) WHERE n.id > $after AND n.id STARTS WITH 'e-'
  AND n.normalized IS NOT NULL AND n.caption IS NOT NULL AND n.type IS NOT NULL
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragEntity
RETURN max(n.id) AS last;

// name: label_layouts
MATCH (n:DocumentLayout)
WHERE n.id > $after AND n.headings IS NOT NULL AND n.segments IS NOT NULL
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragDocumentLayout REMOVE n:DocumentLayout
RETURN max(n.id) AS last;

// name: label_sources
MATCH (n:Source) WHERE n.id > $after AND n.doc_id IS NOT NULL AND size(keys(n)) = 2
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragSource REMOVE n:Source
RETURN max(n.id) AS last;

// name: label_settings
MATCH (n:Setting) WHERE n.id > $after AND n.value IS NOT NULL AND size(keys(n)) = 2
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragSetting REMOVE n:Setting
RETURN max(n.id) AS last;

// name: label_embeddings
MATCH (n:Embedding) WHERE n.id > $after AND valueType(n.vector) STARTS WITH 'LIST<FLOAT'
  AND n:ChunkEmbedding|SummaryEmbedding|DocumentEmbedding|FactEmbedding
WITH n ORDER BY n.id LIMIT $limit
FOREACH (_ IN CASE WHEN n:ChunkEmbedding THEN [1] ELSE [] END | SET n:KgragChunkEmbedding)
FOREACH (_ IN CASE WHEN n:SummaryEmbedding THEN [1] ELSE [] END | SET n:KgragSummaryEmbedding)
FOREACH (_ IN CASE WHEN n:DocumentEmbedding THEN [1] ELSE [] END | SET n:KgragDocumentEmbedding)
FOREACH (_ IN CASE WHEN n:FactEmbedding THEN [1] ELSE [] END | SET n:KgragFactEmbedding)
FOREACH (_ IN CASE WHEN n:ZeroEmbedding THEN [1] ELSE [] END | SET n:KgragZeroEmbedding)
SET n:KgragEmbedding
REMOVE n:Embedding:ChunkEmbedding:SummaryEmbedding:DocumentEmbedding:FactEmbedding:ZeroEmbedding
RETURN max(n.id) AS last;

// name: label_staged_embeddings
MATCH (n:StagedEmbedding) WHERE n.id > $after AND valueType(n.vector) STARTS WITH 'LIST<FLOAT'
WITH n ORDER BY n.id LIMIT $limit
FOREACH (_ IN CASE WHEN n:ZeroEmbedding THEN [1] ELSE [] END | SET n:KgragZeroEmbedding)
SET n:KgragStagedEmbedding REMOVE n:StagedEmbedding:ZeroEmbedding
RETURN max(n.id) AS last;

// name: label_staged_documents
MATCH (n:StagedDocument) WHERE n.id > $after AND n.nodes IS NOT NULL AND n.kinds IS NOT NULL
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragStagedDocument REMOVE n:StagedDocument
RETURN max(n.id) AS last;

// name: label_fact_vectors
MATCH (n:FactVector) WHERE n.id > $after AND n.fact_id IS NOT NULL AND n.doc_id IS NOT NULL
  AND n.id = toStringOrNull(n.doc_id) + ' ' + toStringOrNull(n.fact_id)
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragFactVector REMOVE n:FactVector
RETURN max(n.id) AS last;

// name: label_terms
MATCH (n:Terms) WHERE n.id > $after AND n.words IS NOT NULL AND n.path_pairs IS NOT NULL
  AND n.doc_key IS NOT NULL AND n.size IS NOT NULL
WITH n ORDER BY n.id LIMIT $limit
SET n:KgragTerms, n:$('KgragTerms' + toString(n.size))
REMOVE n:Terms, n:$('Terms' + toString(n.size))
RETURN max(n.id) AS last;
