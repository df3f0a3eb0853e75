"""An interview at a terminal: who answers, how it looks, and what is asked of the server."""
