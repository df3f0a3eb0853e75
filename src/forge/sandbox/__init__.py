"""Runs commands isolated and with resource limits, without a shell."""
