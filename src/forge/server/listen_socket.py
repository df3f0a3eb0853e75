"""Open the listening socket: to serve, or briefly to check that the port is free."""

import socket


def open_listener(host: str, port: int) -> socket.socket:
    """Raise OSError when the address is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # until then another process can bind the same address
    except OSError:
        listener.close()
        raise
    return listener
