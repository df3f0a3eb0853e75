"""Workflow definitions: models, reading, validation and writing."""
