"""Cypher statements as named text; no logic."""
