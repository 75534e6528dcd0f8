"""Operations on a whole knowledge base: ingest, corrections, copies, repair, problems."""
