"""Conversations with a bot: sessions, turns as durable runs, what a model is sent."""
