"""Reading files in separate processes with limits of time and memory."""
