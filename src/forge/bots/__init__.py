"""Bots: who they are on disk, how that changes, what is said to them and what they remember."""
