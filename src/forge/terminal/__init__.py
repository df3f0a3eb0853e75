"""Shared by the `cli.py` of all features: locate the server, call it, and print its responses."""
