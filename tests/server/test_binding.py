"""The address Forge listens on."""

import pytest

from forge.server.binding import bind


def test_an_address_that_was_taken_is_nobody_else_s_from_then_on():
    """Forge takes it before it opens its database: whoever comes meanwhile is told so, and does not wait in vain."""
    with bind("127.0.0.1", 0) as first, pytest.raises(OSError, match="in use"):
        bind("127.0.0.1", first.getsockname()[1])
