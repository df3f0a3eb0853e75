"""Small shared things with no opinion: ids, the clock, hashing."""
