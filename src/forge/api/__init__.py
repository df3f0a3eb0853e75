"""HTTP and WebSocket: the application, who may call it, how errors look, and the web pages it serves."""
