"""The graph around an entity as a page that draws itself."""
