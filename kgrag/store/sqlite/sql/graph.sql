-- Reading entities, facts and their evidence.

-- name: find_entities
SELECT e.entity_id, e.name, e.type
FROM json_each(?) j CROSS JOIN entities e ON e.normalized = j.value
ORDER BY e.entity_id;

-- name: entities
SELECT e.entity_id, e.name, e.type
FROM json_each(?) j CROSS JOIN entities e ON e.entity_id = j.value
ORDER BY j.key;

-- name: names_beginning
SELECT entity_id, normalized FROM entities WHERE normalized >= ?1 AND normalized < ?2
ORDER BY length(normalized), entity_id LIMIT ?3;

-- name: short_names_containing
-- No index has keys this short: a scan of the names.
SELECT entity_id, normalized FROM entities WHERE instr(normalized, ?) > 0
ORDER BY length(normalized), entity_id LIMIT ?;

-- name: names_containing
SELECT e.entity_id, e.normalized
FROM entity_search s JOIN entities e ON e.number = s.rowid
WHERE entity_search MATCH ?
ORDER BY length(e.normalized), e.entity_id LIMIT ?;

-- name: names_sharing
SELECT e.entity_id, e.normalized
FROM entity_search s JOIN entities e ON e.number = s.rowid
WHERE entity_search MATCH ?
ORDER BY bm25(entity_search), e.entity_id LIMIT ?;

-- name: facts_around
-- Of facts that some documents state, or of all for null. Both branches come in order of fact_id
-- from their index, so a hub costs no more than the limit.
SELECT g.fact_id, g.subject_id, g.predicate, g.object_id FROM facts g
WHERE g.subject_id = ?1 AND (?3 IS NULL OR EXISTS (
  SELECT 1 FROM evidence e WHERE e.fact_id = g.fact_id
  AND e.doc_id IN (SELECT value FROM json_each(?3))))
UNION ALL
SELECT g.fact_id, g.subject_id, g.predicate, g.object_id FROM facts g
WHERE g.object_id = ?1 AND g.subject_id <> ?1 AND (?3 IS NULL OR EXISTS (
  SELECT 1 FROM evidence e WHERE e.fact_id = g.fact_id
  AND e.doc_id IN (SELECT value FROM json_each(?3))))
ORDER BY 1 LIMIT ?2;

-- name: facts_around_saying
-- The same, those first that say most of some words; of the first ?5 facts.
SELECT a.fact_id, a.subject_id, a.predicate, a.object_id
FROM (
  SELECT g.fact_id, g.subject_id, g.predicate, g.object_id, g.object_id AS other
  FROM facts g WHERE g.subject_id = ?1
  UNION ALL
  SELECT g.fact_id, g.subject_id, g.predicate, g.object_id, g.subject_id
  FROM facts g WHERE g.object_id = ?1 AND g.subject_id <> ?1
  ORDER BY 1 LIMIT ?5
) a JOIN entities e ON e.entity_id = a.other
WHERE ?3 IS NULL OR EXISTS (
  SELECT 1 FROM evidence s WHERE s.fact_id = a.fact_id
  AND s.doc_id IN (SELECT value FROM json_each(?3)))
ORDER BY (
  SELECT count(*) FROM json_each(?4) w
  WHERE instr(e.normalized, w.value) > 0 OR instr(lower(a.predicate), w.value) > 0
) DESC, a.fact_id LIMIT ?2;

-- name: stated_triples
SELECT f.fact_id, f.subject_id, f.predicate, f.object_id, e.chunk_id
FROM json_each(?) j
CROSS JOIN facts f ON f.fact_id = j.value CROSS JOIN evidence e ON e.fact_id = j.value;

-- name: facts
SELECT f.fact_id, f.subject_id, f.predicate, f.object_id
FROM json_each(?) j CROSS JOIN facts f ON f.fact_id = j.value;

-- name: evidence
SELECT e.fact_id, e.doc_id, e.start, e.end, e.chunk_id, e.extractor, e.confidence,
  e.qualifiers
FROM json_each(?) j CROSS JOIN evidence e ON e.fact_id = j.value;

-- name: stating_chunks
SELECT e.fact_id, e.chunk_id FROM json_each(?) j CROSS JOIN evidence e ON e.fact_id = j.value;

-- name: facts_of_chunks
SELECT DISTINCT e.fact_id FROM json_each(?) j CROSS JOIN evidence e ON e.chunk_id = j.value
ORDER BY e.fact_id;

-- name: entity_degrees
SELECT e.entity_id,
  (SELECT count(*) FROM facts WHERE subject_id = e.entity_id)
  + (SELECT count(*) FROM facts WHERE object_id = e.entity_id AND subject_id <> e.entity_id)
FROM json_each(?) j CROSS JOIN entities e ON e.entity_id = j.value;

-- name: names_of_document
SELECT entity_id, name, type FROM entity_names WHERE doc_id = ?;

-- name: facts_of_document
SELECT e.fact_id, f.subject_id, e.predicate, f.object_id,
  e.doc_id, e.start, e.end, e.chunk_id, e.extractor, e.confidence,
  e.qualifiers
FROM evidence e JOIN facts f USING (fact_id) WHERE e.doc_id = ?;

-- name: mentions_of_document
SELECT e.entity_id, e.doc_id, e.start, e.end, e.chunk_id, e.extractor, e.confidence,
  e.qualifiers
FROM mentions e WHERE e.doc_id = ?;

-- name: naming_documents
SELECT n.entity_id, n.doc_id FROM json_each(?) j
CROSS JOIN entity_names n ON n.entity_id = j.value GROUP BY 1, 2 ORDER BY 1, 2;

-- name: entity_page
SELECT e.entity_id, e.name, e.type,
  (SELECT count(*) FROM facts WHERE subject_id = e.entity_id)
  + (SELECT count(*) FROM facts WHERE object_id = e.entity_id AND subject_id <> e.entity_id)
FROM entities e WHERE e.entity_id > ? ORDER BY e.entity_id LIMIT ?;

-- name: statements
-- Evidence over several chunks is one place. Places are told apart before the names of their ends
-- are looked up, by the table itself: the planner takes an index that leads to it row by row.
SELECT e.doc_id, e.start, e.end, e.extractor, e.qualifiers, e.chunk_id, e.confidence,
  e.fact_id, f.predicate, s.entity_id, s.name, s.type, o.entity_id, o.name, o.type
FROM (
  SELECT doc_id, fact_id, start, "end", extractor, qualifiers,
    min(chunk_id) AS chunk_id, max(confidence) AS confidence
  FROM evidence NOT INDEXED
  WHERE qualifiers <> '{}' AND json_extract(qualifiers, '$.kind') = ?
  GROUP BY doc_id, fact_id, start, "end", extractor, qualifiers
) e JOIN facts f ON f.fact_id = e.fact_id
JOIN entities s ON s.entity_id = f.subject_id JOIN entities o ON o.entity_id = f.object_id
ORDER BY e.doc_id, e.start, e.end, e.fact_id, e.extractor, e.qualifiers;

-- name: statements_saying
SELECT e.doc_id, e.start, e.end, e.extractor, e.qualifiers, min(e.chunk_id), max(e.confidence),
  e.fact_id, f.predicate, s.entity_id, s.name, s.type, o.entity_id, o.name, o.type
FROM facts f CROSS JOIN evidence e ON e.fact_id = f.fact_id
JOIN entities s ON s.entity_id = f.subject_id JOIN entities o ON o.entity_id = f.object_id
WHERE f.predicate IN (SELECT value FROM json_each(?)) AND e.qualifiers <> '{}'
  AND json_extract(e.qualifiers, '$.kind') = ?
GROUP BY e.doc_id, e.start, e.end, e.fact_id, e.extractor, e.qualifiers
ORDER BY e.doc_id, e.start, e.end, e.fact_id, e.extractor, e.qualifiers;

-- name: statements_around
SELECT e.doc_id, e.start, e.end, e.extractor, e.qualifiers, min(e.chunk_id), max(e.confidence),
  e.fact_id, f.predicate, s.entity_id, s.name, s.type, o.entity_id, o.name, o.type
FROM (
  SELECT fact_id, subject_id, object_id, predicate
  FROM json_each(?1) j CROSS JOIN facts ON subject_id = j.value
  UNION
  SELECT fact_id, subject_id, object_id, predicate
  FROM json_each(?1) j CROSS JOIN facts ON object_id = j.value
) f CROSS JOIN evidence e ON e.fact_id = f.fact_id
JOIN entities s ON s.entity_id = f.subject_id JOIN entities o ON o.entity_id = f.object_id
WHERE e.qualifiers <> '{}' AND json_extract(e.qualifiers, '$.kind') = ?2
GROUP BY e.doc_id, e.start, e.end, e.fact_id, e.extractor, e.qualifiers
ORDER BY e.doc_id, e.start, e.end, e.fact_id, e.extractor, e.qualifiers;

-- name: statements_of
SELECT e.doc_id, e.start, e.end, e.extractor, e.qualifiers, e.chunk_id, e.confidence,
  e.fact_id, f.predicate, s.entity_id, s.name, s.type, o.entity_id, o.name, o.type
FROM (
  SELECT n.doc_id, n.fact_id, n.start, n."end", n.extractor, n.qualifiers,
    min(n.chunk_id) AS chunk_id, max(n.confidence) AS confidence
  FROM json_each(?) j CROSS JOIN evidence n ON n.doc_id = j.value
  WHERE n.qualifiers <> '{}' AND json_extract(n.qualifiers, '$.kind') = ?
  GROUP BY n.doc_id, n.fact_id, n.start, n."end", n.extractor, n.qualifiers
) e JOIN facts f ON f.fact_id = e.fact_id
JOIN entities s ON s.entity_id = f.subject_id JOIN entities o ON o.entity_id = f.object_id
ORDER BY e.doc_id, e.start, e.end, e.fact_id, e.extractor, e.qualifiers;
