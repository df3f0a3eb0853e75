"""Fixtures for all tests. Tests that need a database run on both."""

import asyncio
import gc
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from tests.support.engine import open_engine
from tests.support.live_forge import Live, live, settings_for
from tests.support.models import ModelServer, StartModels, open_models
from tests.support.postgres import Postgres
from tests.support.server import Server
from xdist import is_xdist_worker

from forge.store.database import Store
from forge.store.schema import migrate

NewDatabase = Callable[[str, Path], str]
LONG = ("chaos", "browser")

# How long an example takes says more about the machine than about the code.
hypothesis_settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("patient")


pytest_plugins = ["tests.support.selection"]


def pytest_configure() -> None:
    os.umask(0o022)  # tests check file permissions, starting from the usual default
    # A background job ignores SIGINT, and commands that tests interrupt would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """Return three workers per processor, because tests mostly wait for servers, browsers and processes."""
    return (os.cpu_count() or 1) * 3


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Start long tests first when several workers run, so that none runs alone at the end."""
    if is_xdist_worker(session):
        items.sort(key=lambda item: not any(map(item.get_closest_marker, LONG)))


def pytest_collection_finish() -> None:
    gc.freeze()  # exclude thousands of tests and their modules from garbage collection


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Clean up reports of workers: a test can print text that cannot be encoded."""
    return _encodable((yield))


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case dict():
            return {_encodable(key): _encodable(each) for key, each in value.items()}
        case list() | tuple():
            return type(value)(map(_encodable, value))
        case _:
            return value


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database to copy, which is much faster than a migration per test."""
    path = tmp_path_factory.mktemp("template") / "forge.db"
    asyncio.run(prepare(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres: Postgres) -> str:
    url = postgres.new_database()
    asyncio.run(prepare(url))
    return str(Store(url).url.database)


async def prepare(url: str) -> None:
    """Create all tables, including those of the run engine."""
    store = Store(url)
    await migrate(store)
    async with open_engine(store):
        pass
    await store.close()


@pytest.fixture
def new_database(request: pytest.FixtureRequest) -> NewDatabase:
    """Create databases of a kind with empty tables and return their URLs; SQLite databases are in the folder."""

    def make(kind: str, folder: Path) -> str:
        if kind == "postgresql":
            postgres: Postgres = request.getfixturevalue("postgres")
            return postgres.new_database(request.getfixturevalue("postgres_template"))
        folder.mkdir(mode=0o700, exist_ok=True)
        copy = shutil.copy(request.getfixturevalue("sqlite_template"), folder / "forge.db")
        return f"sqlite:///{copy}"

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path, new_database: NewDatabase) -> str:
    """The database for the data directory `tmp_path / "data"`."""
    return new_database(request.param, tmp_path / "data")


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path, new_database: NewDatabase) -> str:
    return new_database(request.param, tmp_path)


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    """A migrated database; tests that use it run on both kinds."""
    store = Store(store_url)
    await migrate(store)
    yield store
    await store.close()


@pytest.fixture
async def live_forge(database_url: str, tmp_path: Path) -> AsyncIterator[Live]:
    """Forge in the test process, on both databases."""
    async with live(settings_for(tmp_path / "data", database_url)) as running:
        yield running


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers with their own settings, and stop them at the end."""
    started: list[Server] = []

    def start(data_dir: Path | None = None, **environment: str) -> Server:
        server = Server(data_dir or tmp_path / "data", **environment)
        server.start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running server shared by the tests of a file."""
    running = Server(tmp_path_factory.mktemp("server"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def model_server() -> Iterator[StartModels]:
    """Start scripted model servers, and stop them at the end."""
    with ExitStack() as stack:

        def start(script: Any = None, **options: Any) -> ModelServer:
            return stack.enter_context(open_models(script, **options))

        yield start
