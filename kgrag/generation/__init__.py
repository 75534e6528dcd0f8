"""From retrieved chunks to an answer with citations."""
