"""Requests of skills and workflow steps to other servers."""
