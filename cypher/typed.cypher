// Typed nodes and relationships of documents: targets, duties, organs, places, references. They
// follow from what the other nodes hold, and are deleted and made anew with it.

// name: put_organs
// Those that are called otherwise than here come back: their names are counted again.
UNWIND $rows AS row
MERGE (o:KgragOrgan {id: row.id})
ON CREATE SET o:$($labels), o.name = row.name, o.caption = row.caption
WITH o, row WHERE o.name <> row.name
RETURN DISTINCT o.id AS id;

// name: put_regions
UNWIND $rows AS row
MERGE (r:KgragRegion {id: row.id})
ON CREATE SET r:$($labels), r += row;

// name: put_issued
UNWIND $rows AS row
MATCH (d:KgragDocument {id: row.id})
MATCH (o:KgragOrgan {id: row.organ_id})
CREATE (d)-[:ISSUED_BY {name: row.name, written: row.written, index: row.index}]->(o);

// name: put_applied
UNWIND $rows AS region_id
MATCH (d:KgragDocument {id: $id})
MATCH (r:KgragRegion {id: region_id})
CREATE (d)-[:APPLIES_TO]->(r);

// name: put_targets
UNWIND $rows AS row
MATCH (d:KgragDocument {id: $id})
MATCH (e:KgragEntity {id: row.indicator_id})
CREATE (t:KgragTarget) SET t = row.properties, t:$($labels)
CREATE (d)-[:STATES]->(t)
CREATE (t)-[:OF]->(e)
WITH t, row WHERE row.region_id IS NOT NULL
MATCH (r:KgragRegion {id: row.region_id})
CREATE (t)-[:APPLIES_TO]->(r);

// name: put_duties
UNWIND $rows AS row
MATCH (d:KgragDocument {id: $id})
MATCH (e:KgragEntity {id: row.task_id})
CREATE (u:KgragDuty) SET u = row.properties, u:$($labels)
CREATE (d)-[:ASSIGNS]->(u)
CREATE (u)-[:OF]->(e);

// name: put_assigned
UNWIND $rows AS row
MATCH (u:KgragDuty {id: row.duty_id})
MATCH (o:KgragOrgan {id: row.organ_id})
CREATE (u)-[r:ASSIGNED_TO]->(o) SET r = row.properties;

// name: put_references
// To the document that is held, of several the one with the smallest id; else to the title's entity.
UNWIND $rows AS row
MATCH (d:KgragDocument {id: $id})
MATCH (e:KgragEntity {id: row.object_id})
CALL (row) {
  OPTIONAL MATCH (held:KgragDocument {node_id: row.object_id})
  RETURN held ORDER BY held.id LIMIT 1
}
WITH d, row, coalesce(held, e) AS cited
CREATE (d)-[r:$(row.type)]->(cited) SET r = row.properties;

// name: redirect_references
// To where they belong now that a document was added, removed or renamed.
UNWIND $ids AS id
MATCH (e:KgragEntity {id: id})
CALL (id) {
  OPTIONAL MATCH (held:KgragDocument {node_id: id}) WHERE held.id <> $without
  RETURN held ORDER BY held.id LIMIT 1
}
WITH e, id, coalesce(held, e) AS cited
MATCH (e)<-[:NAMES]-(d:KgragDocument)
MATCH (d)-[old:BASED_ON|IMPLEMENTS|AMENDS|REPEALS|FORWARDS|ISSUES|REFERS_TO]->(before)
WHERE old.object_id = id AND before <> cited
CREATE (d)-[r:$(type(old))]->(cited) SET r = properties(old)
DELETE old;

// name: delete_typed
// With the ids of organs and places that may have lost their last relationship.
CALL () {
  MATCH (t:KgragTarget {doc_id: $id})
  OPTIONAL MATCH (t)-[:APPLIES_TO]->(r:KgragRegion)
  WITH t, collect(r.id) AS ids
  DETACH DELETE t
  RETURN ids
  UNION ALL
  MATCH (u:KgragDuty {doc_id: $id})
  OPTIONAL MATCH (u)-[:ASSIGNED_TO]->(o:KgragOrgan)
  WITH u, collect(o.id) AS ids
  DETACH DELETE u
  RETURN ids
  UNION ALL
  MATCH (:KgragDocument {id: $id})-[r:ISSUED_BY|APPLIES_TO]->(n:KgragOrgan|KgragRegion)
  WITH r, [n.id] AS ids
  DELETE r
  RETURN ids
}
UNWIND ids AS id
RETURN DISTINCT id;

// name: delete_issued
MATCH (:KgragDocument {id: $id})-[r:ISSUED_BY]->(o:KgragOrgan)
WITH r, o.id AS id
DELETE r
RETURN DISTINCT id;

// name: delete_references
MATCH (:KgragDocument {id: $id})
  -[r:BASED_ON|IMPLEMENTS|AMENDS|REPEALS|FORWARDS|ISSUES|REFERS_TO]->(:KgragDocument|KgragEntity)
DELETE r;

// name: organs_counted
// How often an organ is called so.
MATCH (o:KgragOrgan) WHERE o.id IN $ids
OPTIONAL MATCH (o)<-[r:ISSUED_BY|ASSIGNED_TO]-(:KgragDocument|KgragDuty)
RETURN o.id AS id, o.name AS shown, r.name AS name, count(*) AS n;

// name: show_organs
UNWIND $rows AS row
MATCH (o:KgragOrgan {id: row.id}) SET o.name = row.name, o.caption = row.caption;

// name: delete_unused
CALL () {
  MATCH (o:KgragOrgan) WHERE o.id IN $ids AND NOT EXISTS {
    (o)<-[:ISSUED_BY|ASSIGNED_TO]-(:KgragDocument|KgragDuty) }
  RETURN o AS n
  UNION ALL
  MATCH (r:KgragRegion) WHERE r.id IN $ids AND NOT EXISTS {
    (r)<-[:APPLIES_TO]-(:KgragDocument|KgragTarget) }
  RETURN r AS n
}
DETACH DELETE n;

// name: issuers_of_documents
MATCH (d:KgragDocument) WHERE d.issuers IS NOT NULL
RETURN d.id AS id, d.title AS title, d.properties AS properties, d.metadata AS metadata,
  COLLECT {
    MATCH (d)-[r:ISSUED_BY]->(o:KgragOrgan) RETURN [o.id, r.name] ORDER BY r.index
  } AS organs;
