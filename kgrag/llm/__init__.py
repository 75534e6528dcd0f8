"""Chat models: any OpenAI-compatible endpoint, with cache, limits, retries and a ledger."""
