"""Accounts and secrets: owner, login links, sessions, API keys, the vault."""
