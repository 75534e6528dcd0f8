// 04 谁引用了这份文件
// What cites a document
// 引用该文件的文件，和它自己引用的文件；换文件改下一行引号里的标题（写一部分即可）。
// The documents that cite one, and those that it cites; put part of a title in the next line.
WITH '碳达峰实施方案' AS title
MATCH (d:KgragDocument)
WITH d ORDER BY d.title CONTAINS title OR d.title_key CONTAINS title DESC,
                COUNT { (d)<-[:CITES]-() } DESC, d.title, d.id LIMIT 1
OPTIONAL MATCH (d)-[c:CITES]-(other:KgragDocument)
RETURN d, c, other
ORDER BY other.title, other.id
LIMIT 100
