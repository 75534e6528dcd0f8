// 14 实体类型统计
// Entity types and how often
// 实体有哪些类型，各有多少个，举一例；无需改动。
// Which types of entity there are, how many of each, and an example; nothing to change.
MATCH (e:KgragEntity)
RETURN e.type AS 类型, count(*) AS 实体, min(e.name) AS 例子
ORDER BY 实体 DESC, 类型
LIMIT 100
