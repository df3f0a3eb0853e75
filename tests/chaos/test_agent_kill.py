"""kill -9 at every step boundary of an agent: the files are the same, and no call is paid for twice."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.agents import finish, result
from tests.support.models import StartModels

from forge.events.log import EventLog
from forge.events.models import Event
from forge.runs.models import Run, RunStatus
from forge.store.database import Store
from forge.telemetry import Metrics

pytestmark = pytest.mark.chaos

MAX_PROCESSES = 200


def script(turn_count: int) -> dict[str, Any]:
    """Return a script with writes, edits that fail if repeated, and parallel reads."""
    turns: list[dict[str, Any]] = [
        {"tools": [{"write_file": {"path": "count.py", "content": "count = 0\n"}}]},
    ]
    for i in range(turn_count - 2):
        edit = {"old_text": f"count = {i}\n", "new_text": f"count = {i + 1}\nstep_{i} = {i}\n"}
        reads = [{"read_file": {"path": "count.py"}}, {"list_directory": {"path": "."}}] if i % 7 == 3 else []
        tools = [{"edit_file": {"path": "count.py", "edits": [edit]}}, *reads]
        turns.append({"text": f"Turn {i}.", "tools": tools})
    turns.append({"text": "Counted.", "tools": [finish()]})
    return {"scenes": {"counting": {"turns": turns, "after": "stop"}}}


def expected(turns: int) -> str:
    lines = [f"count = {turns - 2}"] + [f"step_{i} = {i}" for i in reversed(range(turns - 2))]
    return "\n".join(lines) + "\n"


def run_until_done(options: dict[str, Any]) -> tuple[Run, int]:
    """Restart the worker until the run is done, killing it after each step; return the run and the number of kills."""
    kills, result = 0, Path(options["result"])
    with subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.agent_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as worker:
        assert worker.stdin and worker.stdout
        while not result.exists():
            kill_point = "before" if kills % 2 else "after"
            worker.stdin.write(json.dumps({**options, "kill_point": kill_point}) + "\n")
            worker.stdin.flush()
            exit_code = int(worker.stdout.readline())
            kills += exit_code == -signal.SIGKILL
            assert exit_code in (0, -signal.SIGKILL) and kills < MAX_PROCESSES
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
def test_agent_killed_at_every_step_boundary_repeats_nothing(
    model_server: StartModels, tmp_path: Path, thorough: bool
):
    length = 30 if thorough else 8
    server = model_server(script(length))
    root = tmp_path / "tree"
    root.mkdir()
    database = str(tmp_path / "forge.db")
    run, kills = run_until_done(
        {"database": database, "models": server.url, "root": str(root), "result": str(tmp_path / "result")}
    )
    assert run.status is RunStatus.COMPLETED
    assert (result(run).end, result(run).turns) == ("done", length)
    assert {path.name: path.read_text() for path in root.iterdir()} == {"count.py": expected(length)}
    stats = server.stats()
    assert (stats.paid, stats.repeated) == (length, 0)
    assert kills >= length * 2 - 1
    events = asyncio.run(history(database, run))
    turns = [event.data["turn"] for event in events if event.type == "agent.turn"]
    assert turns == list(range(1, length + 1))
    tool_events = [event.data for event in events if event.type == "agent.tool"]
    assert (
        len({tool_event["call_id"] for tool_event in tool_events})
        == len(tool_events)
        == result(run).tool_calls
    )
    assert not any(tool_event["is_error"] for tool_event in tool_events)
