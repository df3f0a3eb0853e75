"""Skills in prompts: what a model sees of them, and the tools to read them."""
