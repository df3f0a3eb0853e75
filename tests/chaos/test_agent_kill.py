"""kill -9 at every step boundary of an agent: same files, and no call is paid twice."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.agents import result
from tests.support.models import StartModels

from forge.events.log import EventLog
from forge.events.models import Event
from forge.runs.models import Run, RunStatus
from forge.store.database import Store
from forge.telemetry import Metrics

pytestmark = pytest.mark.chaos

MAX_LIVES = 200


def script(turns_wanted: int) -> dict[str, Any]:
    """Writes, edits that would be noticed if they were made twice, and reads side by side."""
    turns: list[dict[str, Any]] = [
        {"tools": [{"write_file": {"path": "count.py", "content": "count = 0\n"}}]},
    ]
    for i in range(turns_wanted - 2):
        edit = {"old_text": f"count = {i}\n", "new_text": f"count = {i + 1}\nstep_{i} = {i}\n"}
        looks = [{"read_file": {"path": "count.py"}}, {"list_directory": {"path": "."}}] if i % 7 == 3 else []
        tools = [{"edit_file": {"path": "count.py", "edits": [edit]}}, *looks]
        turns.append({"text": f"Turn {i}.", "tools": tools})
    turns.append({"text": "Counted."})
    return {"scenes": {"counting": {"turns": turns, "after": "stop"}}}


def expected(turns: int) -> str:
    lines = [f"count = {turns - 2}"] + [f"step_{i} = {i}" for i in reversed(range(turns - 2))]
    return "\n".join(lines) + "\n"


def live_until_done(life: dict[str, Any]) -> tuple[Run, int]:
    """One life after the other, each killed when a step has finished; the run, and how many lives it took."""
    kills, result = 0, Path(life["result"])
    with subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.agent_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as worker:
        assert worker.stdin and worker.stdout
        while not result.exists():
            dies = "before" if kills % 2 else "after"
            worker.stdin.write(json.dumps({**life, "dies": dies}) + "\n")
            worker.stdin.flush()
            code = int(worker.stdout.readline())
            kills += code == -signal.SIGKILL
            assert code in (0, -signal.SIGKILL) and kills < MAX_LIVES
        worker.stdin.close()
    return Run.model_validate_json(result.read_text()), kills


async def history(database: str, run: Run) -> list[Event]:
    store = Store(f"sqlite:///{database}")
    try:
        async with store.read() as tx:
            return await EventLog(store, Metrics(version="test")).read(tx, f"run:{run.id}", limit=10_000)
    finally:
        await store.close()


@pytest.mark.timeout(900)
def test_an_agent_killed_at_every_step_boundary_does_everything_once(
    model_server: StartModels, tmp_path: Path, thorough: bool
):
    length = 30 if thorough else 8
    server = model_server(script(length))
    root = tmp_path / "tree"
    root.mkdir()
    database = str(tmp_path / "forge.db")
    run, kills = live_until_done(
        {"database": database, "models": server.url, "root": str(root), "result": str(tmp_path / "result")}
    )
    assert run.status is RunStatus.COMPLETED
    assert (result(run).end, result(run).turns) == ("done", length)
    assert {path.name: path.read_text() for path in root.iterdir()} == {"count.py": expected(length)}
    stats = server.stats()
    assert (stats.paid, stats.repeated) == (length, 0)
    assert kills >= length * 2 - 1
    told = asyncio.run(history(database, run))
    turns = [event.data["turn"] for event in told if event.type == "agent.turn"]
    assert turns == list(range(1, length + 1))
    used = [event.data for event in told if event.type == "agent.tool"]
    assert len({one["call_id"] for one in used}) == len(used) == result(run).tool_calls
    assert not any(one["is_error"] for one in used)
