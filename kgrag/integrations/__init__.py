"""Adapters for other frameworks; each module needs the framework in its name."""
