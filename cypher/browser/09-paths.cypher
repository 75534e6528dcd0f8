// 09 两个实体之间的路径
// Paths between two entities
// 连接两个实体的全部最短路径（最多 5 步）；改下一行的两个名称。找不到时取联系最多的实体。
// All shortest ways between two entities, up to 5 steps; change the two names.
WITH ['青川市碳达峰行动计划', '节能管理规定'] AS names
UNWIND [0, 1] AS i
CALL (names, i) {
  CALL db.index.fulltext.queryNodes(
    'kgrag_entity_names', '"' + replace(names[i], '"', ' ') + '"', {limit: 100}
  ) YIELD node AS e, score
  RETURN e, score ORDER BY e.name = names[i] DESC, score DESC LIMIT 1
  UNION
  MATCH (e:KgragEntity)
  WITH e ORDER BY COUNT { (e)-[:RELATED]-() } DESC LIMIT 2
  WITH collect(e) AS most
  RETURN most[i] AS e, 0.0 AS score
}
WITH i, e ORDER BY score DESC
WITH i, head(collect(e)) AS e ORDER BY i
WITH collect(e) AS ends
WITH head(ends) AS one, last(ends) AS other
MATCH path = ALL SHORTEST (one)-[:RELATED]-{1,5}(other)
RETURN path
LIMIT 20
