"""A page that draws the graph around an entity."""
