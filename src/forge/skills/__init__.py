"""Skills in the Agent Skills format, stored in one library and used by bots."""
