"""Question answering: read the question, retrieve, write, check, retry."""
