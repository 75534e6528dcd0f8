"""Search among vectors: exact, or by codes and then exact, over segments on the disk."""
