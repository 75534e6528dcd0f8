// 02 全图概览
// Overview of the whole graph
// 被两个以上文件提到的实体，和提到它们的文件；最多 60 条连线。
// The entities that two or more documents name, with those documents; at most 60 links.
MATCH (e:KgragEntity)
WITH e, COUNT { (e)<-[:NAMES]-(:KgragDocument) } AS documents
WHERE documents > 1
WITH e, documents ORDER BY documents DESC, e.name, e.id LIMIT 12
CALL (e) {
  MATCH (d:KgragDocument)-[n:NAMES]->(e)
  RETURN d, n ORDER BY COUNT { (d)-[:NAMES]->() } DESC, d.id LIMIT 10
}
RETURN d, n, e
ORDER BY documents DESC, e.id, d.id
LIMIT 60
