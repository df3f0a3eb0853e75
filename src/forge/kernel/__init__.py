"""Small shared utilities: ids, clock, hashing, locks, text."""
