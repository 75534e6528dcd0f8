"""A question as rules read it, once: what it asks for, of what, of when and where."""
