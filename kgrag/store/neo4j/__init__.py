"""The server store: a Neo4j database, opened by every tool that speaks Cypher."""
