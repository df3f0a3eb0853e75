"""Memories of bots: facts extracted from conversations, and their search by meaning or by words."""
