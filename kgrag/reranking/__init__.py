"""Cross-encoders: relevance scores of question-passage pairs."""
