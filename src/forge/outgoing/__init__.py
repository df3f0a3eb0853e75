"""Requests to other servers that somebody else thought of: of skills, of steps."""
