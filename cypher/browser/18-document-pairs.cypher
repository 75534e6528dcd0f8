// 18 最相近的文件对
// Pairs of documents that share most entities
// 哪两份文件共同提到的实体最多，各举几例；无需改动。
// Which two documents name most of the same entities, with examples; nothing to change.
MATCH (e:KgragEntity)
WHERE 2 <= COUNT { (e)<-[:NAMES]-() } <= 20  // 处处可见的实体说明不了什么
MATCH (a:KgragDocument)-[:NAMES]->(e)<-[:NAMES]-(b:KgragDocument)
WHERE a.id < b.id
WITH a, b, collect(DISTINCT e.name) AS shared
RETURN a.name AS 文件, b.name AS 另一文件, size(shared) AS 共同实体, shared[..5] AS 例子
ORDER BY 共同实体 DESC, 文件, 另一文件
LIMIT 50
