"""Whether an answer may stand: offline checks, and loops in which a model verifies it."""
