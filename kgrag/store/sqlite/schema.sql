-- Version 8 of the knowledge base. Texts are UTF-8, offsets count characters, ids are kgrag.ids'.
--
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

-- Documents: their typed metadata, what files say of them (properties), and the id of their node in
-- the graph. What lists need of each is read from an index, without the pages that hold the texts.
CREATE TABLE documents (
    doc_id TEXT PRIMARY KEY NOT NULL,
    title TEXT NOT NULL,
    normalized_title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    characters INTEGER NOT NULL,
    warnings TEXT NOT NULL,
    properties TEXT NOT NULL,
    segments TEXT NOT NULL,
    text TEXT NOT NULL
    , metadata TEXT NOT NULL DEFAULT '{}', node_id TEXT NOT NULL DEFAULT '');
CREATE INDEX documents_title ON documents (normalized_title, doc_id);
CREATE INDEX documents_cards ON documents
    (doc_id, fingerprint, title, media_type, content_hash, warnings, properties, metadata, node_id);
CREATE INDEX documents_node ON documents (node_id);

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

-- The name that most documents use may be another one: an organ has aliases.
CREATE TRIGGER entity_renamed AFTER UPDATE OF normalized ON entities BEGIN
    INSERT INTO entity_search (entity_search, rowid, normalized)
    VALUES ('delete', old.number, old.normalized);
    INSERT INTO entity_search (rowid, normalized) VALUES (new.number, new.normalized);
END;

-- predicate is the wording that most documents use; each evidence keeps its own. Facts around an
-- entity are read from an index: their rows lie all over the table, by the hash that is their id.
CREATE TABLE facts (
    fact_id TEXT PRIMARY KEY NOT NULL,
    subject_id TEXT NOT NULL REFERENCES entities (entity_id),
    object_id TEXT NOT NULL REFERENCES entities (entity_id),
    predicate TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX facts_subject ON facts (subject_id, fact_id, object_id, predicate);
CREATE INDEX facts_object ON facts (object_id, fact_id, subject_id, predicate);

-- Two statements at one place may differ in their qualifiers alone: 2025年和2030年均达到20%. SQLite
-- 3.40 finds fault with a table whose key has columns behind others, so they come first.
CREATE TABLE evidence (
    fact_id TEXT NOT NULL REFERENCES facts ON DELETE CASCADE,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    extractor TEXT NOT NULL,
    chunk_id TEXT NOT NULL REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    qualifiers TEXT NOT NULL DEFAULT '{}',
    confidence REAL NOT NULL,
    predicate TEXT NOT NULL,
    PRIMARY KEY (doc_id, fact_id, start, "end", extractor, chunk_id, qualifiers)
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
    qualifiers TEXT NOT NULL DEFAULT '{}',
    confidence REAL NOT NULL,
    PRIMARY KEY (doc_id, entity_id, start, "end", extractor, chunk_id, qualifiers)
) WITHOUT ROWID;
CREATE INDEX mentions_entity ON mentions (entity_id);
CREATE INDEX mentions_chunk ON mentions (chunk_id);

-- Equal texts share one vector: float32, little endian, with its checksum. A fact has one for each
-- document that states it, of the words of that document, so that a vector goes with its document.
CREATE TABLE embeddings (key TEXT PRIMARY KEY NOT NULL, vector BLOB NOT NULL, seal INTEGER NOT NULL DEFAULT 0);
CREATE TABLE node_vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('chunk', 'summary', 'document', 'fact')),
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    key TEXT NOT NULL REFERENCES embeddings (key),
    UNIQUE (node_id, doc_id)
);
CREATE INDEX node_vectors_document ON node_vectors (doc_id, kind);
CREATE INDEX node_vectors_key ON node_vectors (key);

-- Vectors of another encoder are staged beside those in use until every document has them; then
-- they take their place in one transaction. What they are of stands in `state`. A document that changes
-- is staged no more: its row goes, and its nodes with it.
CREATE TABLE staged_embeddings (key TEXT PRIMARY KEY NOT NULL, vector BLOB NOT NULL, seal INTEGER NOT NULL DEFAULT 0);
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

-- Each part of a document and each setting has a checksum (kgrag.store.sqlite.seals), which is
-- written with it, so that a bit that flips on the disk is seen.
CREATE TABLE seals (
    subject TEXT NOT NULL,
    part TEXT NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (subject, part)
) WITHOUT ROWID;

-- What a person decided. It refers to nothing, so that it outlives a deletion.
CREATE TABLE corrections (
    doc_id TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (doc_id, field)
) WITHOUT ROWID;
CREATE TABLE decisions (
    kind TEXT NOT NULL CHECK (kind IN ('merge', 'split')),
    name TEXT NOT NULL,
    into_name TEXT NOT NULL,
    PRIMARY KEY (kind, name, into_name)
) WITHOUT ROWID;

-- What queries in SQL may read (kgrag.store.sqlite.query).
CREATE VIEW kg_documents AS
    SELECT doc_id, title, media_type, characters, text,
           (SELECT min(source) FROM sources s WHERE s.doc_id = d.doc_id) AS file,
           json_extract(metadata, '$.issuers[0]') AS issuer,
           (SELECT group_concat(value, '、') FROM json_each(d.metadata, '$.issuers')) AS issuers,
           json_extract(metadata, '$.number') AS number,
           json_extract(metadata, '$.written') AS written,
           json_extract(metadata, '$.issued') AS issued,
           json_extract(metadata, '$.effective') AS effective,
           json_extract(metadata, '$.expires') AS expires,
           json_extract(metadata, '$.kind') AS kind,
           json_extract(metadata, '$.level') AS level,
           json_extract(metadata, '$.regions[0]') AS region,
           (SELECT group_concat(value, '、') FROM json_each(d.metadata, '$.regions')) AS regions,
           (SELECT group_concat(value, '、') FROM json_each(d.metadata, '$.recipients'))
               AS recipients,
           (SELECT group_concat(value, '、') FROM json_each(d.metadata, '$.status')) AS status,
           json_extract(metadata, '$.notice') AS notice,
           CAST(substr(coalesce(json_extract(metadata, '$.issued'),
               json_extract(metadata, '$.written')), 1, 4) AS INTEGER) AS year
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
    SELECT fact_id, doc_id, chunk_id, start, "end", extractor, confidence, qualifiers
    FROM evidence;
CREATE VIEW kg_mentions AS
    SELECT m.entity_id, e.name, m.doc_id, m.chunk_id, m.start, m."end", m.extractor, m.confidence
    FROM mentions m JOIN entities e ON e.entity_id = m.entity_id;

-- What documents state with qualifiers, a row for each place: one that lies over several chunks has
-- evidence in each, and is shown with the first.
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
CREATE VIEW kg_duties AS
    SELECT e.doc_id, e.fact_id, s.name AS organ,
           coalesce(json_extract(e.qualifiers, '$.role'), e.predicate) AS role, o.name AS task,
           json_extract(e.qualifiers, '$.deadline') AS deadline,
           CAST(json_extract(e.qualifiers, '$.year') AS INTEGER) AS year,
           json_extract(e.qualifiers, '$.region') AS region,
           json_extract(e.qualifiers, '$.condition') AS condition,
           e.start, e."end", min(e.chunk_id) AS chunk_id, e.extractor, e.confidence
    FROM evidence e
    JOIN facts f ON f.fact_id = e.fact_id
    JOIN entities s ON s.entity_id = f.subject_id
    JOIN entities o ON o.entity_id = f.object_id
    WHERE json_extract(e.qualifiers, '$.kind') = 'duty'
    GROUP BY e.doc_id, e.fact_id, e.start, e."end", e.extractor, e.qualifiers;
CREATE VIEW kg_references AS
    SELECT e.doc_id, e.fact_id, coalesce(json_extract(e.qualifiers, '$.role'), e.predicate) AS role,
           coalesce(json_extract(e.qualifiers, '$.object'), o.name) AS title,
           json_extract(e.qualifiers, '$.number') AS number,
           (SELECT min(d.doc_id) FROM documents d
            WHERE d.node_id = f.object_id AND d.node_id <> '') AS cited_doc_id,
           json_extract(e.qualifiers, '$.match') AS match,
           e.start, e."end", min(e.chunk_id) AS chunk_id, e.extractor, e.confidence
    FROM evidence e
    JOIN facts f ON f.fact_id = e.fact_id
    JOIN entities o ON o.entity_id = f.object_id
    WHERE json_extract(e.qualifiers, '$.kind') = 'reference'
    GROUP BY e.doc_id, e.fact_id, e.start, e."end", e.extractor, e.qualifiers;
CREATE VIEW kg_conditions AS
    SELECT e.doc_id, e.fact_id, s.name AS subject, e.predicate, o.name AS object,
           CAST(json_extract(e.qualifiers, '$.value') AS NUMERIC) AS value,
           CAST(json_extract(e.qualifiers, '$.value_to') AS NUMERIC) AS value_to,
           json_extract(e.qualifiers, '$.unit') AS unit,
           json_extract(e.qualifiers, '$.comparator') AS comparator,
           CAST(json_extract(e.qualifiers, '$.year') AS INTEGER) AS year,
           json_extract(e.qualifiers, '$.period') AS period,
           json_extract(e.qualifiers, '$.region') AS region,
           json_extract(e.qualifiers, '$.scope') AS scope,
           json_extract(e.qualifiers, '$.condition') AS condition,
           json_extract(e.qualifiers, '$.deadline') AS deadline,
           e.start, e."end", min(e.chunk_id) AS chunk_id, e.extractor, e.confidence
    FROM evidence e
    JOIN facts f ON f.fact_id = e.fact_id
    JOIN entities s ON s.entity_id = f.subject_id
    JOIN entities o ON o.entity_id = f.object_id
    WHERE json_extract(e.qualifiers, '$.kind') = 'condition'
    GROUP BY e.doc_id, e.fact_id, e.start, e."end", e.extractor, e.qualifiers;
CREATE VIEW kg_definitions AS
    SELECT e.doc_id, e.fact_id, s.name AS term, e.predicate, o.name AS meaning,
           e.start, e."end", min(e.chunk_id) AS chunk_id, e.extractor, e.confidence
    FROM evidence e
    JOIN facts f ON f.fact_id = e.fact_id
    JOIN entities s ON s.entity_id = f.subject_id
    JOIN entities o ON o.entity_id = f.object_id
    WHERE json_extract(e.qualifiers, '$.kind') = 'definition'
    GROUP BY e.doc_id, e.fact_id, e.start, e."end", e.extractor, e.qualifiers;
