"""Triggers: schedules, webhooks, events and file changes that start workflows."""
