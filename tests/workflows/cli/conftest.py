"""A server that may send requests to its own address, and the `forge` command for it."""

from collections.abc import Iterator

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"), FORGE_HTTP_ALLOW="127.0.0.1")
    running.start()
    yield running
    running.stop()


@pytest.fixture
def forge(server: Server) -> Terminal:
    return Terminal(server.data_dir)
