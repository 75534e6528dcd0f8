"""Rules that read the facts of a policy document: one file a kind, patterns as data."""
