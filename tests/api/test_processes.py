"""Several processes: on PostgreSQL they work together, on SQLite the second one is rejected."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.support.live_forge import live, settings_for
from tests.support.postgres import Postgres
from tests.support.server import Server
from tests.support.timeouts import PATIENCE_S

from forge.events import hub


async def test_events_of_one_process_reach_another_immediately(
    start_server: Callable[..., Server], postgres: Postgres, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hub, "RECHECK_S", 3600.0)  # a lost notification is never noticed
    url = postgres.new_database()
    one = await asyncio.to_thread(start_server, tmp_path / "one", FORGE_DATABASE_URL=url)
    settings = settings_for(tmp_path / "two", url, vault_key_file=one.data_dir / "vault.key")
    async with live(settings) as two, two.socket() as socket:
        await socket.send(json.dumps({"type": "subscribe", "stream": f"account:{two.account_id}"}))
        assert json.loads(await socket.recv())["type"] == "subscribed"
        run = await asyncio.to_thread(one.call, "POST", "/api/v1/runs", {"kind": "self_test"})
        statuses: list[str] = []
        async with asyncio.timeout(PATIENCE_S):
            while "completed" not in statuses:
                message = json.loads(await socket.recv())
                statuses += [event["data"]["run"]["status"] for event in message.get("events", [])]
    assert statuses[0] == "pending" and run["status"] == "pending"


async def test_run_is_cancelled_through_another_process(
    start_server: Callable[..., Server], postgres: Postgres, tmp_path
):
    url = postgres.new_database()
    shared = {"FORGE_DATABASE_URL": url, "FORGE_VAULT_KEY_FILE": str(tmp_path / "vault.key")}
    servers = [await asyncio.to_thread(start_server, tmp_path / name, **shared) for name in ("one", "two")]
    bodies = [{"kind": "self_test", "input": {"step_ms": 60_000}} for _ in range(6)]
    ids = [(await asyncio.to_thread(servers[0].call, "POST", "/api/v1/runs", body))["id"] for body in bodies]
    async with asyncio.timeout(PATIENCE_S):
        for run_id in ids:
            while not (await asyncio.to_thread(servers[0].call, "GET", f"/api/v1/runs/{run_id}"))["steps"]:
                await asyncio.sleep(0.05)
    for run_id in ids:
        await asyncio.to_thread(servers[1].call, "POST", f"/api/v1/runs/{run_id}/cancel")
    for server in servers:
        await asyncio.to_thread(server.stop)  # would wait for a running step
        assert server.process.returncode == 0


def test_second_server_on_a_data_directory_is_rejected(server: Server):
    command = [sys.executable, "-m", "forge", "serve", "--port", "0", "--data-dir", str(server.data_dir)]
    second = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert second.returncode == 2
    assert f"Another Forge (process {server.process.pid}) is using" in second.stderr
    assert "Traceback" not in second.stderr
    assert server.call("GET", "/api/v1/me")


def test_server_with_another_vault_key_does_not_start(
    start_server: Callable[..., Server], postgres: Postgres, tmp_path
):
    url = postgres.new_database()
    start_server(tmp_path / "one", FORGE_DATABASE_URL=url)
    with pytest.raises(AssertionError, match="The vault key does not match"):
        start_server(tmp_path / "two", FORGE_DATABASE_URL=url)


def test_worker_without_postgresql_is_rejected(tmp_path):
    command = [sys.executable, "-m", "forge", "worker", "--data-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "FORGE_DATABASE_URL: a worker needs PostgreSQL" in done.stderr) == (2, True)


def test_shutdown_leaves_nothing_behind(start_server: Callable[..., Server]):
    server = start_server()
    server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 60_000}})
    server.stop()
    assert server.process.returncode == 0
    assert not (server.data_dir / "server.json").exists()
    assert "Traceback" not in server.output and "ERROR" not in server.output
