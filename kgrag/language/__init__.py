"""The language of policies and of questions: words, numbers, places, titles, sentences."""
