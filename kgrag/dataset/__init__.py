"""Questions with gold made of the documents of a knowledge base, and samples to train on."""
