"""Backup under load and restore on another machine, on both databases."""

import asyncio
import io
import json
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from tests.conftest import NewDatabase
from tests.support.chaos import answer_gates, collect_report, start_runs, unfinished
from tests.support.postgres import Postgres
from tests.support.server import Server, wait_until
from tests.support.terminal import Terminal
from tests.support.timeouts import PATIENCE_S
from tests.support.unprivileged_user import unprivileged_user

from forge.accounts.models import owner_id
from forge.accounts.vault import Vault
from forge.accounts.vault_key import vault_key_from_file
from forge.backup import postgresql_restore
from forge.backup.replacement import UNFINISHED, UNPACKING
from forge.kernel.lock import DirectoryLock
from forge.store.database import Store

RUNS = 10


class Installation:
    """A data directory with its database and a terminal."""

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
        """Execute a statement and return its rows."""
        engine = sa.create_engine(self.store_url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:
            rows = connection.execute(sa.text(statement))
            rows = [tuple(row) for row in rows] if rows.returns_rows else []
        engine.dispose()
        return rows

    def vault(self, store: Store) -> Vault:
        return Vault(store, vault_key_from_file(self.data_dir / "vault.key"), environment={})


@pytest.fixture(params=["sqlite", "postgresql"])
def source(request: pytest.FixtureRequest, tmp_path: Path, new_database: NewDatabase) -> Installation:
    """An installation with an event stream, a file and a secret."""
    data_dir = tmp_path / "used"
    installation = Installation(data_dir, new_database(request.param, data_dir))
    data_dir.mkdir(mode=0o700, exist_ok=True)
    (data_dir / "bots").mkdir()
    (data_dir / "bots" / "ada").write_text("Ada")
    installation.execute("INSERT INTO event_streams VALUES ('run:1', 7)")

    async def set_secret() -> None:
        store = Store(installation.store_url)
        await installation.vault(store).check_key()
        await installation.vault(store).of(owner_id()).set("TOKEN", SecretStr("hunter2-hunter2"), "bot:ada")
        await store.close()

    asyncio.run(set_secret())
    return installation


@pytest.fixture
def target(source: Installation, request: pytest.FixtureRequest, tmp_path: Path) -> Installation:
    """A new installation with an empty database of the same kind."""
    if source.is_sqlite:
        return Installation(tmp_path / "empty", f"sqlite:///{tmp_path / 'empty' / 'forge.db'}")
    postgres: Postgres = request.getfixturevalue("postgres")
    return Installation(tmp_path / "empty", postgres.new_database())


@pytest.fixture
def archive(source: Installation, tmp_path: Path) -> Path:
    path = tmp_path / "backup.tar.gz"
    result = source.terminal("backup", str(path))
    assert result.code == 0, result.err
    return path


@pytest.mark.chaos
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_running_runs_finish_after_a_restore(
    kind: str, request: pytest.FixtureRequest, start_server: Callable[..., Server], tmp_path: Path
):
    environments: list[dict[str, str]] = [{}, {}]
    if kind == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        environments = [{"FORGE_DATABASE_URL": postgres.new_database()} for _ in environments]
    source, target_dir, file = tmp_path / "old", tmp_path / "new", str(tmp_path / "backup.tar.gz")
    server = start_server(source, **environments[0])
    key = server.call("POST", "/api/v1/keys", {"name": "mine", "scopes": ["read"]})["key"]
    runs = start_runs(server, range(RUNS), step_ms=300)
    backup = Terminal(source, **environments[0])("backup", file, "--with-vault-key")
    assert backup.code == 0, backup.err
    assert unfinished(server) > 0, "the backup was not made under load"
    server.kill()

    restored = Terminal(target_dir, **environments[1])("restore", file, "--trust")
    assert (restored.code, restored.err) == (0, "")
    restored_server = start_server(target_dir, **environments[1])
    finish_runs = lambda: answer_gates(restored_server) or unfinished(restored_server) == 0  # noqa: E731
    wait_until(finish_runs, timeout_s=PATIENCE_S, what="the end of all runs")
    report = collect_report(restored_server, runs)
    assert report.statuses == {"completed": RUNS}
    # Files are copied after the database, so steps executed in between are repeated.
    assert (report.wrong_answers, report.gaps, report.out_of_order, report.lost_effects) == (
        [],
        [],
        [],
        0,
    )
    with restored_server.client(Authorization=f"Bearer {key}") as client:
        assert client.get("/api/v1/runs").status_code == 200
    new_runs = start_runs(restored_server, range(1))
    wait_until(lambda: answer_gates(restored_server) or unfinished(restored_server) == 0, timeout_s=60)
    assert collect_report(restored_server, new_runs).statuses == {"completed": 1}


def test_restore_brings_everything_back(source: Installation, archive: Path, target: Installation):
    assert source.terminal("backup", "--verify", str(archive)).code == 0
    result = target.terminal("restore", str(archive), "--trust")
    assert result.code == 0, result.err
    assert (target.data_dir / "bots" / "ada").read_text() == "Ada"
    for table in ("event_streams", "secrets", "alembic_version", "dbos_migrations"):
        qualified = table if source.is_sqlite or table != "dbos_migrations" else f"dbos.{table}"
        assert target.execute(f"SELECT * FROM {qualified}") == source.execute(f"SELECT * FROM {qualified}")
    assert target.names == {"bots", "lock"} | ({"forge.db"} if source.is_sqlite else set())


def test_restore_is_rejected_while_forge_is_running(source: Installation, archive: Path, tmp_path: Path):
    with DirectoryLock(source.data_dir):
        result = source.terminal("restore", str(archive), "--replace")
    assert (result.code, "Stop it first" in result.err) == (6, True)
    if not source.is_sqlite:
        source.execute("INSERT INTO workers VALUES ('w', 'host', 7, now(), now())")
        result = Terminal(tmp_path / "elsewhere", **source.environment)("restore", str(archive), "--replace")
        assert (result.code, "Forge is using this database: host:7" in result.err) == (6, True)


def test_existing_data_is_moved_aside_only_with_replace(source: Installation, archive: Path):
    (source.data_dir / "bots" / "ada").write_text("a later Ada")
    source.execute("UPDATE event_streams SET last_seq = 8")
    rejected = source.terminal("restore", str(archive))
    assert (rejected.code, "not empty" in rejected.err) == (6, True)

    result = source.terminal("restore", str(archive), "--trust", "--replace", "--json")
    assert result.code == 0, result.err
    assert result.data["missing_key"] is False, "the key of this machine is kept"
    assert (source.data_dir / "bots" / "ada").read_text() == "Ada"
    assert source.execute("SELECT last_seq FROM event_streams") == [(7,)]
    (aside,) = source.data_dir.glob("before-restore-*")
    assert (aside / "bots" / "ada").read_text() == "a later Ada"
    if source.is_sqlite:
        with sqlite3.connect(aside / "forge.db") as previous:
            assert previous.execute("SELECT last_seq FROM event_streams").fetchall() == [(8,)]
        previous.close()
    else:
        schema = aside.name.replace("-", "_")
        assert source.execute(f"SELECT last_seq FROM {schema}.event_streams") == [(8,)]
    assert source.terminal("restore", str(archive), "--trust", "--replace").code == 0, (
        "the restore can be repeated"
    )


def test_secrets_without_their_key_are_listed_and_can_be_dropped(
    source: Installation, archive: Path, target: Installation
):
    result = target.terminal("restore", str(archive), "--trust")
    assert (result.code, "TOKEN of bot:ada" in result.err, "vault.key" in result.err) == (0, True, True)
    shutil.copy(source.data_dir / "vault.key", target.data_dir / "vault.key")

    async def resolve() -> str:
        store = Store(target.store_url)
        await target.vault(store).check_key()
        value = await target.vault(store).resolve(owner_id(), "TOKEN", "bot:ada")
        await store.close()
        return value.get_secret_value()

    assert asyncio.run(resolve()) == "hunter2-hunter2"
    result = target.terminal("restore", str(archive), "--replace", "--without-secrets")
    assert (result.code, result.err) == (0, "")
    assert target.execute("SELECT * FROM secrets") == []


def test_newer_schema_is_rejected_without_changes(source: Installation, target: Installation, tmp_path: Path):
    source.execute("UPDATE alembic_version SET version_num = '9999'")
    file = str(tmp_path / "newer.tar.gz")
    assert source.terminal("backup", file).code == 0
    result = target.terminal("restore", file)
    assert (result.code, "created by a newer Forge" in result.err) == (2, True)
    assert target.names == {"lock"}


def test_backup_cannot_be_restored_into_another_kind_of_database(
    source: Installation, archive: Path, tmp_path: Path
):
    other = Terminal(tmp_path / "other") if not source.is_sqlite else None
    if other is None:
        return
    result = other("restore", str(archive))
    assert (result.code, "The backup is for postgresql, but the settings use sqlite." in result.err) == (
        2,
        True,
    )


def test_backup_does_not_overwrite_files_or_use_the_data_directory(source: Installation, archive: Path):
    restored_server = source.terminal("backup", str(archive))
    assert (restored_server.code, "already exists" in restored_server.err) == (6, True)
    inside = source.terminal("backup", str(source.data_dir / "backup.tar.gz"))
    assert (inside.code, "is in the data directory" in inside.err) == (2, True)


def test_credentials_are_restored_only_from_a_trusted_backup(
    source: Installation, target: Installation, tmp_path: Path
):
    source.execute(
        "INSERT INTO accounts VALUES ('a1', 'Ada', 'owner', '2026-01-01 00:00:00.000000+00:00', NULL)"
    )
    source.execute(
        "INSERT INTO api_keys (id, account_id, name, kind, hash, hint, scopes, created_at) VALUES "
        "('k1', 'a1', 'laptop', 'user', 'hash', 'hint', '[]', '2026-01-01 00:00:00.000000+00:00')"
    )
    for name, path in (("own", "NULL"), ("adopted", "'/srv/site'")):
        source.execute(
            "INSERT INTO workspaces (id, account_id, name, path, created_at) VALUES "
            f"('{name}', 'a1', '{name}', {path}, '2026-01-01 00:00:00.000000+00:00')"
        )
    (source.data_dir / "audit").mkdir()
    (source.data_dir / "audit" / "signing.key").write_text("ab" * 32)
    (source.data_dir / "forge.toml").write_text("port = 9999\n")
    file = str(tmp_path / "backup.tar.gz")
    assert source.terminal("backup", file, "--with-vault-key").code == 0
    listed = (
        "1 API key (laptop), 1 secret (TOKEN of bot:ada), the vault key, the key that signs audit evidence, "
        "1 adopted folder (/srv/site)"
    )

    verified = source.terminal("backup", "--verify", file)
    assert (verified.code, listed in verified.out) == (0, True)
    rejected = target.terminal("restore", file)
    assert (rejected.code, listed in rejected.err, "--trust" in rejected.err) == (2, True, True)
    assert target.names == {"lock"}

    untrusted = target.terminal("restore", file, "--without-secrets", "--json")
    assert untrusted.code == 0, untrusted.err
    assert untrusted.data["credentials"] == {
        "api_keys": [],
        "sign_ins": 0,
        "secrets": [],
        "has_vault_key": False,
        "has_signing_keys": False,
        "folders": [],
    }
    assert untrusted.data["contents"]["bots"] == 0
    assert target.execute("SELECT name FROM workspaces") == [("own",)]
    assert target.execute("SELECT * FROM api_keys") == target.execute("SELECT * FROM secrets") == []
    assert target.names.isdisjoint({"vault.key", "audit", "forge.toml"})
    assert (target.data_dir / "bots" / "ada").read_text() == "Ada"

    trusted = target.terminal("restore", file, "--replace", "--trust")
    assert (trusted.code, "forge.toml in the backup was not restored" in trusted.err) == (0, True)
    assert target.execute("SELECT name FROM api_keys") == [("laptop",)]
    assert (target.names & {"vault.key", "audit", "forge.toml"}) == {"vault.key", "audit"}


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            [
                "CREATE TRIGGER backdoor AFTER DELETE ON api_keys BEGIN INSERT INTO event_streams VALUES ('x', 1); END"
            ],
            "'backdoor', which Forge did not create",
        ),
        (
            ["ALTER TABLE api_keys RENAME TO moved", "ALTER TABLE moved RENAME TO API_KEYS"],
            "'API_KEYS' in the backup is not as Forge creates it",
        ),
        (
            ["ALTER TABLE api_keys ADD COLUMN later TEXT AS (CASE hint WHEN '' THEN name END)"],
            "'api_keys' in the backup is not as Forge creates it",
        ),
        (["DROP TABLE api_keys"], "'api_keys' in the backup is not as Forge creates it"),
        (["UPDATE dbos_migrations SET version = 1"], "is not as Forge creates it"),
    ],
)
def test_database_with_another_schema_is_rejected(
    statements: list[str], message: str, new_database: NewDatabase, tmp_path: Path
):
    installation = Installation(tmp_path / "data", new_database("sqlite", tmp_path / "data"))
    for statement in statements:
        installation.execute(statement)
    file = str(tmp_path / "backup.tar.gz")
    assert installation.terminal("backup", file).code == 0
    for command in (["backup", "--verify", file], ["restore", file]):
        result = Terminal(tmp_path / "empty")(*command)
        assert (result.code, message in result.err) == (2, True), result.err


def test_serialized_python_objects_are_rejected(source: Installation, target: Installation, tmp_path: Path):
    """The run engine would execute code from them when it continues the run."""
    table = "workflow_status" if source.is_sqlite else "dbos.workflow_status"
    source.execute(f"INSERT INTO {table} (workflow_uuid, serialization) VALUES ('w', 'py_pickle')")
    file = str(tmp_path / "backup.tar.gz")
    assert source.terminal("backup", file).code == 0
    for terminal, command in (
        (source.terminal, ["backup", "--verify"]),
        (target.terminal, ["restore", "--trust"]),
    ):
        result = terminal(*command, file)
        assert (result.code, "serialized Python objects" in result.err) == (2, True), result.err


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        # Credentials would be read from one of the entries, and the other one restored.
        ("postgresql", lambda copy: copy["tables"].append(copy["tables"][0]), "lists a table twice"),
        ("sqlite", lambda copy: copy.update(engine_revision=None), "not as Forge creates it"),
        ("sqlite", lambda copy: copy.update(revision="0001"), "which Forge did not create"),
    ],
)
def test_manifest_that_does_not_describe_the_database_is_rejected(
    kind: str, change: Callable[[Any], None], message: str, new_database: NewDatabase, tmp_path: Path
):
    source = Installation(tmp_path / "data", new_database(kind, tmp_path / "data"))
    source.data_dir.mkdir(mode=0o700, exist_ok=True)
    archive, hostile = tmp_path / "backup.tar.gz", tmp_path / "hostile.tar.gz"
    assert source.terminal("backup", str(archive)).code == 0
    with tarfile.open(archive) as original, tarfile.open(hostile, "w:gz") as copy:
        for member in original:
            content = original.extractfile(member)
            data = content.read() if content else b""
            if member.name == "manifest.json":
                manifest = json.loads(data)
                change(manifest["database"])
                data = json.dumps(manifest).encode()
                member.size = len(data)
            copy.addfile(member, io.BytesIO(data))
    result = source.terminal("backup", "--verify", str(hostile))
    assert (result.code, message in result.err) == (2, True), result.err


@pytest.mark.parametrize("function", ["make_engine_tables", "upgrade", "_fill"])
def test_killed_restore_into_postgresql_can_be_repeated(
    function: str, new_database: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    installation = Installation(tmp_path / "data", new_database("postgresql", tmp_path))
    installation.data_dir.mkdir(mode=0o700)
    installation.execute("INSERT INTO event_streams VALUES ('run:1', 7)")
    file = str(tmp_path / "backup.tar.gz")
    assert installation.terminal("backup", file).code == 0
    installation.execute("UPDATE event_streams SET last_seq = 8")
    with monkeypatch.context() as patch:
        patch.setattr(postgresql_restore, function, _kill)
        with pytest.raises(Killed):
            installation.terminal("restore", file, "--replace")
    elsewhere = Terminal(tmp_path / "elsewhere", **installation.environment)
    for terminal in (installation.terminal, elsewhere):
        result = terminal("serve", "--port", "0")
        assert (result.code, "did not finish" in result.err) == (2, True)
    result = installation.terminal("restore", file)
    assert result.code == 0, result.err
    assert installation.execute("SELECT last_seq FROM event_streams") == [(7,)]
    ((schema,),) = installation.execute(
        "SELECT nspname FROM pg_namespace WHERE nspname ~ '^before_restore_.*[0-9]$'"
    )
    assert installation.execute(f"SELECT last_seq FROM {schema}.event_streams") == [(8,)]


def _kill(*_: object) -> None:
    raise Killed


def test_killed_restore_is_reported_and_finished_by_the_next_one(
    new_database: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Kill the restore at each operation that moves something into place."""
    source, archive = (
        Installation(tmp_path / "old", new_database("sqlite", tmp_path / "old")),
        tmp_path / "backup.tar.gz",
    )
    source.execute("INSERT INTO event_streams VALUES ('run:1', 7)")
    assert source.terminal("backup", str(archive)).code == 0
    (source.data_dir / "mine").write_text("of the old one")
    kill_at = 0
    finished = False
    while not finished:
        kill_at += 1
        copy_dir = tmp_path / f"copy-{kill_at}"
        shutil.copytree(source.data_dir, copy_dir)
        finished = _restore_killed_at(kill_at, copy_dir, archive, monkeypatch)
        assert {path.name for path in copy_dir.rglob("*")} >= {"forge.db", "mine"}, (
            f"lost at operation {kill_at}"
        )
        if (copy_dir / UNFINISHED).exists():
            result = Terminal(copy_dir)("serve", "--port", "0")
            assert (result.code, "did not finish" in result.err) == (2, True)
            assert Terminal(copy_dir)("restore", str(archive)).code == 0
            assert not (copy_dir / UNFINISHED).exists()
            assert next(copy_dir.glob("before-restore-*/mine")).read_text() == "of the old one"
            rows = Installation(copy_dir, f"sqlite:///{copy_dir / 'forge.db'}").execute(
                "SELECT last_seq FROM event_streams"
            )
            assert rows == [(7,)]
    assert kill_at > 5


def test_killed_restore_with_unreadable_folders_can_be_repeated(
    new_database: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Modes are set before anything is moved into place, and files in a read-only folder cannot be removed."""
    source, archive_file = (
        Installation(tmp_path / "old", new_database("sqlite", tmp_path / "old")),
        tmp_path / "backup.tar.gz",
    )
    _make_read_only(source.data_dir / "workspaces")
    assert source.terminal("backup", str(archive_file)).code == 0
    original = archive_file.read_bytes()
    with unprivileged_user() as home:
        archive = home / archive_file.name
        archive.write_bytes(original)
        kill_at = 0
        finished = False
        while not finished:
            kill_at += 1
            data_dir = home / f"place-{kill_at}"
            _make_read_only(data_dir / UNPACKING / "data")
            finished = _restore_killed_at(kill_at, data_dir, archive, monkeypatch)
            if not finished:
                result = Terminal(data_dir)("restore", str(archive), "--replace")
                assert result.code == 0, result.err
            assert (data_dir / "workspaces" / "closed" / "file").read_text() == "in it"
            assert not (data_dir / UNPACKING).exists()
        assert kill_at > 3


def _make_read_only(folder: Path) -> None:
    (folder / "closed").mkdir(parents=True)
    (folder / "closed" / "file").write_text("in it")
    (folder / "closed").chmod(0o555)


class Killed(BaseException):
    """Simulates a kill: as a BaseException it is caught nowhere in Forge."""


def _restore_killed_at(kill_at: int, data_dir: Path, archive: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Kill the restore at the given operation; return True if it finished earlier."""
    remaining = kill_at

    def counted(original: Callable[..., object]) -> Callable[..., object]:
        def call_or_kill(*args: object, **options: object) -> object:
            nonlocal remaining
            remaining -= 1
            if remaining <= 0:
                raise Killed
            return original(*args, **options)

        return call_or_kill

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", counted(Path.rename))
        patch.setattr(Path, "replace", counted(Path.replace))
        patch.setattr(Path, "unlink", counted(Path.unlink))
        try:
            Terminal(data_dir)("restore", str(archive), "--replace")
        except Killed:
            return False
    return True
