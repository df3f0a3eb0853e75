"""Bots: their files and versions, conversations, memories and MCP server."""
