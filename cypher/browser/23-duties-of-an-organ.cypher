// 23 一个机构的任务
// Duties of an organ
// 一个机构牵头、负责、配合的任务，和部署它们的文件；换机构改下一行引号里的名称（写一部分即可）。
// The tasks that an organ leads, does or helps with, and who assigned them; change the name.
WITH '工业和信息化厅' AS name
MATCH (o:KgragOrgan)
WITH o ORDER BY o.name CONTAINS name DESC, COUNT { (o)<-[:ASSIGNED_TO]-() } DESC, o.name, o.id LIMIT 1
MATCH (o)<-[a:ASSIGNED_TO]-(u:KgragDuty)<-[by:ASSIGNS]-(d:KgragDocument)
RETURN o, a, u, by, d
ORDER BY d.title, u.start, u.id
LIMIT 60
