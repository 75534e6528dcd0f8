// 21 某年各地的目标
// Targets of a year by region
// 某年各地的目标和完成值，按省份、地区排列；换年份改下一行的数字。
// What is planned for a year, and what was reached, by region; change the year in the next line.
WITH 2025 AS year
MATCH (t:KgragTarget {year: year})
OPTIONAL MATCH (t)-[:APPLIES_TO]->(r:KgragRegion)
MATCH (d:KgragDocument {id: t.doc_id})
RETURN coalesce(r.province, r.name) AS 省份, r.name AS 地区, t.indicator AS 指标,
       t.comparator AS 比较, t.value AS 数值, t.value_to AS 至, t.unit AS 单位,
       CASE t.standing WHEN 'planned' THEN '规划' WHEN 'achieved' THEN '完成' END AS 状态,
       t.binding AS 性质, d.name AS 文件, t.chunk_id AS 编号
ORDER BY 省份, 地区, 指标, 数值
LIMIT 300
