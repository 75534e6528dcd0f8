// 22 一项指标的各地比较
// An indicator across provinces
// 各省对同一指标写明的数值，按年份和数值排列；换指标改下一行引号里的词（写一部分即可）。
// What provinces say of one indicator, by year and value; change the indicator, or part of it.
WITH '绿色工厂' AS indicator
MATCH (t:KgragTarget)-[:APPLIES_TO]->(r:KgragRegion)
WHERE t.indicator CONTAINS indicator AND t.value IS NOT NULL
MATCH (d:KgragDocument {id: t.doc_id})
RETURN t.unit AS 单位, t.year AS 年份, coalesce(r.province, r.name) AS 省份, r.name AS 地区,
       t.comparator AS 比较, t.value AS 数值, t.value_to AS 至,
       CASE t.standing WHEN 'planned' THEN '规划' WHEN 'achieved' THEN '完成' END AS 状态,
       t.indicator AS 指标, t.value_text AS 原文, d.name AS 文件, t.chunk_id AS 编号
ORDER BY 单位, 年份, 数值 DESC, 省份
LIMIT 300
