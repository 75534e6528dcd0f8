"""Vector search: exact, or by codes and then exact, over segments on disk."""
