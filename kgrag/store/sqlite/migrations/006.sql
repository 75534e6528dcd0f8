-- Version 6: what is stored is sealed, so that a bit that flips on the disk is seen. Each part of a
-- document, each setting and each vector has a checksum (kgrag.store.sqlite.seals), which is
-- written with it; those of what is there already are made in this transaction.
CREATE TABLE seals (
    subject TEXT NOT NULL,
    part TEXT NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (subject, part)
) WITHOUT ROWID;
ALTER TABLE embeddings ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE staged_embeddings ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
