// 13 关系统计
// Predicates and how often
// 图中有哪些关系，各有多少事实，举一例；无需改动。
// Which predicates there are, how many facts each has, and an example; nothing to change.
MATCH (s:KgragEntity)-[r:RELATED]->(o:KgragEntity)
RETURN r.predicate AS 关系, count(*) AS 事实, min(s.name + ' → ' + o.name) AS 例子
ORDER BY 事实 DESC, 关系
LIMIT 100
