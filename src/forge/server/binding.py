"""Takes the address Forge listens on: for good when it serves, for a moment when the doctor looks."""

import socket


def bind(host: str, port: int) -> socket.socket:
    """Raises OSError when it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # only who listens has it: until then another process may bind the same
    except OSError:
        listener.close()
        raise
    return listener
