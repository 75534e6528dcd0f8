"""OpenAI-compatible endpoints, of chat models and of encoders: where they are, how they fail."""
