"""Startup errors are one-line messages with an exit code, without a traceback or data loss."""

import errno
import os
import pwd
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError
from tests.support.server import Server, wait_until
from tests.support.terminal import Terminal, clean_environment
from tests.support.timeouts import PATIENCE_S

from forge.config import ClientSettings, load_settings
from forge.errors import ConfigError, Unavailable
from forge.server.startup_errors import explain_startup_error
from forge.store.database import is_disk_full

MOMENT = "2026-01-01 00:00:00.000000"


@pytest.fixture
def data_dir(tmp_path: Path, sqlite_template: Path) -> Path:
    """A data directory with a database."""
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    shutil.copy(sqlite_template, path / "forge.db")
    return path


def not_a_database(data_dir: Path) -> None:
    (data_dir / "forge.db").write_bytes(b"not a database" * 1000)


def truncated(data_dir: Path) -> None:
    original = (data_dir / "forge.db").read_bytes()
    (data_dir / "forge.db").write_bytes(original[: len(original) // 2])


def overwritten(data_dir: Path) -> None:
    with (data_dir / "forge.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xaa" * 4096 * 20)


def foreign_database(data_dir: Path) -> None:
    (data_dir / "forge.db").unlink()
    with sqlite3.connect(data_dir / "forge.db") as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    connection.close()


def database_folder(data_dir: Path) -> None:
    (data_dir / "forge.db").unlink()
    (data_dir / "forge.db").mkdir()


def invalid_key(data_dir: Path) -> None:
    (data_dir / "vault.key").write_text("invalid")
    (data_dir / "vault.key").chmod(0o600)


def key_folder(data_dir: Path) -> None:
    (data_dir / "vault.key").mkdir()


def file_instead_of_logs(data_dir: Path) -> None:
    (data_dir / "logs").write_text("not a folder")


def invalid_encoding(data_dir: Path) -> None:
    (data_dir / "forge.toml").write_bytes(b'public_url = "caf\xe9"')


def settings_folder(data_dir: Path) -> None:
    (data_dir / "forge.toml").mkdir()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (not_a_database, "is not a SQLite database"),
        (truncated, "is damaged"),
        (overwritten, "is damaged"),
        (foreign_database, "belongs to another program (it has a table 'bookmarks')"),
        (database_folder, "cannot be opened"),
        (invalid_key, "is not 32 bytes written as 64 hex digits"),
        (key_folder, "Is a directory"),
        (file_instead_of_logs, "Cannot write logs below"),
        (invalid_encoding, "can't decode byte 0xe9"),
        (settings_folder, "forge.toml cannot be read: Is a directory"),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_broken_file_is_named_and_not_changed(damage: Callable[[Path], None], message: str, data_dir: Path):
    damage(data_dir)
    database_bytes = (data_dir / "forge.db").read_bytes() if (data_dir / "forge.db").is_file() else None
    result = Terminal(data_dir)("serve", "--port", "0")
    assert (result.code, message in result.err, "Traceback" in result.err) == (2, True, False), result.err
    assert database_bytes is None or (data_dir / "forge.db").read_bytes() == database_bytes
    assert not (data_dir / "server.json").exists()


def test_missing_vault_key_error_explains_how_to_continue(data_dir: Path):
    (data_dir / "vault.key").write_text("00" * 32)
    (data_dir / "vault.key").chmod(0o600)
    with sqlite3.connect(data_dir / "forge.db") as database:
        row = (
            "",
            "forge:vault",
            "canary",
            b"0" * 12,
            b"sealed with another key",
            "",
            MOMENT,
            MOMENT,
        )
        database.execute(
            "INSERT INTO secrets (account_id, scope, name, nonce, ciphertext, last_four, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
    database.close()
    result = Terminal(data_dir)("serve", "--port", "0")
    assert (result.code, "--without-secrets" in result.err) == (2, True)


def test_file_is_rejected_as_data_directory(tmp_path: Path):
    (tmp_path / "data").touch()
    result = Terminal(tmp_path / "data")("serve", "--port", "0")
    assert (result.code, f"{tmp_path / 'data'} is not a directory" in result.err) == (2, True)


def test_used_port_is_reported_before_any_change(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        result = Terminal(tmp_path / "data")("serve", "--port", str(listener.getsockname()[1]))
    assert (result.code, "Address already in use" in result.err) == (2, True)
    assert not (tmp_path / "data").exists()


def test_missing_home_error_says_what_to_set(monkeypatch: pytest.MonkeyPatch):
    """The user is unknown to the system, as in some containers."""

    def unknown_user(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.delenv("FORGE_DATA_DIR", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown_user)
    for load in (load_settings, ClientSettings):
        with pytest.raises(ConfigError) as error:
            load()
        assert error.value.hint == "Set HOME, or use an absolute path for FORGE_DATA_DIR."


SETTINGS = load_settings(data_dir=Path("/data"))


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OSError(errno.ENOSPC, "No space left", "/data/lock"), Unavailable, "The disk of /data is full"),
        (
            OSError(errno.EROFS, "Read-only file system", "/data/lock"),
            ConfigError,
            "cannot use /data/lock",
        ),
        (PermissionError(errno.EACCES, "Permission denied", "/data/lock"), ConfigError, "Permission denied"),
        (OSError(errno.EMFILE, "Too many open files"), Unavailable, "Too many open files"),
    ],
    ids=["full", "read-only", "another's", "too many open"],
)
def test_system_error_is_explained(error: OSError, kind: type[Exception], words: str):
    explained = explain_startup_error(SETTINGS, error)
    assert isinstance(explained, kind)
    assert words in str(explained)
    assert explained.hint


def test_full_disk_during_the_migration_copy_is_explained():
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    error = explain_startup_error(SETTINGS, full)
    assert (type(error), str(error)) == (
        Unavailable,
        "The database /data/forge.db cannot grow: the disk is full.",
    )


def test_unreachable_postgresql_is_explained_in_one_line(tmp_path: Path):
    url = "postgresql://forge:hunter2@127.0.0.1:1/forge"
    result = Terminal(tmp_path / "data", FORGE_DATABASE_URL=url)("serve", "--port", "0")
    assert (result.code, "PostgreSQL:" in result.err, "Traceback" in result.err) == (3, True, False), (
        result.err
    )
    assert "hunter2" not in result.err


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount tmpfs disks of a given size; requires root and is not possible everywhere."""
    mounts: list[Path] = []

    def mount(size: str) -> Path:
        folder = tmp_path / f"disk-{size}"
        folder.mkdir()
        result = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder], capture_output=True
        )
        if result.returncode:
            pytest.skip("no disk can be mounted here")
        mounts.append(folder)
        return folder

    yield mount
    for folder in mounts:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("size", ["16k", "300k"])
def test_full_disk_at_startup_is_explained(small_disk: Callable[[str], Path], size: str):
    result = Terminal(small_disk(size))("serve", "--port", "0")
    assert (result.code, "full" in result.err, "Traceback" in result.err) == (3, True, False), result.err


def test_read_only_disk_is_explained(small_disk: Callable[[str], Path]):
    disk = small_disk("1m")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    result = Terminal(disk)("serve", "--port", "0")
    assert (result.code, "Read-only file system" in result.err) == (2, True), result.err


@pytest.mark.chaos
def test_full_disk_causes_no_permanent_failure(
    small_disk: Callable[[str], Path], start_server: Callable[..., Server]
):
    """Writes are rejected and runs wait until there is space again."""
    disk = small_disk("40m")
    server = start_server(disk)
    run_id = server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 300}})["id"]
    effects_file = disk / "self-test" / run_id / "effects"  # written directly, not through the database
    wait_until(lambda: effects_file.exists() and effects_file.stat().st_size, what="the first step")
    unused_key = server.call("POST", "/api/v1/keys", {"name": "unused", "scopes": ["read"]})["key"]
    _fill_disk(disk)
    error = wait_until(lambda: _error_when_full(server), timeout_s=60, what="a rejected write")
    assert "The disk is full" in error
    wait_until(lambda: _error_when_full(server, length=4_000), timeout_s=60, what="a rejected small write")
    with server.client() as client:
        assert client.get("/health").status_code == 200
        assert client.get(f"/api/v1/runs/{run_id}").status_code == 200, "existing data is readable"
        assert client.post("/api/v1/bots", json={"name": "Ada"}).status_code == 503
    with server.client(Authorization=f"Bearer {unused_key}") as client:
        assert client.get("/api/v1/bots").json()["data"] == [], "reading requires no write"
    assert not [*(disk / "bots").iterdir()]
    (disk / "filler").unlink()
    path = f"/api/v1/runs/{run_id}"
    wait_until(
        lambda: server.call("GET", path)["run"]["status"] == "completed",
        timeout_s=60,
        what="the end of the run",
    )
    events = server.call("GET", f"/api/v1/events?stream=run:{run_id}")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    server.stop()
    assert server.process.returncode == 0


@pytest.mark.chaos
def test_server_on_a_full_disk_can_be_stopped(
    small_disk: Callable[[str], Path], start_server: Callable[..., Server]
):
    """Waiting runs survive the stop and complete after the next start."""
    disk = small_disk("40m")
    server = start_server(disk)
    runs = [
        server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 400}})["id"]
        for _ in range(6)
    ]
    wait_until(lambda: all((disk / "self-test" / run).exists() for run in runs), what="the first steps")
    _fill_disk(disk)
    for length in (60_000, 4_000):
        wait_until(lambda length=length: _error_when_full(server, length), what="a rejected write")
    wait_until(lambda: "retrying" in server.output or _all_completed(server, runs), what="a waiting run")
    server.stop()
    assert (server.process.returncode, "Logging error" in server.output) == (0, False), server.output
    (disk / "filler").unlink()
    server.start()
    wait_until(lambda: _all_completed(server, runs), what="the end of the runs")


def _all_completed(server: Server, runs: list[str]) -> bool:
    return all(server.call("GET", f"/api/v1/runs/{run}")["run"]["status"] == "completed" for run in runs)


def _fill_disk(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while True:
            filler.write(b"x" * 4096)


def _error_when_full(server: Server, length: int = 60_000) -> str | None:
    """Write a new secret and return the error if the disk is full; replacing one would need no space."""
    with server.client() as client:
        response = client.put(
            f"/api/v1/secrets/FILLER_{secrets.token_hex(4).upper()}", json={"value": "x" * length}
        )
    return response.text if response.status_code == 503 else None


def test_full_database_differs_from_unreachable_database():
    full, busy = sqlite3.OperationalError("full"), sqlite3.OperationalError("locked")
    full.sqlite_errorcode, busy.sqlite_errorcode = sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY
    assert is_disk_full(OperationalError("INSERT", {}, full))
    assert not is_disk_full(OperationalError("INSERT", {}, busy))


@pytest.mark.chaos
def test_interrupted_start_can_be_repeated(tmp_path: Path):
    """A signal at any time of the start leaves no server file."""
    log = tmp_path / "log"
    for delay_ms in (100, 600, 1500):
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "forge", "serve", "--port", "0", "--data-dir", tmp_path / "data"],
                env=clean_environment(),
                stdout=output,
                stderr=output,
            )
            try:
                process.wait(timeout=delay_ms / 1000)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=PATIENCE_S) in (0, -signal.SIGTERM)
        assert not (tmp_path / "data" / "server.json").exists()
    server = Server(tmp_path / "data")
    server.start()
    server.stop()


def test_failed_start_restores_the_umask(tmp_path: Path):
    before = os.umask(0o022)
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            Terminal(tmp_path / "data")("serve", "--port", str(listener.getsockname()[1]))
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
