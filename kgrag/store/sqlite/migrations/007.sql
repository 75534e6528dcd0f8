-- Version 7: documents carry typed metadata and the id of their node in the graph, evidence carries
-- qualifiers, and what a person decided is kept. What files say of a document are its properties from now on.
-- Old rows get what says nothing ('{}', ''), of which seals know nothing: theirs go on fitting, and
-- damage that was there is seen as before.
ALTER TABLE documents RENAME COLUMN metadata TO properties;
ALTER TABLE documents ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
ALTER TABLE documents ADD COLUMN node_id TEXT NOT NULL DEFAULT '';
DROP INDEX documents_cards;
CREATE INDEX documents_cards ON documents
    (doc_id, fingerprint, title, media_type, content_hash, warnings, properties, metadata, node_id);
CREATE INDEX documents_node ON documents (node_id);

-- Two statements at one place may differ in their qualifiers alone: 2025年和2030年均达到20%. SQLite
-- 3.40 finds fault with a table whose key has columns behind others, so they come first.
DROP VIEW kg_evidence;
DROP VIEW kg_mentions;
CREATE TABLE evidence_2 (
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
INSERT INTO evidence_2
    SELECT fact_id, doc_id, start, "end", extractor, chunk_id, '{}', confidence, predicate
    FROM evidence;
DROP TABLE evidence;
ALTER TABLE evidence_2 RENAME TO evidence;
CREATE INDEX evidence_fact ON evidence (fact_id);
CREATE INDEX evidence_chunk ON evidence (chunk_id);
CREATE TABLE mentions_2 (
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
INSERT INTO mentions_2
    SELECT entity_id, doc_id, start, "end", extractor, chunk_id, '{}', confidence FROM mentions;
DROP TABLE mentions;
ALTER TABLE mentions_2 RENAME TO mentions;
CREATE INDEX mentions_entity ON mentions (entity_id);
CREATE INDEX mentions_chunk ON mentions (chunk_id);

-- The name that most documents use may be another one: an organ has aliases.
CREATE TRIGGER entity_renamed AFTER UPDATE OF normalized ON entities BEGIN
    INSERT INTO entity_search (entity_search, rowid, normalized)
    VALUES ('delete', old.number, old.normalized);
    INSERT INTO entity_search (rowid, normalized) VALUES (new.number, new.normalized);
END;

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

DROP VIEW kg_documents;
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
