"""Vector search over segments on disk: exact, or by codes and then exact."""
