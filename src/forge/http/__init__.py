"""Shared by the routes of all features: response envelope, caller, parameters, WebSocket connections."""
