"""What stands on the disk of this machine: encodings, whole and private files, caches, JSON."""
