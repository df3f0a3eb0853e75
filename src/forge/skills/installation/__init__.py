"""Fetch skills, stage them for review, and install them."""
