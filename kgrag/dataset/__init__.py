"""Questions with gold made from documents, and samples for training."""
