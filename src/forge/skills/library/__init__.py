"""The library of skills on disk."""
