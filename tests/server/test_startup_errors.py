"""Bad weather at the start: each time a sentence and an exit code, never a trace, and nothing is lost."""

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
    """With a database in it."""
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    shutil.copy(sqlite_template, path / "forge.db")
    return path


def garbage(data_dir: Path) -> None:
    (data_dir / "forge.db").write_bytes(b"what is this" * 1000)


def truncated(data_dir: Path) -> None:
    whole = (data_dir / "forge.db").read_bytes()
    (data_dir / "forge.db").write_bytes(whole[: len(whole) // 2])


def overwritten(data_dir: Path) -> None:
    with (data_dir / "forge.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xaa" * 4096 * 20)


def of_another_program(data_dir: Path) -> None:
    (data_dir / "forge.db").unlink()
    with sqlite3.connect(data_dir / "forge.db") as other:
        other.execute("CREATE TABLE bookmarks (url)")
    other.close()


def a_folder(data_dir: Path) -> None:
    (data_dir / "forge.db").unlink()
    (data_dir / "forge.db").mkdir()


def a_broken_key(data_dir: Path) -> None:
    (data_dir / "vault.key").write_text("rubbish")
    (data_dir / "vault.key").chmod(0o600)


def a_key_folder(data_dir: Path) -> None:
    (data_dir / "vault.key").mkdir()


def a_log_in_the_way(data_dir: Path) -> None:
    (data_dir / "logs").write_text("not a folder")


def bad_encoding(data_dir: Path) -> None:
    (data_dir / "forge.toml").write_bytes(b'public_url = "caf\xe9"')


def a_settings_folder(data_dir: Path) -> None:
    (data_dir / "forge.toml").mkdir()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (garbage, "is not a SQLite database"),
        (truncated, "is damaged"),
        (overwritten, "is damaged"),
        (of_another_program, "belongs to another program (it has a table 'bookmarks')"),
        (a_folder, "cannot be opened"),
        (a_broken_key, "is not 32 bytes written as 64 hex digits"),
        (a_key_folder, "Is a directory"),
        (a_log_in_the_way, "Cannot write logs below"),
        (bad_encoding, "can't decode byte 0xe9"),
        (a_settings_folder, "forge.toml cannot be read: Is a directory"),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_broken_file_is_named_and_not_changed(spoil: Callable[[Path], None], said: str, data_dir: Path):
    spoil(data_dir)
    kept = (data_dir / "forge.db").read_bytes() if (data_dir / "forge.db").is_file() else None
    told = Terminal(data_dir)("serve", "--port", "0")
    assert (told.code, said in told.err, "Traceback" in told.err) == (2, True, False), told.err
    assert kept is None or (data_dir / "forge.db").read_bytes() == kept
    assert not (data_dir / "server.json").exists()


def test_missing_vault_key_error_explains_how_to_continue(data_dir: Path):
    (data_dir / "vault.key").write_text("00" * 32)
    (data_dir / "vault.key").chmod(0o600)
    with sqlite3.connect(data_dir / "forge.db") as database:
        row = (
            "forge:vault",
            "canary",
            b"0" * 12,
            b"sealed with another key",
            "",
            MOMENT,
            MOMENT,
        )
        database.execute(
            "INSERT INTO secrets (scope, name, nonce, ciphertext, last_four, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            row,
        )
    database.close()
    said = Terminal(data_dir)("serve", "--port", "0")
    assert (said.code, "--without-secrets" in said.err) == (2, True)


def test_file_is_rejected_as_data_directory(tmp_path: Path):
    (tmp_path / "data").touch()
    said = Terminal(tmp_path / "data")("serve", "--port", "0")
    assert (said.code, f"{tmp_path / 'data'} is not a directory" in said.err) == (2, True)


def test_used_port_is_reported_before_any_change(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = Terminal(tmp_path / "data")("serve", "--port", str(taken.getsockname()[1]))
    assert (said.code, "Address already in use" in said.err) == (2, True)
    assert not (tmp_path / "data").exists()


def test_missing_home_error_says_what_to_set(monkeypatch: pytest.MonkeyPatch):
    """One that the system does not know, as in some containers."""

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.delenv("FORGE_DATA_DIR", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for load in (load_settings, ClientSettings):
        with pytest.raises(ConfigError) as told:
            load()
        assert told.value.hint == "Set HOME, or use an absolute path for FORGE_DATA_DIR."


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
    told = explain_startup_error(SETTINGS, error)
    assert isinstance(told, kind)
    assert words in str(told)
    assert told.hint


def test_full_disk_during_the_migration_copy_is_explained():
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    told = explain_startup_error(SETTINGS, full)
    assert (type(told), str(told)) == (
        Unavailable,
        "The database /data/forge.db cannot grow: the disk is full.",
    )


def test_unreachable_postgresql_is_explained_in_one_line(tmp_path: Path):
    url = "postgresql://forge:hunter2@127.0.0.1:1/forge"
    said = Terminal(tmp_path / "data", FORGE_DATABASE_URL=url)("serve", "--port", "0")
    assert (said.code, "PostgreSQL:" in said.err, "Traceback" in said.err) == (3, True, False), said.err
    assert "hunter2" not in said.err


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes a disk of that size; only the superuser may, and not everywhere."""
    mounted: list[Path] = []

    def make(size: str) -> Path:
        folder = tmp_path / f"disk-{size}"
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder], capture_output=True
        )
        if done.returncode:
            pytest.skip("no disk can be mounted here")
        mounted.append(folder)
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("size", ["16k", "300k"])
def test_full_disk_at_startup_is_explained(tiny_disk: Callable[[str], Path], size: str):
    said = Terminal(tiny_disk(size))("serve", "--port", "0")
    assert (said.code, "full" in said.err, "Traceback" in said.err) == (3, True, False), said.err


def test_read_only_disk_is_explained(tiny_disk: Callable[[str], Path]):
    disk = tiny_disk("1m")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    said = Terminal(disk)("serve", "--port", "0")
    assert (said.code, "Read-only file system" in said.err) == (2, True), said.err


@pytest.mark.chaos
def test_full_disk_causes_no_permanent_failure(
    tiny_disk: Callable[[str], Path], start_server: Callable[..., Server]
):
    """What cannot be saved is refused, what runs waits, and both go on when there is room again."""
    disk = tiny_disk("40m")
    server = start_server(disk)
    waiting = server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 300}})["id"]
    marks = disk / "self-test" / waiting / "effects"  # its own, which a step does not wait to write
    wait_until(lambda: marks.exists() and marks.stat().st_size, what="the first step")
    unused = server.call("POST", "/api/v1/keys", {"name": "unused", "scopes": ["read"]})["key"]
    _fill(disk)
    refused = wait_until(lambda: _refused(server), timeout_s=60, what="a refusal")
    assert "The disk is full" in refused
    wait_until(lambda: _refused(server, length=4_000), timeout_s=60, what="a refusal of a little")
    with server.client() as client:
        assert client.get("/health").status_code == 200
        assert client.get(f"/api/v1/runs/{waiting}").status_code == 200, "what is there can be read"
        assert client.post("/api/v1/bots", json={"name": "Ada"}).status_code == 503
    with server.client(Authorization=f"Bearer {unused}") as client:
        assert client.get("/api/v1/bots").json()["data"] == [], "and nothing has to be written for that"
    assert not [*(disk / "bots").iterdir()]
    (disk / "filler").unlink()
    path = f"/api/v1/runs/{waiting}"
    wait_until(lambda: server.call("GET", path)["run"]["status"] == "completed", timeout_s=60, what="its end")
    events = server.call("GET", f"/api/v1/events?stream=run:{waiting}")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    server.stop()
    assert server.process.returncode == 0


@pytest.mark.chaos
def test_server_on_a_full_disk_can_be_stopped(
    tiny_disk: Callable[[str], Path], start_server: Callable[..., Server]
):
    """With runs that wait for room; the next one finds them, and does not fail them."""
    disk = tiny_disk("40m")
    server = start_server(disk)
    runs = [
        server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 400}})["id"]
        for _ in range(6)
    ]
    wait_until(lambda: all((disk / "self-test" / run).exists() for run in runs), what="the first steps")
    _fill(disk)
    for length in (60_000, 4_000):
        wait_until(lambda length=length: _refused(server, length), what="a refusal")
    wait_until(lambda: "retrying" in server.output or _are_over(server, runs), what="a run that waits")
    server.stop()
    assert (server.process.returncode, "Logging error" in server.output) == (0, False), server.output
    (disk / "filler").unlink()
    server.start()
    wait_until(lambda: _are_over(server, runs), what="their end")


def _are_over(server: Server, runs: list[str]) -> bool:
    return all(server.call("GET", f"/api/v1/runs/{run}")["run"]["status"] == "completed" for run in runs)


def _fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while True:
            filler.write(b"x" * 4096)


def _refused(server: Server, length: int = 60_000) -> str | None:
    """Each time another one: what takes the place of something needs no room that is not there."""
    with server.client() as client:
        answer = client.put(
            f"/api/v1/secrets/FILLER_{secrets.token_hex(4).upper()}", json={"value": "x" * length}
        )
    return answer.text if answer.status_code == 503 else None


def test_full_database_differs_from_unreachable_database():
    full, away = sqlite3.OperationalError("full"), sqlite3.OperationalError("locked")
    full.sqlite_errorcode, away.sqlite_errorcode = sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY
    assert is_disk_full(OperationalError("INSERT", {}, full))
    assert not is_disk_full(OperationalError("INSERT", {}, away))


@pytest.mark.chaos
def test_interrupted_start_can_be_repeated(tmp_path: Path):
    """At whatever moment the signal comes; nothing is left that says a server runs."""
    log = tmp_path / "log"
    for delay_ms in (100, 600, 1500):
        with log.open("ab") as output:
            started = subprocess.Popen(
                [sys.executable, "-m", "forge", "serve", "--port", "0", "--data-dir", tmp_path / "data"],
                env=clean_environment(),
                stdout=output,
                stderr=output,
            )
            try:
                started.wait(timeout=delay_ms / 1000)
            except subprocess.TimeoutExpired:
                started.send_signal(signal.SIGTERM)
            assert started.wait(timeout=PATIENCE_S) in (0, -signal.SIGTERM)
        assert not (tmp_path / "data" / "server.json").exists()
    server = Server(tmp_path / "data")
    server.start()
    server.stop()


def test_failed_start_restores_the_umask(tmp_path: Path):
    before = os.umask(0o022)
    try:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            Terminal(tmp_path / "data")("serve", "--port", str(taken.getsockname()[1]))
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
