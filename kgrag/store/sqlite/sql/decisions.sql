-- What a person decided: corrections of documents, held or not, and decisions on names.

-- name: corrections
SELECT doc_id, field, value FROM corrections ORDER BY doc_id, field;

-- name: corrections_of
SELECT field, value FROM corrections WHERE doc_id = ? ORDER BY field;

-- name: put_correction
INSERT INTO corrections VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value;

-- name: delete_correction
DELETE FROM corrections WHERE doc_id = ? AND field = ?;

-- name: delete_corrections_of
DELETE FROM corrections WHERE doc_id = ?;

-- name: decisions
SELECT kind, name, into_name FROM decisions ORDER BY kind, name, into_name;

-- name: add_decision
INSERT INTO decisions VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: delete_decision
DELETE FROM decisions WHERE kind = ? AND name = ? AND into_name = ?;
