"""The HTTP and WebSocket API: application, middleware, error responses, and the web app's files."""
