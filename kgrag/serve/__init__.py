"""A knowledge base for the browser and for other programs: pages, HTTP API."""
