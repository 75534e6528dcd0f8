// 16 同一实体的不同写法
// Spellings of an entity
// 各文件怎样写同一个实体，写法多的在前；无需改动。
// How the documents write an entity, those with most spellings first; nothing to change.
MATCH (e:KgragEntity)<-[n:NAMES]-(d:KgragDocument)
UNWIND n.names AS name
WITH e, collect(DISTINCT name) AS 写法, count(DISTINCT d) AS 文件
RETURN e.name AS 实体, size(写法) AS 写法数, 写法[..10] AS 写法, 文件
ORDER BY 写法数 DESC, 文件 DESC, 实体
LIMIT 100
