"""A database of the first release opens in this one without data loss.

The first release (schema 0001) created the fixtures; it was killed during a running run and one that waited at a gate.
Deadlines were moved to the year 2999.
"""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from sqlalchemy import event
from tests.support.live_forge import Live, live, settings_for
from tests.support.postgres import Postgres
from tests.support.timeouts import PATIENCE_S

from forge.accounts.models import owner_id
from forge.backup.restore import restore
from forge.store import schema
from forge.store.database import Store

FIXTURES = Path(__file__).parent / "fixtures"
FIRST = "0001"


@dataclass(frozen=True)
class FirstRelease:
    live: Live
    notes: dict[str, Any]
    data_dir: Path

    async def get(self, path: str, key: str | None = None) -> Any:
        async with self.live.client(**({"Authorization": f"Bearer {key}"} if key else {})) as client:
            response = await client.get(f"/api/v1{path}")
        assert response.is_success, response.text
        return response.json()["data"]

    async def status(self, name: str) -> str:
        return (await self.get(f"/runs/{self.notes['runs'][name]}"))["run"]["status"]

    async def wait_for_status(self, name: str, status: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while await self.status(name) != status:
                await asyncio.sleep(0.05)


def first_sqlite(data_dir: Path, notes: dict[str, Any]) -> str:
    data_dir.mkdir(mode=0o700)
    with sqlite3.connect(data_dir / "forge.db") as database:
        database.executescript((FIXTURES / "first-release.sql").read_text())
    database.close()
    (data_dir / "vault.key").write_text(notes["vault_key"])
    (data_dir / "vault.key").chmod(0o600)
    return f"sqlite:///{data_dir / 'forge.db'}"


def first_postgresql(data_dir: Path, url: str) -> str:
    archive = FIXTURES / "first-release-postgresql.tar.gz"
    restore(settings_for(data_dir, url), archive, lambda _: None, trust=True)
    return url


def load_notes(kind: str) -> dict[str, Any]:
    return json.loads((FIXTURES / "first-release.json").read_text())[kind]


@pytest.fixture(params=["sqlite", "postgresql"])
async def first_release(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[FirstRelease]:
    notes, data_dir = load_notes(request.param), tmp_path / "data"
    if request.param == "sqlite":
        url = first_sqlite(data_dir, notes)
    else:
        postgres: Postgres = request.getfixturevalue("postgres")
        url = first_postgresql(data_dir, postgres.new_database())
    async with live(settings_for(data_dir, url, run_retention_days=0)) as live_forge:
        yield FirstRelease(live_forge, notes, data_dir)


async def test_first_release_data_is_kept_and_waiting_runs_continue(first_release: FirstRelease):
    notes, forge = first_release.notes, first_release.live.forge
    assert await schema.current_revision(forge.store) == schema.revisions()[-1]

    me = await first_release.get("/me", key=notes["key"])
    assert (me["account"]["name"], me["scopes"]) == ("Ada Owner", ["read", "write"])
    async with first_release.live.client(Authorization=f"Bearer {notes['revoked_key']}") as client:
        assert (await client.get("/api/v1/me")).status_code == 401
    async with httpx2.AsyncClient(
        base_url=first_release.live.url, cookies={"forge_session": notes["session_cookie"]}
    ) as browser:
        assert (await browser.get("/api/v1/me")).status_code == 200

    vault = forge.accounts.vault
    assert (await vault.resolve(owner_id(), "ANTHROPIC_API_KEY")).get_secret_value() == "sk-ant-first-release"
    assert (await vault.resolve(owner_id(), "TOKEN", "bot:ada")).get_secret_value() == "café 🔑 hunter2"

    for name in ("completed", "cancelled", "failed"):
        assert await first_release.status(name) == name
    assert await first_release.status("answered") == "completed"
    for name, count in notes["events"].items():
        events = await first_release.get(f"/events?stream=run:{notes['runs'][name]}&limit=1000")
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert len(events) == count if name not in ("running", "waiting") else len(events) >= count

    (gate,) = await first_release.get("/gates?status=open")
    assert gate["run_id"] == notes["runs"]["waiting"]
    async with first_release.live.client() as client:
        body = {"option": "yes", "shown_hash": gate["shown_hash"]}
        response = await client.post(f"/api/v1/gates/{gate['id']}/answer", json=body)
        assert response.is_success, response.text
        await first_release.wait_for_status("waiting", "completed")
        run = (await first_release.get(f"/runs/{notes['runs']['running']}"))["run"]
        assert (run["status"], run["attempt"]) == ("running", 2), "interrupted runs are restarted"
        assert (await client.post(f"/api/v1/runs/{run['id']}/cancel")).is_success
    if forge.store.is_sqlite:
        assert (first_release.data_dir / f"forge.db.schema-{FIRST}.backup").exists()


@pytest.mark.parametrize("revision", schema.revisions())
async def test_every_intermediate_schema_opens_with_its_data(revision: str, tmp_path: Path):
    store = Store(first_sqlite(tmp_path / "data", load_notes("sqlite")))
    async with store.begin() as tx:
        await tx.connection.run_sync(schema.upgrade, revision)
    assert await schema.current_revision(store) == revision
    await schema.migrate(store)
    assert await schema.current_revision(store) == schema.revisions()[-1]
    await store.close()
    original, migrated = sqlite3.connect(":memory:"), sqlite3.connect(tmp_path / "data" / "forge.db")
    original.executescript((FIXTURES / "first-release.sql").read_text())
    tables = [name for (name,) in original.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in set(tables) - {"alembic_version"}:
        columns = ", ".join(f'"{row[1]}"' for row in original.execute(f'PRAGMA table_info("{table}")'))
        query = f'SELECT {columns} FROM "{table}"'
        assert sorted(map(repr, migrated.execute(query))) == sorted(map(repr, original.execute(query))), table
    original.close()
    migrated.close()


def test_migration_killed_at_any_statement_continues_at_the_next_start(tmp_path: Path):
    first_sqlite(tmp_path / "first", load_notes("sqlite"))
    tmp_path = tmp_path.resolve()
    kill_at, exit_code = 0, -signal.SIGKILL
    while exit_code == -signal.SIGKILL:
        kill_at += 31
        data_dir = tmp_path / f"killed-{kill_at}"
        shutil.copytree(tmp_path / "first", data_dir)
        exit_code = _migrate_until(data_dir / "forge.db", kill_at)
        database = sqlite3.connect(data_dir / "forge.db")
        (revision,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
        database.close()
        assert revision in (FIRST, schema.revisions()[-1]), "the migration was applied partially"
        assert _migrate_until(data_dir / "forge.db", 0) == 0
        backup = sqlite3.connect(data_dir / f"forge.db.schema-{FIRST}.backup")
        assert backup.execute("SELECT version_num FROM alembic_version").fetchone() == (FIRST,)
        assert backup.execute("SELECT count(*) FROM runs").fetchone() == (7,)
        backup.close()
    assert (exit_code, kill_at > 50) == (0, True)


def _migrate_until(path: Path, kill_at: int) -> int:
    """Migrate in a child process that is killed at the given statement (0: never), and return its exit code."""
    pid = os.fork()
    if pid == 0:
        remaining = kill_at

        def count(*_: object) -> None:
            nonlocal remaining
            remaining -= 1
            if remaining == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(sa.Engine, "before_cursor_execute", count)
        try:
            asyncio.run(schema.migrate(Store(f"sqlite:///{path}")))
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
