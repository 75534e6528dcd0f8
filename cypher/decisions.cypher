// What a person decided: corrections of documents, held or not, and decisions on names.

// name: corrections
MATCH (c:KgragCorrection) RETURN c.doc_id AS doc_id, c.field AS field, c.value AS value;

// name: corrections_of
MATCH (c:KgragCorrection {doc_id: $id}) RETURN c.field AS field, c.value AS value;

// name: put_corrections
UNWIND $rows AS row
MERGE (c:KgragCorrection {id: row.id})
SET c.doc_id = row.doc_id, c.field = row.field, c.value = row.value;

// name: delete_corrections
MATCH (c:KgragCorrection) WHERE c.id IN $ids DELETE c;

// name: decisions
MATCH (d:KgragDecision) RETURN d.kind AS kind, d.name AS name, d.into AS into;

// name: put_decision
MERGE (d:KgragDecision {id: $id}) SET d.kind = $kind, d.name = $name, d.into = $into;

// name: delete_decision
MATCH (d:KgragDecision {id: $id}) DELETE d;
