// 24 文件的依据链
// What a document is based on
// 文件依据和落实的文件，以及这些文件又依据什么（最多四层，库中没有的也画出）；换文件改标题。
// What a document rests on and carries out, and what that rests on, up to four steps; change the title.
WITH '绿色工厂培育管理办法' AS title
MATCH (d:KgragDocument)
WITH d ORDER BY d.title CONTAINS title OR d.title_key CONTAINS title DESC,
                COUNT { (d)-[:BASED_ON|IMPLEMENTS]->() } DESC, d.title, d.id LIMIT 1
OPTIONAL MATCH path = (d)-[:BASED_ON|IMPLEMENTS*1..4]->()
RETURN d, path
ORDER BY length(path), [n IN nodes(path) | n.id]
LIMIT 80
