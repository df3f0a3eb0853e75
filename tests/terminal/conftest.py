"""Terminals with and without a local server, and a stub server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.stub_server import StubServer, open_stub_server
from tests.support.terminal import Terminal


@pytest.fixture
def forge(server: Server) -> Terminal:
    """A terminal on the machine of the server."""
    return Terminal(server.data_dir)


@pytest.fixture
def remote(tmp_path: Path) -> Terminal:
    """A terminal on a machine without a server."""
    return Terminal(tmp_path / "elsewhere")


@pytest.fixture
def stub_server() -> Iterator[StubServer]:
    with open_stub_server() as server:
        yield server
