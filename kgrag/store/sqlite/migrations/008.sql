-- Version 8: kg_targets tells how exact the value is by which an indicator grows or falls.
DROP VIEW kg_targets;
CREATE VIEW kg_targets AS
    SELECT e.doc_id, e.fact_id, s.name AS indicator, e.predicate, o.name AS object,
           CAST(json_extract(e.qualifiers, '$.value') AS NUMERIC) AS value,
           CAST(json_extract(e.qualifiers, '$.value_to') AS NUMERIC) AS value_to,
           json_extract(e.qualifiers, '$.unit') AS unit,
           json_extract(e.qualifiers, '$.comparator') AS comparator,
           json_extract(e.qualifiers, '$.bound') AS bound,
           CAST(json_extract(e.qualifiers, '$.year') AS INTEGER) AS year,
           json_extract(e.qualifiers, '$.period') AS period,
           CAST(json_extract(e.qualifiers, '$.base_year') AS INTEGER) AS base_year,
           CAST(json_extract(e.qualifiers, '$.base_value') AS NUMERIC) AS base_value,
           json_extract(e.qualifiers, '$.region') AS region,
           json_extract(e.qualifiers, '$.scope') AS scope,
           json_extract(e.qualifiers, '$.standing') AS standing,
           json_extract(e.qualifiers, '$.binding') AS binding,
           json_extract(e.qualifiers, '$.condition') AS condition,
           e.start, e."end", min(e.chunk_id) AS chunk_id, e.extractor, e.confidence
    FROM evidence e
    JOIN facts f ON f.fact_id = e.fact_id
    JOIN entities s ON s.entity_id = f.subject_id
    JOIN entities o ON o.entity_id = f.object_id
    WHERE json_extract(e.qualifiers, '$.kind') = 'target'
    GROUP BY e.doc_id, e.fact_id, e.start, e."end", e.extractor, e.qualifiers;
