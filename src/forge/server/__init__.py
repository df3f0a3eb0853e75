"""Forge as a process: serving, working, and looking after itself."""
