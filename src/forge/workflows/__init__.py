"""Workflows: durable graphs of bots, skills, code and HTTP requests."""
