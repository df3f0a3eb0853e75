"""Backup under load, restore elsewhere: everything goes on from the moment of the backup; on both databases."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from tests.conftest import NewDatabase
from tests.support.chaos import account_for, answer_gates, start_runs, unfinished
from tests.support.postgres import Postgres
from tests.support.server import Server, wait_until
from tests.support.terminal import Terminal
from tests.support.timeouts import PATIENCE_S
from tests.support.unprivileged_user import unprivileged_user

from forge.accounts.vault import Vault
from forge.accounts.vault_key import vault_key_from_file
from forge.backup import postgresql_restore
from forge.backup.replacement import UNFINISHED, UNPACKING
from forge.kernel.lock import DirectoryLock
from forge.store.database import Store

RUNS = 10


class House:
    """The data directory of a Forge, its database where that is elsewhere, and a terminal beside them."""

    def __init__(self, data_dir: Path, store_url: str) -> None:
        self.data_dir = data_dir
        self.store_url = store_url
        self.is_sqlite = store_url.startswith("sqlite")
        self.environment = {} if self.is_sqlite else {"FORGE_DATABASE_URL": store_url}
        self.terminal = Terminal(data_dir, **self.environment)

    @property
    def names(self) -> set[str]:
        return {path.name for path in self.data_dir.iterdir()}

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Returns what it finds."""
        engine = sa.create_engine(self.store_url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:
            found = connection.execute(sa.text(statement))
            rows = [tuple(row) for row in found] if found.returns_rows else []
        engine.dispose()
        return rows

    def vault(self, store: Store) -> Vault:
        return Vault(store, vault_key_from_file(self.data_dir / "vault.key"), environment={})


@pytest.fixture(params=["sqlite", "postgresql"])
def used(request: pytest.FixtureRequest, tmp_path: Path, new_database: NewDatabase) -> House:
    """One that has been used: with a stream of events, a file, and a secret."""
    data_dir = tmp_path / "used"
    house = House(data_dir, new_database(request.param, data_dir))
    data_dir.mkdir(mode=0o700, exist_ok=True)
    (data_dir / "bots").mkdir()
    (data_dir / "bots" / "ada").write_text("Ada")
    house.execute("INSERT INTO event_streams VALUES ('run:1', 7)")

    async def seal() -> None:
        store = Store(house.store_url)
        await house.vault(store).check_key()
        await house.vault(store).set("TOKEN", SecretStr("hunter2-hunter2"), "bot:ada")
        await store.close()

    asyncio.run(seal())
    return house


@pytest.fixture
def empty(used: House, request: pytest.FixtureRequest, tmp_path: Path) -> House:
    """Another machine, with a database of the same kind that has nothing in it."""
    if used.is_sqlite:
        return House(tmp_path / "empty", f"sqlite:///{tmp_path / 'empty' / 'forge.db'}")
    postgres: Postgres = request.getfixturevalue("postgres")
    return House(tmp_path / "empty", postgres.new_database())


@pytest.fixture
def archive(used: House, tmp_path: Path) -> Path:
    path = tmp_path / "backup.tar.gz"
    said = used.terminal("backup", str(path))
    assert said.code == 0, said.err
    return path


@pytest.mark.chaos
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_running_runs_finish_after_a_restore(
    kind: str, request: pytest.FixtureRequest, start_server: Callable[..., Server], tmp_path: Path
):
    given: list[dict[str, str]] = [{}, {}]
    if kind == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        given = [{"FORGE_DATABASE_URL": postgres.new_database()} for _ in given]
    old, new, file = tmp_path / "old", tmp_path / "new", str(tmp_path / "backup.tar.gz")
    server = start_server(old, **given[0])
    key = server.call("POST", "/api/v1/keys", {"name": "mine", "scopes": ["read"]})["key"]
    runs = start_runs(server, range(RUNS), step_ms=300)
    made = Terminal(old, **given[0])("backup", file, "--with-vault-key")
    assert made.code == 0, made.err
    assert unfinished(server) > 0, "the backup was not made under load"
    server.kill()

    restored = Terminal(new, **given[1])("restore", file)
    assert (restored.code, restored.err) == (0, "")
    again = start_server(new, **given[1])
    ended = lambda: answer_gates(again) or unfinished(again) == 0  # noqa: E731
    wait_until(ended, timeout_s=PATIENCE_S, what="the end of all runs")
    account = account_for(again, runs)
    assert account.statuses == {"completed": RUNS}
    # Files are copied after the database: what was done in between is done again, perhaps several steps of it.
    assert (account.wrong_answers, account.gaps, account.out_of_order, account.lost_effects) == (
        [],
        [],
        [],
        0,
    )
    with again.client(Authorization=f"Bearer {key}") as client:
        assert client.get("/api/v1/runs").status_code == 200
    fresh = start_runs(again, range(1))
    wait_until(lambda: answer_gates(again) or unfinished(again) == 0, timeout_s=60)
    assert account_for(again, fresh).statuses == {"completed": 1}


def test_restore_brings_everything_back(used: House, archive: Path, empty: House):
    assert used.terminal("backup", "--verify", str(archive)).code == 0
    said = empty.terminal("restore", str(archive))
    assert said.code == 0, said.err
    assert (empty.data_dir / "bots" / "ada").read_text() == "Ada"
    for table in ("event_streams", "secrets", "alembic_version", "dbos_migrations"):
        where = table if used.is_sqlite or table != "dbos_migrations" else f"dbos.{table}"
        assert empty.execute(f"SELECT * FROM {where}") == used.execute(f"SELECT * FROM {where}")
    assert empty.names == {"bots", "lock"} | ({"forge.db"} if used.is_sqlite else set())


def test_restore_is_rejected_while_forge_is_running(used: House, archive: Path, tmp_path: Path):
    with DirectoryLock(used.data_dir):
        busy = used.terminal("restore", str(archive), "--replace")
    assert (busy.code, "Stop it first" in busy.err) == (6, True)
    if not used.is_sqlite:
        used.execute("INSERT INTO workers VALUES ('w', 'host', 7, now(), now())")
        busy = Terminal(tmp_path / "elsewhere", **used.environment)("restore", str(archive), "--replace")
        assert (busy.code, "Forge works on this database: host:7" in busy.err) == (6, True)


def test_existing_data_is_moved_aside_only_with_replace(used: House, archive: Path):
    (used.data_dir / "bots" / "ada").write_text("a later Ada")
    used.execute("UPDATE event_streams SET last_seq = 8")
    full = used.terminal("restore", str(archive))
    assert (full.code, "not empty" in full.err) == (6, True)

    said = used.terminal("restore", str(archive), "--replace", "--json")
    assert said.code == 0, said.err
    assert said.data["missing_key"] is False, "the key of this machine stays where it is"
    assert (used.data_dir / "bots" / "ada").read_text() == "Ada"
    assert used.execute("SELECT last_seq FROM event_streams") == [(7,)]
    (aside,) = used.data_dir.glob("before-restore-*")
    assert (aside / "bots" / "ada").read_text() == "a later Ada"
    if used.is_sqlite:
        with sqlite3.connect(aside / "forge.db") as old:
            assert old.execute("SELECT last_seq FROM event_streams").fetchall() == [(8,)]
        old.close()
    else:
        schema = aside.name.replace("-", "_")
        assert used.execute(f"SELECT last_seq FROM {schema}.event_streams") == [(8,)]
    assert used.terminal("restore", str(archive), "--replace").code == 0, "once more"


def test_secrets_without_their_key_are_listed_and_can_be_dropped(used: House, archive: Path, empty: House):
    said = empty.terminal("restore", str(archive))
    assert (said.code, "TOKEN of bot:ada" in said.err, "vault.key" in said.err) == (0, True, True)
    shutil.copy(used.data_dir / "vault.key", empty.data_dir / "vault.key")

    async def resolve() -> str:
        store = Store(empty.store_url)
        await empty.vault(store).check_key()
        value = await empty.vault(store).resolve("TOKEN", "bot:ada")
        await store.close()
        return value.get_secret_value()

    assert asyncio.run(resolve()) == "hunter2-hunter2"
    said = empty.terminal("restore", str(archive), "--replace", "--without-secrets")
    assert (said.code, said.err) == (0, "")
    assert empty.execute("SELECT * FROM secrets") == []


def test_newer_schema_is_rejected_without_changes(used: House, empty: House, tmp_path: Path):
    used.execute("UPDATE alembic_version SET version_num = '9999'")
    file = str(tmp_path / "newer.tar.gz")
    assert used.terminal("backup", file).code == 0
    said = empty.terminal("restore", file)
    assert (said.code, "created by a newer Forge" in said.err) == (2, True)
    assert empty.names == {"lock"}


def test_backup_cannot_be_restored_into_another_kind_of_database(used: House, archive: Path, tmp_path: Path):
    other = Terminal(tmp_path / "other") if not used.is_sqlite else None
    if other is None:
        return
    said = other("restore", str(archive))
    assert (said.code, "The backup is for postgresql, but the settings use sqlite." in said.err) == (2, True)


def test_backup_does_not_overwrite_files_or_use_the_data_directory(used: House, archive: Path):
    again = used.terminal("backup", str(archive))
    assert (again.code, "already exists" in again.err) == (6, True)
    inside = used.terminal("backup", str(used.data_dir / "backup.tar.gz"))
    assert (inside.code, "is in the data directory" in inside.err) == (2, True)


@pytest.mark.parametrize("instant", ["make_engine_tables", "upgrade", "_fill"])
def test_killed_restore_into_postgresql_can_be_repeated(
    instant: str, new_database: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    house = House(tmp_path / "data", new_database("postgresql", tmp_path))
    house.data_dir.mkdir(mode=0o700)
    house.execute("INSERT INTO event_streams VALUES ('run:1', 7)")
    file = str(tmp_path / "backup.tar.gz")
    assert house.terminal("backup", file).code == 0
    house.execute("UPDATE event_streams SET last_seq = 8")
    with monkeypatch.context() as patching:
        patching.setattr(postgresql_restore, instant, _kill)
        with pytest.raises(Killed):
            house.terminal("restore", file, "--replace")
    elsewhere = Terminal(tmp_path / "elsewhere", **house.environment)
    for terminal in (house.terminal, elsewhere):
        said = terminal("serve", "--port", "0")
        assert (said.code, "did not finish" in said.err) == (2, True)
    said = house.terminal("restore", file)
    assert said.code == 0, said.err
    assert house.execute("SELECT last_seq FROM event_streams") == [(7,)]
    ((schema,),) = house.execute(
        "SELECT nspname FROM pg_namespace WHERE nspname ~ '^before_restore_.*[0-9]$'"
    )
    assert house.execute(f"SELECT last_seq FROM {schema}.event_streams") == [(8,)]


def _kill(*_: object) -> None:
    raise Killed


def test_killed_restore_is_reported_and_finished_by_the_next_one(
    new_database: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Killed at each instant where something is put in place."""
    old, archive = (
        House(tmp_path / "old", new_database("sqlite", tmp_path / "old")),
        tmp_path / "backup.tar.gz",
    )
    old.execute("INSERT INTO event_streams VALUES ('run:1', 7)")
    assert old.terminal("backup", str(archive)).code == 0
    (old.data_dir / "mine").write_text("of the old one")
    instant = 0
    is_over = False
    while not is_over:
        instant += 1
        copy = tmp_path / f"copy-{instant}"
        shutil.copytree(old.data_dir, copy)
        is_over = _killed_after(instant, copy, archive, monkeypatch)
        assert {path.name for path in copy.rglob("*")} >= {"forge.db", "mine"}, f"lost at instant {instant}"
        if (copy / UNFINISHED).exists():
            said = Terminal(copy)("serve", "--port", "0")
            assert (said.code, "did not finish" in said.err) == (2, True)
            assert Terminal(copy)("restore", str(archive)).code == 0
            assert not (copy / UNFINISHED).exists()
            assert next(copy.glob("before-restore-*/mine")).read_text() == "of the old one"
            found = House(copy, f"sqlite:///{copy / 'forge.db'}").execute(
                "SELECT last_seq FROM event_streams"
            )
            assert found == [(7,)]
    assert instant > 5


def test_killed_restore_with_unreadable_folders_can_be_repeated(
    new_database: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Modes are set before anything is put in place, and what is in a read-only folder cannot simply be removed."""
    old, packed = (
        House(tmp_path / "old", new_database("sqlite", tmp_path / "old")),
        tmp_path / "backup.tar.gz",
    )
    _make_closed(old.data_dir / "workspaces")
    assert old.terminal("backup", str(packed)).code == 0
    whole = packed.read_bytes()
    with unprivileged_user() as home:
        archive = home / packed.name
        archive.write_bytes(whole)
        instant = 0
        is_over = False
        while not is_over:
            instant += 1
            place = home / f"place-{instant}"
            _make_closed(place / UNPACKING / "data")
            is_over = _killed_after(instant, place, archive, monkeypatch)
            if not is_over:
                said = Terminal(place)("restore", str(archive), "--replace")
                assert said.code == 0, said.err
            assert (place / "workspaces" / "closed" / "file").read_text() == "in it"
            assert not (place / UNPACKING).exists()
        assert instant > 3


def _make_closed(folder: Path) -> None:
    (folder / "closed").mkdir(parents=True)
    (folder / "closed" / "file").write_text("in it")
    (folder / "closed").chmod(0o555)


class Killed(BaseException):
    """Stands for the kill: nothing of ours catches it, and what would tidy up is not asked."""


def _killed_after(instant: int, data_dir: Path, archive: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether it came to its end before."""
    left = instant

    def count(whole: Callable[..., object]) -> Callable[..., object]:
        def counting(*args: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left <= 0:
                raise Killed
            return whole(*args, **options)

        return counting

    with monkeypatch.context() as patching:
        patching.setattr(Path, "rename", count(Path.rename))
        patching.setattr(Path, "replace", count(Path.replace))
        patching.setattr(Path, "unlink", count(Path.unlink))
        try:
            Terminal(data_dir)("restore", str(archive), "--replace")
        except Killed:
            return False
    return True
