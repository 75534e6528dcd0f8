// 15 联系最多的实体
// Most connected entities
// 事实最多的实体，和提到它的条款数、文件数；无需改动。
// The entities with most facts, and how many clauses and documents name them.
MATCH (e:KgragEntity)
WITH e, COUNT { (e)-[:RELATED]-() } AS 事实 ORDER BY 事实 DESC, e.id LIMIT 30
RETURN e.name AS 实体, e.type AS 类型, 事实,
       COUNT { (e)<-[:MENTIONS]-(:KgragChunk) } AS 条款,
       COUNT { (e)<-[:NAMES]-(:KgragDocument) } AS 文件
ORDER BY 事实 DESC, 条款 DESC, 实体
