import os
import shutil
import socket
import sqlite3
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.support.postgres import Postgres
from tests.support.server import Server
from tests.support.stub_server import open_stub_server
from tests.support.terminal import Terminal

from forge.kernel.lock import DirectoryLock

NAMES = [
    "python",
    "sqlite",
    "git",
    "sandbox",
    "data directory",
    "disk",
    "server",
    "port",
    "database",
    "clock",
    "model keys",
    "audit checks",
    "web app",
]


def free_port() -> str:
    """Return a free port below the ephemeral range, so that no other process takes it meanwhile."""
    for port in range(20_000 + os.getpid() % 5_000, 30_000):
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return str(port)
    raise AssertionError("no port is free")


@pytest.fixture
def stopped_terminal(tmp_path: Path) -> Terminal:
    """A terminal without a server or data, with a free port."""
    return Terminal(tmp_path / "data", FORGE_PORT=free_port())


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    return path


def check(terminal: Terminal, name: str) -> dict[str, Any]:
    report = terminal("doctor", "--json").data
    (entry,) = [entry for entry in report["checks"] if entry["name"] == name]
    return entry


def test_no_check_is_bad_beside_a_running_server(forge: Terminal, server: Server):
    result = forge("doctor", "--json")
    assert (result.code, result.data["ok"]) == (0, True)
    assert [entry["name"] for entry in result.data["checks"]] == NAMES
    by_name = {entry["name"]: entry for entry in result.data["checks"]}
    assert server.url in by_name["server"]["finding"]
    assert "used by this server" in by_name["port"]["finding"]
    assert "in use by the server" in by_name["database"]["finding"]
    assert "agrees with the disk and server" in by_name["clock"]["finding"]


def test_no_check_is_bad_before_the_first_start(stopped_terminal: Terminal):
    result = stopped_terminal("doctor", "--json")
    assert result.code == 0
    by_name = {entry["name"]: entry for entry in result.data["checks"]}
    assert "will be created" in by_name["data directory"]["finding"]
    assert "will be created" in by_name["database"]["finding"]
    assert "is free" in by_name["port"]["finding"]
    assert (by_name["server"]["status"], by_name["server"]["finding"]) == (
        "warn",
        "No Forge server is running here.",
    )


def test_problem_comes_with_advice(stopped_terminal: Terminal):
    report = stopped_terminal("doctor", "--json").data
    assert all(entry["advice"] for entry in report["checks"] if entry["status"] != "ok")


def test_about_page_shows_the_same(stopped_terminal: Terminal):
    result = stopped_terminal("doctor")
    assert "● ok" in result.out
    assert "● warn" in result.out
    assert "→ Start one: forge serve" in result.out


def test_doctor_changes_no_files(stopped_terminal: Terminal, tmp_path: Path):
    stopped_terminal("doctor")
    assert list(tmp_path.iterdir()) == []


def test_invalid_settings_have_exit_code_2(stopped_terminal: Terminal):
    stopped_terminal.environment["FORGE_PORT"] = "many"
    result = stopped_terminal("doctor")
    assert (result.code, result.out) == (2, "")


@pytest.mark.parametrize("content", ["", "{", '{"url": 1}'])
def test_unreadable_server_file_fails_one_check_only(
    stopped_terminal: Terminal, data_dir: Path, content: str
):
    (data_dir / "server.json").write_text(content)
    (data_dir / "server.json").chmod(0o600)
    entry = check(stopped_terminal, "server")
    assert (entry["status"], entry["advice"]) == ("bad", "Delete it and try again.")
    assert "server.json is not a valid file of Forge" in entry["finding"]


def test_missing_git_is_bad(stopped_terminal: Terminal, tmp_path: Path):
    stopped_terminal.environment["PATH"] = str(tmp_path)
    result = stopped_terminal("doctor", "--json")
    assert (result.code, result.data["ok"]) == (1, False)
    assert check(stopped_terminal, "git")["status"] == "bad"


def fake_program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_old_git_is_bad(stopped_terminal: Terminal, tmp_path: Path):
    fake_program(tmp_path, "git", "echo git version 2.29.3")
    stopped_terminal.environment["PATH"] = str(tmp_path)
    assert check(stopped_terminal, "git") == {
        "name": "git",
        "status": "bad",
        "finding": f"git version 2.29.3 at {tmp_path}/git",
        "advice": "Install git 2.30 or newer.",
        "took_ms": None,
    }


def test_broken_git_is_bad(stopped_terminal: Terminal, tmp_path: Path):
    fake_program(tmp_path, "git", "exit 3")
    stopped_terminal.environment["PATH"] = str(tmp_path)
    assert "does not run" in check(stopped_terminal, "git")["finding"]


def test_bubblewrap_without_isolation_is_not_trusted(stopped_terminal: Terminal, tmp_path: Path):
    fake_program(tmp_path, "bwrap", "echo 'setting up uid map: Permission denied' >&2; exit 1")
    stopped_terminal.environment["PATH"] = f"{tmp_path}:/usr/bin:/bin"
    assert (
        "bubblewrap: setting up uid map: Permission denied" in check(stopped_terminal, "sandbox")["finding"]
    )


@pytest.mark.parametrize(("mode", "status"), [(0o700, "ok"), (0o750, "warn"), (0o770, "bad"), (0o777, "bad")])
def test_public_data_directory_is_reported(
    stopped_terminal: Terminal, data_dir: Path, mode: int, status: str
):
    data_dir.chmod(mode)
    entry = check(stopped_terminal, "data directory")
    assert entry["status"] == status
    assert entry["advice"] == (None if status == "ok" else f"chmod 700 {data_dir}")


def test_data_directory_of_another_user_is_bad(
    stopped_terminal: Terminal, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "getuid", lambda: data_dir.stat().st_uid + 1)
    assert "another user" in check(stopped_terminal, "data directory")["finding"]


def test_unfinished_restore_is_bad(stopped_terminal: Terminal, data_dir: Path):
    (data_dir / "restore-unfinished").write_text("{}")
    entry = check(stopped_terminal, "data directory")
    assert (entry["status"], "forge restore" in entry["advice"]) == ("bad", True)


def test_file_is_rejected_as_data_directory(stopped_terminal: Terminal, tmp_path: Path):
    (tmp_path / "data").touch()
    result = stopped_terminal("doctor")
    assert result.code == 2
    assert str(tmp_path / "data") in result.err


@pytest.mark.parametrize(("free", "status"), [(3e9, "ok"), (1e9, "warn"), (1e8, "bad")])
def test_full_disk_is_detected(
    stopped_terminal: Terminal, monkeypatch: pytest.MonkeyPatch, free: float, status: str
):
    usage = type("Usage", (), {"free": int(free)})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert check(stopped_terminal, "disk")["status"] == status


def test_port_used_by_another_program_is_bad(stopped_terminal: Terminal):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        stopped_terminal.environment["FORGE_PORT"] = str(port)
        entry = check(stopped_terminal, "port")
    assert entry["status"] == "bad"
    assert "another program" in entry["finding"]
    assert f"forge serve --port {port + 1}" in entry["advice"]


def test_port_used_by_another_forge_is_reported(
    stopped_terminal: Terminal, server: Server, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("forge.server.checks.services.TIMEOUT_S", 60.0)
    stopped_terminal.environment["FORGE_PORT"] = server.url.rpartition(":")[2]
    assert "another Forge" in check(stopped_terminal, "port")["finding"]


def test_intact_database_is_ok(stopped_terminal: Terminal, data_dir: Path):
    with sqlite3.connect(data_dir / "forge.db") as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    entry = check(stopped_terminal, "database")
    assert (entry["status"], "is intact" in entry["finding"], "wal" in entry["finding"]) == ("ok", True, True)


def test_damaged_database_is_bad(stopped_terminal: Terminal, data_dir: Path):
    (data_dir / "forge.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    entry = check(stopped_terminal, "database")
    assert entry["status"] == "bad"
    assert "backup" in entry["advice"]


def test_database_in_use_is_not_opened(stopped_terminal: Terminal, data_dir: Path):
    (data_dir / "forge.db").write_bytes(b"would be bad if it were opened")
    with DirectoryLock(data_dir):
        entry = check(stopped_terminal, "database")
    assert entry["status"] == "warn"
    assert f"process {os.getpid()}" in entry["finding"]


def test_stopped_server_leaves_an_intact_database(start_server: Callable[..., Server], tmp_path: Path):
    server = start_server(tmp_path / "data")
    server.kill()
    entry = check(Terminal(server.data_dir, FORGE_PORT="0"), "database")
    assert "is intact" in entry["finding"]


def test_reachable_postgresql_is_ok(stopped_terminal: Terminal, postgres: Postgres):
    stopped_terminal.environment["FORGE_DATABASE_URL"] = postgres.new_database()
    entry = check(stopped_terminal, "database")
    assert entry["status"] == "ok"
    assert entry["finding"].startswith("postgresql 1")


def test_unreachable_postgresql_is_bad_and_its_password_hidden(stopped_terminal: Terminal):
    stopped_terminal.environment["FORGE_DATABASE_URL"] = "postgresql://forge:hunter2@127.0.0.1:1/forge"
    result = stopped_terminal("doctor", "--json")
    assert result.code == 1
    assert "hunter2" not in result.out + result.err
    assert check(stopped_terminal, "database")["status"] == "bad"


def test_key_in_the_settings_is_found(stopped_terminal: Terminal):
    assert check(stopped_terminal, "model keys")["status"] == "warn"
    stopped_terminal.environment["ANTHROPIC_API_KEY"] = "sk-ant-secret"
    entry = check(stopped_terminal, "model keys")
    assert (entry["status"], entry["finding"]) == ("ok", "ANTHROPIC_API_KEY")


def test_key_in_the_vault_is_found(forge: Terminal, server: Server):
    server.call("PUT", "/api/v1/secrets/OPENAI_API_KEY", {"value": "sk-a-secret-1234"})
    entry = check(forge, "model keys")
    assert (entry["status"], entry["finding"]) == ("ok", "OPENAI_API_KEY (…1234, vault)")
    server.call("DELETE", "/api/v1/secrets/OPENAI_API_KEY")


def test_unknown_key_is_bad(stopped_terminal: Terminal, server: Server):
    stopped_terminal.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": "forge_wrong"}
    assert check(stopped_terminal, "server")["status"] == "bad"


def test_server_of_another_version_is_a_warning(stopped_terminal: Terminal, server: Server):
    import json

    status = {**server.call("GET", "/api/v1/status"), "version": "0.0.1", "time": "2020-01-01T00:00:00Z"}
    with open_stub_server() as stub:
        stub.answer(200, json.dumps({"data": status, "meta": {}, "errors": []}))
        stopped_terminal.environment |= {"FORGE_URL": stub.url, "FORGE_API_KEY": "k"}
        report = stopped_terminal("doctor", "--json").data
    by_name = {entry["name"]: entry for entry in report["checks"]}
    assert by_name["server"]["status"] == "warn"
    assert "behind this machine's" in by_name["clock"]["finding"]


def test_lock_file_is_private(stopped_terminal: Terminal, data_dir: Path):
    sqlite3.connect(data_dir / "forge.db").close()
    stopped_terminal("doctor")
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in data_dir.glob("lock"))
