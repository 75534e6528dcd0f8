// 08 实体的邻域
// Neighbourhood of an entity
// 一个实体的全部事实；换实体改下一行引号里的名称。找不到时取联系最多的实体。
// The facts about an entity; change the name. Where it is not found: the most connected entity.
WITH '碳达峰实施方案' AS name
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
RETURN e, r, other
ORDER BY r.id
LIMIT 80
