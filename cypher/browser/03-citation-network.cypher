// 03 文件引用网络
// Citation network of the documents
// 文件之间的依据、落实、引用、修订、废止关系；从被引用最多的画起。互不引用时，画多份文件都提到的文件名。
// Which document cites which, beginning with the most cited; where none does, what several name.
CALL () {
  MATCH (d:KgragDocument)
  WITH d, COUNT { (d)<-[:CITES]-() } AS cited ORDER BY cited DESC, d.id LIMIT 30
  WHERE cited > 0
  CALL (d) {
    MATCH (other:KgragDocument)-[c:CITES]->(d)
    RETURN other, c ORDER BY other.id LIMIT 25
  }
  RETURN d, c, other, 1 AS choice
  UNION
  MATCH (d:KgragEntity {type: 'document'})
  WITH d, COUNT { (d)<-[:NAMES]-(:KgragDocument) } AS named ORDER BY named DESC, d.id LIMIT 12
  WHERE named > 1 AND NOT EXISTS { (:KgragDocument)-[:CITES]->(:KgragDocument) }
  CALL (d) {
    MATCH (other:KgragDocument)-[c:NAMES]->(d)
    RETURN other, c ORDER BY other.id LIMIT 10
  }
  RETURN d, c, other, 2 AS choice
}
RETURN d, c, other
ORDER BY choice, d.id, other.id
LIMIT 120
