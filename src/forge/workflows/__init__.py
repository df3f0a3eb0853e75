"""Durable chains of bots, skills, code and HTTP."""
