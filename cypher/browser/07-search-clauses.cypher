// 07 全文检索条款
// Full-text search of the clauses
// 含有所查词语的条款，最相关的在前；改下一行引号里的词语，几个词用空格分开。
// The clauses with these words, best first; change the words, separated by blanks.
WITH '现场核查 绿色工厂' AS words
CALL db.index.fulltext.queryNodes(
  'kgrag_chunk_text', '"' + replace(replace(words, '"', ' '), ' ', '" "') + '"', {limit: 300}
) YIELD node AS c, score
WHERE c:ChildChunk AND c.size = 256
MATCH (d:KgragDocument {id: c.doc_id})
RETURN round(score, 2) AS 得分, d.name AS 文件, last(c.heading_path) AS 章节, c.text AS 正文, c.id AS 编号
ORDER BY 得分 DESC, c.id
LIMIT 20
