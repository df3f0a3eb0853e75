"""Carries a workflow out: what is ready, what is skipped, what is kept."""
