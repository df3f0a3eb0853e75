"""History of a workspace in a git directory of its own."""
