"""The front end: one normal form, segments, typed spans and terms of a text."""
