// 01 文件一览
// All documents
// 每个文件的标题、字数、条款块数、提到的实体数和引用情况；无需改动。
// Title, length, chunks, entities and citations of every document; nothing to change.
MATCH (d:KgragDocument)
RETURN d.title AS 标题, last(split(d.file, ['/', '\\'])) AS 文件, d.characters AS 字数,
       COUNT { (:KgragChunk)-[:PART_OF]->(d) } AS 大块,
       COUNT { (d)-[:NAMES]->(:KgragEntity) } AS 提到的实体,
       COUNT { (d)-[:CITES]->(:KgragDocument) } AS 引用,
       COUNT { (d)<-[:CITES]-(:KgragDocument) } AS 被引用
ORDER BY 被引用 DESC, 标题
LIMIT 500
