"""`forge chat` and `forge bots sessions`: commands, prompt and output."""
