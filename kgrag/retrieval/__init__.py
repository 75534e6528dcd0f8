"""The read path: from a question to the chunks that it is answered from."""
