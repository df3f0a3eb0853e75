"""Performance of Forge, always compared with a peer or a lower bound measured at the same time on the same machine."""
