"""The guide: Forge's own deterministic questions, which need no model."""
