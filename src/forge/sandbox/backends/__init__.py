"""Isolation backends: bubblewrap, Landlock, Seatbelt and plain processes."""
