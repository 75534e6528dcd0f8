"""The front end: text, of documents and of questions, read once into typed spans."""
