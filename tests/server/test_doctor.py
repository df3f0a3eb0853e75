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
    """Below those the system hands out by itself: nobody else takes it before it is looked at."""
    for port in range(20_000 + os.getpid() % 5_000, 30_000):
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return str(port)
    raise AssertionError("no port is free")


@pytest.fixture
def nowhere(tmp_path: Path) -> Terminal:
    """No server, nothing saved, a port that is free."""
    return Terminal(tmp_path / "data", FORGE_PORT=free_port())


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    return path


def check(terminal: Terminal, name: str) -> dict[str, Any]:
    report = terminal("doctor", "--json").data
    (found,) = [found for found in report["checks"] if found["name"] == name]
    return found


def test_no_check_is_bad_beside_a_running_server(forge: Terminal, server: Server):
    said = forge("doctor", "--json")
    assert (said.code, said.data["ok"]) == (0, True)
    assert [found["name"] for found in said.data["checks"]] == NAMES
    by_name = {found["name"]: found for found in said.data["checks"]}
    assert server.url in by_name["server"]["finding"]
    assert "used by this server" in by_name["port"]["finding"]
    assert "in use by the server" in by_name["database"]["finding"]
    assert "agrees with the disk and server" in by_name["clock"]["finding"]


def test_no_check_is_bad_before_the_first_start(nowhere: Terminal):
    said = nowhere("doctor", "--json")
    assert said.code == 0
    by_name = {found["name"]: found for found in said.data["checks"]}
    assert "will be created" in by_name["data directory"]["finding"]
    assert "will be created" in by_name["database"]["finding"]
    assert "is free" in by_name["port"]["finding"]
    assert (by_name["server"]["status"], by_name["server"]["finding"]) == (
        "warn",
        "No Forge is running here.",
    )


def test_problem_comes_with_advice(nowhere: Terminal):
    report = nowhere("doctor", "--json").data
    assert all(found["advice"] for found in report["checks"] if found["status"] != "ok")


def test_about_page_shows_the_same(nowhere: Terminal):
    said = nowhere("doctor")
    assert "● ok" in said.out
    assert "● warn" in said.out
    assert "→ Start it: forge serve" in said.out


def test_doctor_changes_no_files(nowhere: Terminal, tmp_path: Path):
    nowhere("doctor")
    assert list(tmp_path.iterdir()) == []


def test_invalid_settings_have_exit_code_2(nowhere: Terminal):
    nowhere.environment["FORGE_PORT"] = "many"
    said = nowhere("doctor")
    assert (said.code, said.out) == (2, "")


@pytest.mark.parametrize("content", ["", "{", '{"url": 1}'])
def test_unreadable_server_file_fails_one_check_only(nowhere: Terminal, data_dir: Path, content: str):
    (data_dir / "server.json").write_text(content)
    (data_dir / "server.json").chmod(0o600)
    found = check(nowhere, "server")
    assert (found["status"], found["advice"]) == ("bad", "Delete the file.")
    assert "server.json: this is not what Forge wrote there" in found["finding"]


def test_missing_git_is_bad(nowhere: Terminal, tmp_path: Path):
    nowhere.environment["PATH"] = str(tmp_path)
    said = nowhere("doctor", "--json")
    assert (said.code, said.data["ok"]) == (1, False)
    assert check(nowhere, "git")["status"] == "bad"


def fake_program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_old_git_is_bad(nowhere: Terminal, tmp_path: Path):
    fake_program(tmp_path, "git", "echo git version 2.29.3")
    nowhere.environment["PATH"] = str(tmp_path)
    assert check(nowhere, "git") == {
        "name": "git",
        "status": "bad",
        "finding": f"git version 2.29.3 at {tmp_path}/git",
        "advice": "Install git 2.30 or newer.",
        "took_ms": None,
    }


def test_broken_git_is_bad(nowhere: Terminal, tmp_path: Path):
    fake_program(tmp_path, "git", "exit 3")
    nowhere.environment["PATH"] = str(tmp_path)
    assert "does not run" in check(nowhere, "git")["finding"]


def test_bubblewrap_without_isolation_is_not_trusted(nowhere: Terminal, tmp_path: Path):
    fake_program(tmp_path, "bwrap", "echo 'setting up uid map: Permission denied' >&2; exit 1")
    nowhere.environment["PATH"] = f"{tmp_path}:/usr/bin:/bin"
    assert "bubblewrap: setting up uid map: Permission denied" in check(nowhere, "sandbox")["finding"]


@pytest.mark.parametrize(("mode", "status"), [(0o700, "ok"), (0o750, "warn"), (0o770, "bad"), (0o777, "bad")])
def test_public_data_directory_is_reported(nowhere: Terminal, data_dir: Path, mode: int, status: str):
    data_dir.chmod(mode)
    found = check(nowhere, "data directory")
    assert found["status"] == status
    assert found["advice"] == (None if status == "ok" else f"chmod 700 {data_dir}")


def test_data_directory_of_another_user_is_bad(
    nowhere: Terminal, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "getuid", lambda: data_dir.stat().st_uid + 1)
    assert "another user" in check(nowhere, "data directory")["finding"]


def test_unfinished_restore_is_bad(nowhere: Terminal, data_dir: Path):
    (data_dir / "restore-unfinished").write_text("{}")
    found = check(nowhere, "data directory")
    assert (found["status"], "forge restore" in found["advice"]) == ("bad", True)


def test_file_is_rejected_as_data_directory(nowhere: Terminal, tmp_path: Path):
    (tmp_path / "data").touch()
    said = nowhere("doctor")
    assert said.code == 2
    assert str(tmp_path / "data") in said.err


@pytest.mark.parametrize(("free", "status"), [(3e9, "ok"), (1e9, "warn"), (1e8, "bad")])
def test_full_disk_is_detected(nowhere: Terminal, monkeypatch: pytest.MonkeyPatch, free: float, status: str):
    usage = type("Usage", (), {"free": int(free)})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert check(nowhere, "disk")["status"] == status


def test_port_used_by_another_program_is_bad(nowhere: Terminal):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        nowhere.environment["FORGE_PORT"] = str(port)
        found = check(nowhere, "port")
    assert found["status"] == "bad"
    assert "another program" in found["finding"]
    assert f"forge serve --port {port + 1}" in found["advice"]


def test_port_used_by_another_forge_is_reported(
    nowhere: Terminal, server: Server, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("forge.server.checks.services.TIMEOUT_S", 60.0)
    nowhere.environment["FORGE_PORT"] = server.url.rpartition(":")[2]
    assert "another Forge" in check(nowhere, "port")["finding"]


def test_intact_database_is_ok(nowhere: Terminal, data_dir: Path):
    with sqlite3.connect(data_dir / "forge.db") as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    found = check(nowhere, "database")
    assert (found["status"], "is intact" in found["finding"], "wal" in found["finding"]) == ("ok", True, True)


def test_damaged_database_is_bad(nowhere: Terminal, data_dir: Path):
    (data_dir / "forge.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    found = check(nowhere, "database")
    assert found["status"] == "bad"
    assert "backup" in found["advice"]


def test_database_in_use_is_not_opened(nowhere: Terminal, data_dir: Path):
    (data_dir / "forge.db").write_bytes(b"would be bad if it were opened")
    with DirectoryLock(data_dir):
        found = check(nowhere, "database")
    assert found["status"] == "warn"
    assert f"process {os.getpid()}" in found["finding"]


def test_stopped_server_leaves_an_intact_database(start_server: Callable[..., Server], tmp_path: Path):
    server = start_server(tmp_path / "data")
    server.kill()
    found = check(Terminal(server.data_dir, FORGE_PORT="0"), "database")
    assert "is intact" in found["finding"]


def test_reachable_postgresql_is_ok(nowhere: Terminal, postgres: Postgres):
    nowhere.environment["FORGE_DATABASE_URL"] = postgres.new_database()
    found = check(nowhere, "database")
    assert found["status"] == "ok"
    assert found["finding"].startswith("postgresql 1")


def test_unreachable_postgresql_is_bad_and_its_password_hidden(nowhere: Terminal):
    nowhere.environment["FORGE_DATABASE_URL"] = "postgresql://forge:hunter2@127.0.0.1:1/forge"
    said = nowhere("doctor", "--json")
    assert said.code == 1
    assert "hunter2" not in said.out + said.err
    assert check(nowhere, "database")["status"] == "bad"


def test_key_in_the_settings_is_found(nowhere: Terminal):
    assert check(nowhere, "model keys")["status"] == "warn"
    nowhere.environment["ANTHROPIC_API_KEY"] = "sk-ant-secret"
    found = check(nowhere, "model keys")
    assert (found["status"], found["finding"]) == ("ok", "ANTHROPIC_API_KEY")


def test_key_in_the_vault_is_found(forge: Terminal, server: Server):
    server.call("PUT", "/api/v1/secrets/OPENAI_API_KEY", {"value": "sk-a-secret-1234"})
    found = check(forge, "model keys")
    assert (found["status"], found["finding"]) == ("ok", "OPENAI_API_KEY (…1234, vault)")
    server.call("DELETE", "/api/v1/secrets/OPENAI_API_KEY")


def test_unknown_key_is_bad(nowhere: Terminal, server: Server):
    nowhere.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": "forge_wrong"}
    assert check(nowhere, "server")["status"] == "bad"


def test_server_of_another_version_is_a_warning(nowhere: Terminal, server: Server):
    import json

    status = {**server.call("GET", "/api/v1/status"), "version": "0.0.1", "time": "2020-01-01T00:00:00Z"}
    with open_stub_server() as odd:
        odd.answer(200, json.dumps({"data": status, "meta": {}, "errors": []}))
        nowhere.environment |= {"FORGE_URL": odd.url, "FORGE_API_KEY": "k"}
        report = nowhere("doctor", "--json").data
    by_name = {found["name"]: found for found in report["checks"]}
    assert by_name["server"]["status"] == "warn"
    assert "behind this machine's" in by_name["clock"]["finding"]


def test_lock_file_is_private(nowhere: Terminal, data_dir: Path):
    sqlite3.connect(data_dir / "forge.db").close()
    nowhere("doctor")
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in data_dir.glob("lock"))
