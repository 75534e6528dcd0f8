-- Version 4: the facts around an entity are read from one place. Their rows lie all over the table,
-- by the hash that is their id.
DROP INDEX facts_subject;
CREATE INDEX facts_subject ON facts (subject_id, fact_id, object_id, predicate);
DROP INDEX facts_object;
CREATE INDEX facts_object ON facts (object_id, fact_id, subject_id, predicate);
