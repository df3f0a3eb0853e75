"""The address Forge listens on."""

import pytest

from forge.server.listen_socket import open_listener


def test_listening_socket_reserves_the_address():
    """Forge binds the address before it opens the database; early connections are rejected instead of left waiting."""
    with open_listener("127.0.0.1", 0) as first, pytest.raises(OSError, match="in use"):
        open_listener("127.0.0.1", first.getsockname()[1])
