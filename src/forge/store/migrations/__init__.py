"""Schema migrations, one file per change, applied in order at startup."""
