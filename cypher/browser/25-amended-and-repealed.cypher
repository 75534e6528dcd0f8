// 25 修订和废止
// What amends or repeals what
// 哪份文件修订或废止了哪份文件；库中没有的以其名称画出；无需改动。
// Which document amends or repeals which; what is not held is drawn by its title.
MATCH (d:KgragDocument)-[r:AMENDS|REPEALS]->(other)
RETURN d, r, other
ORDER BY d.title, d.id, other.id
LIMIT 100
