"""Agents: a loop of model calls and tool calls, each a durable step of a run."""
