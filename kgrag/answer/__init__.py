"""The answer as a tree of blocks with citations, and its renderers."""
