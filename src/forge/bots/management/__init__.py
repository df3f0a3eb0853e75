"""Create, find, change and delete bots."""
