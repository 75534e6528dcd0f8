"""Drawings of the graph around an entity."""
