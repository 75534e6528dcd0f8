"""Statements of policy documents: what grammars read in the spans of a text."""
