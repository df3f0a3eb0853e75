"""Configure real logging in a temporary directory, and restore it afterwards."""

import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from forge.telemetry import Logs, configure_logs

Entry = dict[str, Any]


@pytest.fixture
def stderr() -> StringIO:
    """The stream for readable log lines; the stderr of capsys does not persist from setup to test."""
    return StringIO()


@pytest.fixture
def logs(tmp_path: Path, stderr: StringIO) -> Iterator[Logs]:
    with redirect_stderr(stderr):
        logs = configure_logs(tmp_path, "info", terminal=False)
    yield logs
    logs.close()


@pytest.fixture
def read_entries(tmp_path: Path) -> Callable[..., list[Entry]]:
    """Read a log file of this test."""

    def read(name: str = "forge.log") -> list[Entry]:
        lines = (tmp_path / "logs" / name).read_text().split("\n")
        return [json.loads(line) for line in lines if line]

    return read


@pytest.fixture
def entries(logs: Logs, read_entries: Callable[..., list[Entry]]) -> Callable[[], list[Entry]]:
    """Stop logging and read the entries."""

    def read() -> list[Entry]:
        logs.close()
        return read_entries()

    return read
