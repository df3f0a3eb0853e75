"""GitHub: its API, signing in, and the accounts connected to it."""
