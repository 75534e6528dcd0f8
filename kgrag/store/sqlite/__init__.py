"""The embedded store: SQLite with search indexes as caches."""
