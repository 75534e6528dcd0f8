"""Complete tables of what documents state (targets, duties, references), with their sources."""
