"""A server stops if its data directory is removed, instead of writing to files without a path."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.timeouts import PATIENCE_S


def remove(path: Path) -> None:
    shutil.rmtree(path)


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace(path: Path) -> None:
    shutil.copytree(path, path.with_name("copy"))
    move(path)
    path.with_name("copy").rename(path)


@pytest.mark.parametrize("remove_data_dir", [remove, move, replace])
def test_server_stops_with_an_error_when_its_data_directory_is_gone(
    start_server: Callable[..., Server], remove_data_dir: Callable[[Path], None]
):
    server = start_server()
    remove_data_dir(server.data_dir)
    assert server.process.wait(timeout=PATIENCE_S) == 3
    assert f"{server.data_dir} was removed, moved or replaced" in server.output
