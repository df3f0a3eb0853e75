"""The standard tools of agents."""
