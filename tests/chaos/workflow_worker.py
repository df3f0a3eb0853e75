"""A process that executes workflows and kills itself at a given point. See `test_workflow_kill`.

It imports everything, then forks a child per line of options on stdin, so that each child starts quickly. It logs the
steps that were running at each kill, because only those may be repeated.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.live_forge import settings_for

import forge.cli
import forge.llm.adapter
from forge.app import Forge, open_forge, own_address
from forge.errors import Conflict
from forge.runs.models import Run
from forge.store.database import Tx
from forge.workflows.engine import step_store
from forge.workflows.engine.step_execution import StepExecution
from forge.workflows.engine.step_store import StepRow
from forge.workflows.models import StepStatus, Verdict

assert forge.cli and forge.llm.adapter


@dataclass
class Killer:
    """Kill this process at a boundary: when a step is settled, scheduled for retry or starts to wait."""

    kills_file: Path
    before_commit: bool
    boundaries_to_skip: int
    running_steps: set[str] = field(default_factory=set[str])

    def install(self) -> None:
        save, run = step_store.save, StepExecution.run

        async def save_and_kill(tx: Tx, rows: Mapping[str, Sequence[StepRow]]) -> None:
            boundaries = [
                row
                for run_id, run_rows in rows.items()
                for row in run_rows
                if await is_boundary(tx, run_id, row)
            ]
            await save(tx, rows)
            if boundaries and self.boundaries_to_skip:
                self.boundaries_to_skip -= 1
            elif boundaries:
                self._kill_at(tx, boundaries)

        async def run_and_track(step_execution: StepExecution) -> StepRow:
            self.running_steps.add(step_execution._key)
            row = await run(step_execution)
            self.running_steps.discard(step_execution._key)
            return row

        step_store.save = save_and_kill
        StepExecution.run = run_and_track  # type: ignore[method-assign]

    def _kill_at(self, tx: Tx, rows: Sequence[StepRow]) -> None:
        """Kill the process immediately before or after the commit."""

        async def kill_before_commit() -> None:
            self._kill(rows, interrupted=self.running_steps)

        def kill_after_commit() -> None:
            self._kill(
                rows, interrupted=self.running_steps - {row.key for row in rows if row.status.is_settled}
            )

        if self.before_commit:
            tx.before_commit(kill_before_commit)
        else:
            tx.after_commit(kill_after_commit)

    def _kill(self, rows: Sequence[StepRow], *, interrupted: set[str]) -> None:
        boundaries = [f"{row.key} {row.status}" for row in rows]
        line = {"before": self.before_commit, "at": boundaries, "running_steps": sorted(interrupted)}
        with self.kills_file.open("a") as file:
            file.write(json.dumps(line) + "\n")
        os.kill(os.getpid(), signal.SIGKILL)


async def is_boundary(tx: Tx, run_id: str, row: StepRow) -> bool:
    previous = (await step_store.load(tx, run_id, [row.key])).get(row.key)
    has_changed = previous is None or previous.status is not row.status
    is_waiting = row.ticket is not None and (previous is None or previous.ticket is None)
    return is_waiting or (has_changed and (row.status.is_settled or row.status is StepStatus.RETRYING))


async def approve(forge: Forge, account_id: str, run_id: str) -> None:
    """Approve gates until cancelled."""
    while True:
        try:
            await forge.workflows.runs.decide(account_id, run_id, Verdict(), approve=True, by="Owner")
        except Conflict:
            await asyncio.sleep(0.02)


async def finish(forge: Forge, run_id: str) -> Run:
    account_id = (await forge.accounts.ensure_owner()).id
    approver = asyncio.create_task(approve(forge, account_id, run_id))
    while not (run := await forge.runs.find_one(account_id, run_id)).status.is_final:
        await asyncio.sleep(0.02)
    approver.cancel()
    return run


async def execute(options: dict[str, Any]) -> Run:
    settings = settings_for(
        Path(options["data_dir"]), "sqlite", http_allow=(options["place"],), audit_roots=()
    )
    async with open_forge(settings, own_address(settings, 0), terminal=False) as forge:
        return await finish(forge, options["run_id"])


def main() -> None:
    for line in sys.stdin:
        options = json.loads(line)
        pid = os.fork()
        if pid == 0:
            Killer(Path(options["kills_log"]), options["before"], options["pass"]).install()
            run = asyncio.run(execute(options))
            Path(options["result"]).write_text(run.model_dump_json())
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


main()
