"""A server that allows skills from one folder, and the `forge` command for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder that the server may install skills from."""
    return tmp_path_factory.mktemp("roots")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, roots: Path) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"), FORGE_SKILL_ROOTS=str(roots))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def forge(server: Server) -> Terminal:
    return Terminal(server.data_dir)
