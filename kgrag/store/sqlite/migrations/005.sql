-- Version 5: what lists of documents need of each, without the pages that hold their texts.
CREATE INDEX documents_cards ON documents
    (doc_id, fingerprint, title, media_type, content_hash, warnings, metadata);
