"""What changes a knowledge base as a whole: ingest, corrections, copies, repair, problems."""
