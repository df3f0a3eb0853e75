"""The types and pure functions that the rest of the feature builds on."""
