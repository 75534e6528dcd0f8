// 17 与一份文件最相近的文件
// Documents that share most entities with one
// 共同提到同样实体最多的五份文件，和这些实体；换文件改下一行引号里的标题。
// The five documents that name most of the same entities, with these; change the title.
WITH '绿色工厂' AS title
MATCH (d:KgragDocument)
WITH d ORDER BY d.title CONTAINS title OR d.title_key CONTAINS title DESC,
                COUNT { (d)<-[:CITES]-() } DESC, d.title, d.id LIMIT 1
MATCH (d)-[:NAMES]->(e:KgragEntity)
WHERE COUNT { (e)<-[:NAMES]-() } <= 50  // 处处可见的实体说明不了什么
MATCH (e)<-[:NAMES]-(other:KgragDocument) WHERE other <> d
WITH DISTINCT d, other, e ORDER BY e.name, e.id
WITH d, other, collect(e) AS shared ORDER BY size(shared) DESC, other.title, other.id LIMIT 5
UNWIND shared[..12] AS e
MATCH (d)-[a:NAMES]->(e)<-[b:NAMES]-(other)
RETURN d, a, e, b, other
ORDER BY other.title, other.id, e.name, e.id
LIMIT 60
