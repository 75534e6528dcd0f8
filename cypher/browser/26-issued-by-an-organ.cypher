// 26 一个机构发布的文件
// Documents issued by an organ
// 一个机构单独或联合发布的文件，和它们适用的地区；换机构改下一行引号里的名称（写一部分即可）。
// The documents that an organ issued, alone or with others, and where they apply; change the name.
WITH '发展和改革委员会' AS name
MATCH (o:KgragOrgan)
WITH o ORDER BY o.name CONTAINS name DESC, COUNT { (o)<-[:ISSUED_BY]-() } DESC, o.name, o.id LIMIT 1
MATCH (o)<-[i:ISSUED_BY]-(d:KgragDocument)
WITH o, i, d ORDER BY d.issued DESC, d.title, d.id LIMIT 60
OPTIONAL MATCH (d)-[a:APPLIES_TO]->(r:KgragRegion)
RETURN o, i, d, a, r
ORDER BY d.issued DESC, d.title, d.id, r.id
LIMIT 100
