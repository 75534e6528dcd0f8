// 10 事实的原文依据
// Evidence of facts, word for word
// 一个实体的每条事实出自哪份文件、哪一节、哪句原文；换实体改下一行引号里的名称。
// For every fact about an entity: document, section, quotation and sentence; change the name.
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
MATCH (e)-[r:RELATED]-(:KgragEntity)
WITH DISTINCT r ORDER BY r.id LIMIT 100
UNWIND range(0, size(r.chunk_ids) - 1) AS i
MATCH (c:KgragChunk {id: r.chunk_ids[i]})
MATCH (whole:KgragChunk {id: coalesce(c.parent_id, c.id)})
MATCH (d:KgragDocument {id: c.doc_id})
WITH r, c, d, whole.text AS text, r.ends[i] - whole.start AS after,
     CASE WHEN r.starts[i] > whole.start THEN r.starts[i] - whole.start ELSE 0 END AS at
WITH r, d, substring(text, at, after - at) AS quotation, collect(c) AS chunks,
     last(split(left(text, at), ['。', '\n', '\r'])) AS before,
     head(split(substring(text, after), ['。', '\n', '\r'])) AS rest
RETURN startNode(r).name AS 主语, r.predicate AS 关系, endNode(r).name AS 宾语,
       before + quotation + rest AS 所在句, d.name AS 文件, last(head(chunks).heading_path) AS 章节,
       quotation AS 引文, [c IN chunks | c.id] AS 条款
ORDER BY 主语, 关系, 宾语
LIMIT 100
