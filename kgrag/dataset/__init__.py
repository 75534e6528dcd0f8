"""Generate questions with gold from a knowledge base, and training samples."""
