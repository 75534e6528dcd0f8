// Cypher that others' retrievers append to their own search.

// name: vector_retrieval
// Follows `node` (a KgragChunkEmbedding) and `score` of the index kgrag_chunk_embedding. Equal texts share
// an embedding, and several chunks may lie in one parent: a row is a parent, with the score of
// its best chunk. Facts are those stated in the parent, in the order of the text.
MATCH (chunk:KgragChunk {embedding_key: node.id})
OPTIONAL MATCH (above:KgragChunk)-[:HAS_CHILD]->(chunk)
WITH coalesce(above, chunk) AS parent, max(score) AS score
MATCH (parent)-[:PART_OF]->(document:KgragDocument)
CALL (parent) {
  MATCH (parent)-[:HAS_CHILD*0..1]->(chunk:KgragChunk)-[stated:MENTIONS]->(:KgragEntity)
  UNWIND stated.fact_ids AS fact_id
  WITH fact_id, min(chunk.start) AS place
  MATCH (subject:KgragEntity)-[fact:RELATED {id: fact_id}]->(object:KgragEntity)
  WITH subject.name + ' —' + fact.predicate + '→ ' + object.name AS line, place, fact_id
  ORDER BY place, fact_id LIMIT 20
  RETURN collect(line) AS facts
}
RETURN parent.id AS id, parent.text AS text, document.title AS title, parent.heading AS heading,
  parent.heading_path AS heading_path, document.file AS file, parent.doc_id AS doc_id,
  parent.start AS start, parent.end AS end, score, facts
ORDER BY score DESC, id;

// name: hybrid_retrieval
// As vector_retrieval, where `node` may also come from the full-text index kgrag_chunk_text: a chunk
// of any size, or a summary, which stands for the parents that it summarizes.
CALL (node) {
  MATCH (chunk:KgragChunk {embedding_key: node.id}) WHERE node:KgragChunkEmbedding RETURN chunk
  UNION
  WITH node WHERE node:KgragChunk RETURN node AS chunk
  UNION
  MATCH (node)-[:SUMMARIZES]->(chunk:KgragChunk) WHERE node:KgragSummary RETURN chunk
}
OPTIONAL MATCH (above:KgragChunk)-[:HAS_CHILD]->(chunk)
WITH coalesce(above, chunk) AS parent, max(score) AS score
MATCH (parent)-[:PART_OF]->(document:KgragDocument)
CALL (parent) {
  MATCH (parent)-[:HAS_CHILD*0..1]->(chunk:KgragChunk)-[stated:MENTIONS]->(:KgragEntity)
  UNWIND stated.fact_ids AS fact_id
  WITH fact_id, min(chunk.start) AS place
  MATCH (subject:KgragEntity)-[fact:RELATED {id: fact_id}]->(object:KgragEntity)
  WITH subject.name + ' —' + fact.predicate + '→ ' + object.name AS line, place, fact_id
  ORDER BY place, fact_id LIMIT 20
  RETURN collect(line) AS facts
}
RETURN parent.id AS id, parent.text AS text, document.title AS title, parent.heading AS heading,
  parent.heading_path AS heading_path, document.file AS file, parent.doc_id AS doc_id,
  parent.start AS start, parent.end AS end, score, facts
ORDER BY score DESC, id;
