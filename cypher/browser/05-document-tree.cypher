// 05 文件结构树
// Tree of a document
// 文件、大块（约 2048 字）和一级细分；换文件改标题（写一部分即可），换粒度改 1024、512 或 256。
// A document, its parent chunks and one level of children; change part of the title, or the size.
WITH '碳达峰实施方案' AS title, 256 AS size
MATCH (d:KgragDocument)
WITH size, d ORDER BY d.title CONTAINS title OR d.title_key CONTAINS title DESC,
                      COUNT { (d)<-[:CITES]-() } DESC, d.title, d.id LIMIT 1
MATCH (d)<-[part:PART_OF]-(parent:KgragChunk)
OPTIONAL MATCH (parent)-[has:HAS_CHILD]->(child:KgragChunk {size: size})
RETURN d, part, parent, has, child
ORDER BY parent.index, child.index
LIMIT 120
