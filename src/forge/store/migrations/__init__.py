"""The history of the schema; one file per change, applied in order at the start."""
