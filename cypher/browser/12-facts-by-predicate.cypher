// 12 按关系查事实
// Facts by predicate
// 某种关系的全部事实，证据多的在前；关系名改下一行引号里的词，空着则列出所有关系。
// The facts with one predicate, best supported first; change it, or leave it empty for all.
WITH '依据' AS predicate
MATCH (s:KgragEntity)-[r:RELATED]->(o:KgragEntity)
WHERE r.predicate CONTAINS predicate
WITH s, r, o ORDER BY size(r.chunk_ids) DESC, r.id LIMIT 200
CALL (r) { UNWIND r.doc_ids AS id RETURN count(DISTINCT id) AS 文件 }
RETURN s.name AS 主语, r.predicate AS 关系, o.name AS 宾语, size(r.chunk_ids) AS 证据, 文件
ORDER BY 证据 DESC, 主语, 宾语
