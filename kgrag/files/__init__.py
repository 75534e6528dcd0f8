"""Files on disk: encodings, atomic writes, permissions, caches, JSON."""
