-- Version 3: vectors of another encoder are staged beside those in use until every document has
-- them; then they take their place in one transaction. What they are of stands in `state`.
-- A document that changes is staged no more: its row goes, and its nodes with it.
CREATE TABLE staged_embeddings (key TEXT PRIMARY KEY NOT NULL, vector BLOB NOT NULL);
CREATE TABLE staged_documents (
    doc_id TEXT PRIMARY KEY NOT NULL REFERENCES documents ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE staged_nodes (
    doc_id TEXT NOT NULL REFERENCES staged_documents ON DELETE CASCADE,
    node_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('chunk', 'summary', 'document', 'fact')),
    key TEXT NOT NULL REFERENCES staged_embeddings,
    PRIMARY KEY (doc_id, node_id)
) WITHOUT ROWID;
