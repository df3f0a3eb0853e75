"""Forge turns a conversation into working software, and keeps it honest."""

__version__ = "0.1.0"
