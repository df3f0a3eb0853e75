"""Conditions and templates: CEL over what a run knows."""
