// 06 按顺序阅读文件
// Read a document in order
// 文件的章节和正文，依次排列；换文件改下一行引号里的标题（写一部分即可）。
// Sections and text in reading order; put part of a title in the next line.
WITH '节约能源条例' AS title, 512 AS size
MATCH (d:KgragDocument)
WITH size, d ORDER BY d.title CONTAINS title OR d.title_key CONTAINS title DESC,
                      COUNT { (d)<-[:CITES]-() } DESC, d.title, d.id LIMIT 1
MATCH (c:KgragChunk {doc_id: d.id, size: size})
RETURN c.index AS 序号, substring(reduce(path = '', h IN c.heading_path | path + ' › ' + h), 3) AS 章节,
       c.text AS 正文
ORDER BY 序号
LIMIT 200
