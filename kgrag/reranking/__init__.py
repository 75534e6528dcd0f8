"""Cross-encoders, which score passages for a question."""
