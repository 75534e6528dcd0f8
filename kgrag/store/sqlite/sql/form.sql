-- Fragments of which kgrag.store.graph_query makes the statement of a form. Places <…> are filled
-- with names of its closed tables, with parameters, and with other fragments; with nothing else.

-- name: form_start
FROM <type> AS <n>;

-- name: form_out
-- CROSS keeps the order of the path, in which each table is looked up by an index made for it.
CROSS JOIN <relation> AS <e> ON <e>.a = <a>.id CROSS JOIN <type> AS <b> ON <b>.id = <e>.b;

-- name: form_in
CROSS JOIN <relation> AS <e> ON <e>.b = <a>.id CROSS JOIN <type> AS <b> ON <b>.id = <e>.a;

-- name: form_chain
SELECT <columns>, <places> AS places
<match>
WHERE <where>;

-- name: form_rows
SELECT <keys>, json_group_array(json(places)) AS places
FROM (
<chains>
)
GROUP BY <keys>
ORDER BY <order>
LIMIT $most;

-- name: form_groups
SELECT <keys><aggregate>(measured) AS result_<aggregate>, json_group_array(json(places)) AS places
FROM (
SELECT <group>, json_group_array(json(places)) AS places
FROM (
<chains>
)
WHERE measured IS NOT NULL
GROUP BY <group>
)
<groups>
HAVING count(*) > 0
ORDER BY <order>
LIMIT $most;

-- name: form_by
GROUP BY <keys>;

-- name: form_always
true;

-- name: form_stated
<x> IS NOT NULL;

-- name: form_unstated
<x> IS NULL;

-- name: form_compared
<x> <op> <value>;

-- name: form_contains
instr(<x>, <value>) > 0;

-- name: form_starts
substr(<x>, 1, length(<value>)) = <value>;

-- name: form_ends
substr(<x>, -length(<value>)) = <value>;

-- name: form_not
NOT coalesce(<test>, false);

-- name: form_one
one.value;

-- name: form_any
EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(<x>), '、', '","') || ']') AS one
  WHERE <test>);

-- name: form_places
json_array(<list>);

-- name: form_places_document
json_array(<n>.id, 0, 0);

-- name: form_places_target
json_array(<n>.doc_id, <n>.start, <n>."end");

-- name: form_places_duty
json_array(<n>.doc_id, <n>.start, <n>."end");

-- name: form_places_names
json_array(<n>.a, 0, 0);

-- name: form_places_organ
(SELECT json_group_array(json_array(doc_id, start, "end")) FROM (
  SELECT DISTINCT one.doc_id, one.start, one."end"
  FROM form_assigned_to r JOIN form_duty one ON one.id = r.a
  WHERE r.b = <n>.id AND <where> ORDER BY 1, 2, 3 LIMIT 3));

-- name: form_places_entity
(SELECT json_group_array(json_array(doc_id, 0, 0)) FROM (
  SELECT DISTINCT one.doc_id FROM entity_names one
  WHERE one.entity_id = <n>.id AND <where> ORDER BY 1 LIMIT 3));

-- name: form_places_cites
json(<n>.places);

-- name: form_places_related
(SELECT json_group_array(json_array(one.doc_id, one.start, one."end")) FROM evidence one
  WHERE one.fact_id = <n>.id AND <where>);

-- name: form_some
json_array_length(<places>) > 0;

-- name: form_within_document
<n>.id IN (SELECT value FROM json_each($within));

-- name: form_within_target
<n>.doc_id IN (SELECT value FROM json_each($within));

-- name: form_within_duty
<n>.doc_id IN (SELECT value FROM json_each($within));

-- name: form_within_cites
<n>.a IN (SELECT value FROM json_each($within));

-- name: form_within_names
<n>.a IN (SELECT value FROM json_each($within));

-- name: form_within_organ
one.doc_id IN (SELECT value FROM json_each($within));

-- name: form_within_entity
one.doc_id IN (SELECT value FROM json_each($within));

-- name: form_within_related
one.doc_id IN (SELECT value FROM json_each($within));

-- name: table_form_held
SELECT d.doc_id AS id, d.title, coalesce(d.number, json_extract(b.properties, '$.number')) AS number,
  coalesce(d.issuer, json_extract(b.properties, '$.issuer')) AS issuer, d.issuers, d.written,
  d.issued, d.effective, d.expires, document_kind(d.kind, d.title) AS kind, d.level, d.region,
  d.regions, d.status, d.notice, d.year, 'yes' AS held
FROM kg_documents d JOIN documents b ON b.doc_id = d.doc_id;

-- name: table_form_document
-- With those that are cited and not held, which have no more than a title.
SELECT * FROM form_held
UNION ALL
SELECT DISTINCT r.b, e.name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, 'no'
FROM form_cites r JOIN entities e ON e.entity_id = r.b;

-- name: table_form_target
SELECT json_array(doc_id, fact_id, start, "end", extractor, value, value_to, unit, comparator,
    bound, year, period, base_year, base_value, region, scope, standing, binding, condition) AS id,
  doc_id, start, "end", indicator, predicate, value, value_to, unit, comparator, bound, year,
  period, base_year, base_value, region, region_level(region) AS level, scope, standing, binding,
  condition
FROM kg_targets;

-- name: table_form_duties
SELECT json_array(d.doc_id, f.object_id, d.start, d."end", d.extractor, d.deadline, d.year,
    d.region, d.condition) AS id,
  f.subject_id, d.*
FROM kg_duties d JOIN facts f ON f.fact_id = d.fact_id;

-- name: table_form_duty
SELECT DISTINCT id, doc_id, start, "end", task, deadline, year, region, condition
FROM form_duties;

-- name: table_form_organ
SELECT entity_id AS id, name FROM entities WHERE entity_id IN (SELECT b FROM form_assigned_to);

-- name: table_form_entity
SELECT entity_id AS id, name, type FROM entities;

-- name: table_form_states
SELECT doc_id AS a, id AS b FROM form_target;

-- name: table_form_assigns
SELECT doc_id AS a, id AS b FROM form_duty;

-- name: table_form_assigned_to
SELECT id AS a, subject_id AS b, role FROM form_duties;

-- name: table_form_names
SELECT DISTINCT doc_id AS a, entity_id AS b FROM entity_names;

-- name: table_form_related
SELECT fact_id AS id, subject_id AS a, object_id AS b, predicate FROM facts;

-- name: table_form_cites
SELECT r.doc_id AS a, coalesce(r.cited_doc_id, f.object_id) AS b, r.role,
  json_group_array(json_array(r.doc_id, r.start, r."end")) AS places
FROM kg_references r JOIN facts f ON f.fact_id = r.fact_id
GROUP BY r.doc_id, f.object_id, r.role;

-- name: table_form_based_on
SELECT * FROM form_cites WHERE role = '依据';

-- name: table_form_implements
SELECT * FROM form_cites WHERE role = '落实';

-- name: table_form_amends
SELECT * FROM form_cites WHERE role = '修订';

-- name: table_form_repeals
SELECT * FROM form_cites WHERE role = '废止';

-- name: table_form_forwards
SELECT * FROM form_cites WHERE role = '转发';

-- name: table_form_issues
SELECT * FROM form_cites WHERE role = '印发';

-- name: table_form_refers_to
SELECT * FROM form_cites WHERE role NOT IN ('依据', '落实', '修订', '废止', '转发', '印发');
