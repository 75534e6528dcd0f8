"""Cross-encoders: a question and passages in, how well each answers it out."""
