"""Files: encodings, atomic and private files, caches, JSON."""
