"""Find credentials in text."""
