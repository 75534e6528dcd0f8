// 19 条款的上下文
// Siblings, parent and summary of a clause
// 与所查词语最相关的一条：所在大块、同级条款、摘要和提到的实体；改下一行引号里的词语。
// The clause that fits the words best: its parent, siblings, summary and entities.
WITH '现场核查' AS words
CALL (words) {
  CALL db.index.fulltext.queryNodes(
    'kgrag_chunk_text', '"' + replace(words, '"', ' ') + '"', {limit: 100}
  ) YIELD node AS c, score
  WHERE c:ChildChunk AND c.size = 256
  RETURN c, score ORDER BY score DESC, c.id LIMIT 1
  UNION
  MATCH (c:KgragChunk {size: 256})
  RETURN c, 0.0 AS score ORDER BY c.id LIMIT 1
}
WITH c ORDER BY score DESC, c.id LIMIT 1
MATCH (d:KgragDocument)<-[part:PART_OF]-(parent:KgragChunk)-[:HAS_CHILD]->(c)
MATCH (parent)-[has:HAS_CHILD]->(sibling:KgragChunk {size: c.size})
OPTIONAL MATCH (sibling)-[next:NEXT_CHUNK]->(:KgragChunk {parent_id: parent.id})
OPTIONAL MATCH (parent)<-[sums]-(summary:KgragSummary)
OPTIONAL MATCH (c)-[m:MENTIONS]->(e:KgragEntity)
RETURN d, part, parent, has, sibling, next, sums, summary, m, e
ORDER BY sibling.id, next.id, summary.id, e.id
LIMIT 100
