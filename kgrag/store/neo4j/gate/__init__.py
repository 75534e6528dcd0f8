"""What Cypher of others must pass: how it is understood, what is planned, what comes back."""
