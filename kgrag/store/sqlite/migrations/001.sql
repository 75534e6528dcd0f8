-- Version 1 of the knowledge base. Texts are UTF-8, offsets count characters, ids are kgrag.ids'.

-- What the user's settings say, and what the store notes for itself.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- The change log. Search caches name the commit that they reflect; its stamp tells them apart from
-- a commit of the same number in another copy of the knowledge base (or after a lost write).
-- Each document has one row per part, for its latest change; deleted documents keep theirs.
CREATE TABLE commits (seq INTEGER PRIMARY KEY, stamp TEXT NOT NULL);
CREATE TABLE changes (
    doc_id TEXT NOT NULL,
    part TEXT NOT NULL CHECK (part IN ('chunks', 'vectors', 'knowledge')),
    seq INTEGER NOT NULL,
    PRIMARY KEY (doc_id, part)
) WITHOUT ROWID;
CREATE INDEX changes_seq ON changes (part, seq);

-- Large columns last: rows are read up to the last column asked for.
CREATE TABLE documents (
    doc_id TEXT PRIMARY KEY NOT NULL,
    title TEXT NOT NULL,
    normalized_title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    characters INTEGER NOT NULL,
    warnings TEXT NOT NULL,
    metadata TEXT NOT NULL,
    segments TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX documents_title ON documents (normalized_title, doc_id);

CREATE TABLE sources (
    source TEXT PRIMARY KEY NOT NULL,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX sources_document ON sources (doc_id, source);

CREATE TABLE headings (
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    level INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (doc_id, position)
) WITHOUT ROWID;

-- Numbers are never used again (AUTOINCREMENT): a search index that lags behind finds nothing
-- under the number of a deleted chunk, never another chunk.
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id TEXT NOT NULL UNIQUE,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    size INTEGER NOT NULL,
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    parent_id TEXT REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    heading_path TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE UNIQUE INDEX chunks_place ON chunks (doc_id, size, position);
CREATE INDEX chunks_size ON chunks (size);
CREATE INDEX chunks_parent ON chunks (parent_id, size, position);

CREATE TABLE summaries (
    summary_id TEXT PRIMARY KEY NOT NULL,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    level TEXT NOT NULL,
    source TEXT NOT NULL,
    target_ids TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX summaries_place ON summaries (doc_id, start, "end");

-- name and type are those that most documents use; entity_names holds what each document wrote.
CREATE TABLE entities (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    entity_id TEXT NOT NULL UNIQUE,
    normalized TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL
);
CREATE INDEX entities_normalized ON entities (normalized);
CREATE TABLE entity_names (
    entity_id TEXT NOT NULL REFERENCES entities (entity_id) ON DELETE CASCADE,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    PRIMARY KEY (doc_id, entity_id, name, type)
) WITHOUT ROWID;
CREATE INDEX entity_names_entity ON entity_names (entity_id);

CREATE VIRTUAL TABLE entity_search USING fts5 (
    normalized, content = 'entities', content_rowid = 'number', tokenize = 'trigram'
);
CREATE TRIGGER entity_added AFTER INSERT ON entities BEGIN
    INSERT INTO entity_search (rowid, normalized) VALUES (new.number, new.normalized);
END;
CREATE TRIGGER entity_removed AFTER DELETE ON entities BEGIN
    INSERT INTO entity_search (entity_search, rowid, normalized)
    VALUES ('delete', old.number, old.normalized);
END;

-- predicate is the wording that most documents use; each evidence keeps its own.
CREATE TABLE facts (
    fact_id TEXT PRIMARY KEY NOT NULL,
    subject_id TEXT NOT NULL REFERENCES entities (entity_id),
    object_id TEXT NOT NULL REFERENCES entities (entity_id),
    predicate TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX facts_subject ON facts (subject_id, fact_id);
CREATE INDEX facts_object ON facts (object_id, fact_id);

CREATE TABLE evidence (
    fact_id TEXT NOT NULL REFERENCES facts ON DELETE CASCADE,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    extractor TEXT NOT NULL,
    chunk_id TEXT NOT NULL REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    confidence REAL NOT NULL,
    predicate TEXT NOT NULL,
    PRIMARY KEY (doc_id, fact_id, start, "end", extractor, chunk_id)
) WITHOUT ROWID;
CREATE INDEX evidence_fact ON evidence (fact_id);
CREATE INDEX evidence_chunk ON evidence (chunk_id);

CREATE TABLE mentions (
    entity_id TEXT NOT NULL REFERENCES entities (entity_id),
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    extractor TEXT NOT NULL,
    chunk_id TEXT NOT NULL REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    confidence REAL NOT NULL,
    PRIMARY KEY (doc_id, entity_id, start, "end", extractor, chunk_id)
) WITHOUT ROWID;
CREATE INDEX mentions_entity ON mentions (entity_id);
CREATE INDEX mentions_chunk ON mentions (chunk_id);

-- Equal texts share one vector: float32, little endian.
CREATE TABLE embeddings (key TEXT PRIMARY KEY NOT NULL, vector BLOB NOT NULL);
CREATE TABLE node_vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('chunk', 'summary', 'document')),
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    key TEXT NOT NULL REFERENCES embeddings (key)
);
CREATE INDEX node_vectors_document ON node_vectors (doc_id, kind);
CREATE INDEX node_vectors_key ON node_vectors (key);

-- What queries in SQL may read (kgrag.store.sqlite.query).
CREATE VIEW kg_documents AS
    SELECT doc_id, title, media_type, characters, text,
           (SELECT min(source) FROM sources s WHERE s.doc_id = d.doc_id) AS file
    FROM documents d;
CREATE VIEW kg_headings AS SELECT doc_id, start, "end", level, text FROM headings;
CREATE VIEW kg_chunks AS
    SELECT chunk_id, doc_id, size, position, start, "end", parent_id, heading_path, text FROM chunks;
CREATE VIEW kg_summaries AS
    SELECT summary_id, doc_id, start, "end", level, source, target_ids, text FROM summaries;
CREATE VIEW kg_entities AS SELECT entity_id, name, normalized, type FROM entities;
CREATE VIEW kg_facts AS
    SELECT f.fact_id, f.subject_id, s.name AS subject, s.type AS subject_type, f.predicate,
           f.object_id, o.name AS object, o.type AS object_type
    FROM facts f
    JOIN entities s ON s.entity_id = f.subject_id
    JOIN entities o ON o.entity_id = f.object_id;
CREATE VIEW kg_evidence AS
    SELECT fact_id, doc_id, chunk_id, start, "end", extractor, confidence FROM evidence;
CREATE VIEW kg_mentions AS
    SELECT m.entity_id, e.name, m.doc_id, m.chunk_id, m.start, m."end", m.extractor, m.confidence
    FROM mentions m JOIN entities e ON e.entity_id = m.entity_id;
