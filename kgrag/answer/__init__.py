"""An answer as data: a tree of blocks, each with what it cites, and how it is rendered."""
