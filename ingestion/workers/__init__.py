"""Reading files in processes that can be ended: a file that hangs or is greedy fails alone."""
