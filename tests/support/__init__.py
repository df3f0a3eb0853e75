"""Shared test helpers: PostgreSQL, Forge server processes, scripted models and HTTP clients."""
