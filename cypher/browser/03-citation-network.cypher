// 03 文件引用网络
// Citation network of the documents
// 文件之间的依据、落实、引用、修订、废止关系；从被引用最多的文件画起。
// Which document cites which, beginning with the most cited.
MATCH (d:KgragDocument)
WITH d, COUNT { (d)<-[:CITES]-() } AS cited ORDER BY cited DESC LIMIT 30
WHERE cited > 0
CALL (d) {
  MATCH (other:KgragDocument)-[c:CITES]->(d)
  RETURN other, c LIMIT 25
}
RETURN d, c, other
LIMIT 120
