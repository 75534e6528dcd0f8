"""The order of asking: read the question, retrieve, answer, check, ask again."""
