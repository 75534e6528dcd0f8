// 20 证据最多的事实
// Best supported facts
// 由最多条款和文件写明的事实；无需改动。
// The facts that most clauses and documents state; nothing to change.
MATCH (s:KgragEntity)-[r:RELATED]->(o:KgragEntity)
WITH s, r, o ORDER BY size(r.chunk_ids) DESC, r.id LIMIT 100
CALL (r) { UNWIND r.doc_ids AS id RETURN count(DISTINCT id) AS 文件 }
RETURN s.name AS 主语, r.predicate AS 关系, o.name AS 宾语, size(r.chunk_ids) AS 证据, 文件
ORDER BY 文件 DESC, 证据 DESC, 主语, 宾语
