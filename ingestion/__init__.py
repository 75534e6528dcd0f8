"""The write path: files in, documents, chunks, facts and vectors out."""
