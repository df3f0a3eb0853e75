"""How long tests wait for events."""

PATIENCE_S = 240
"""Long enough for a machine under heavy load, and below pytest's timeout, so that the assertion fails with its message."""
