"""The embedded store: SQLite, with search caches that follow it."""
