// 27 一份文件的目标
// Targets of a document
// 一份文件写明的目标，和它们的指标、地区；换文件改下一行引号里的标题（写一部分即可）。
// The targets that a document states, with their indicators and places; put part of a title.
WITH '绿色工厂培育管理办法' AS title
MATCH (d:KgragDocument)
WITH d ORDER BY d.title CONTAINS title OR d.title_key CONTAINS title DESC,
                COUNT { (d)-[:STATES]->() } DESC, d.title, d.id LIMIT 1
OPTIONAL MATCH (d)-[s:STATES]->(t:KgragTarget)
WITH d, s, t ORDER BY t.standing DESC, t.start, t.id LIMIT 30
OPTIONAL MATCH (t)-[o:OF]->(e:KgragEntity)
OPTIONAL MATCH (t)-[a:APPLIES_TO]->(r:KgragRegion)
RETURN d, s, t, o, e, a, r
ORDER BY t.start, t.id, e.id, r.id
LIMIT 60
