"""A terminal beside the server of the file, and one beside nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.stub_server import StubServer, open_stub_server
from tests.support.terminal import Terminal


@pytest.fixture
def forge(server: Server) -> Terminal:
    """On the machine of the server, as its user."""
    return Terminal(server.data_dir)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Terminal:
    """On a machine where no Forge runs."""
    return Terminal(tmp_path / "elsewhere")


@pytest.fixture
def odd_server() -> Iterator[StubServer]:
    with open_stub_server() as odd:
        yield odd
