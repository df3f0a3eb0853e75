"""Messages between bots: sent, delivered through their own pipeline, kept."""
