"""Text analysis: words, numbers, dates, places, organs, titles and terms."""
