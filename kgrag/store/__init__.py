"""Where knowledge bases are kept."""
