// 11 事实的出处图
// Where facts come from, drawn
// 一个实体的事实，写明它们的条款和所在文件；换实体改下一行引号里的名称。
// The facts about an entity, the clauses that state them and their documents; change the name.
WITH '绿色工厂培育管理办法' AS name
CALL (name) {
  CALL db.index.fulltext.queryNodes(
    'kgrag_entity_names', '"' + replace(name, '"', ' ') + '"', {limit: 100}
  ) YIELD node AS e, score
  RETURN e, score ORDER BY e.name = name DESC, score DESC, e.id LIMIT 1
  UNION
  MATCH (e:KgragEntity)
  RETURN e, 0.0 AS score ORDER BY COUNT { (e)-[:RELATED]-() } DESC, e.id LIMIT 1
}
WITH e ORDER BY score DESC, e.id LIMIT 1
MATCH (e)-[r:RELATED]-(other:KgragEntity)
WITH e, r, other ORDER BY r.id LIMIT 15
MATCH (c:KgragChunk)-[m:MENTIONS]->(e) WHERE r.id IN m.fact_ids
MATCH (d:KgragDocument {id: c.doc_id})
MATCH (parent:KgragChunk {id: coalesce(c.parent_id, c.id)})-[part:PART_OF]->(d)
OPTIONAL MATCH (parent)-[has:HAS_CHILD]->(c)
RETURN e, r, other, m, c, has, parent, part, d
ORDER BY r.id, c.id
LIMIT 30
