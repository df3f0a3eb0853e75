"""Messages between bots: channels, delivery and replies."""
