// 09 两个实体之间的路径
// Paths between two entities
// 连接两个实体的全部最短路径（最多 5 步）；改下一行的两个名称。不相连时只画这两个实体；找不到时另取相连的。
// All shortest ways between two entities, up to 5 steps; change the names. No way: the two alone.
WITH ['青川市碳达峰行动计划', '节能管理规定'] AS names
CALL (names) {
  UNWIND names AS name
  CALL (name) {
    CALL db.index.fulltext.queryNodes(
      'kgrag_entity_names', '"' + replace(name, '"', ' ') + '"', {limit: 100}
    ) YIELD node AS e, score
    RETURN e ORDER BY e.name = name DESC, score DESC, e.id LIMIT 1
  }
  RETURN collect(DISTINCT e) AS found
}
CALL () {
  MATCH (e:KgragEntity)
  RETURN e AS most ORDER BY COUNT { (e)-[:RELATED]-() } DESC, e.id LIMIT 1
}
WITH found, coalesce(head(found), most) AS one
CALL (one) {
  MATCH (one)-[:RELATED]-(via:KgragEntity)
  WITH DISTINCT one, via ORDER BY via.id LIMIT 200
  MATCH (via)-[:RELATED]-(e:KgragEntity)
  WHERE e <> one AND NOT EXISTS { (one)-[:RELATED]-(e) }
  WITH e ORDER BY e.id LIMIT 500
  WITH DISTINCT e ORDER BY COUNT { (e)-[:RELATED]-() } DESC, e.id LIMIT 1
  RETURN collect(e) AS far
}
WITH one, coalesce(found[1], head(far)) AS other
OPTIONAL MATCH path = ALL SHORTEST (one)-[:RELATED]-{1,5}(other)
RETURN one, other, path
LIMIT 20
