"""A process that executes workflows and kills itself at a given point. See `test_workflow_kill`.

It waits, with everything imported, for a line that says what to do, and forks: each life starts in a moment. What was
under way when a life ended is written down, so that the test knows what may have been done again.
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
class Death:
    """Kill -9 at a boundary: when a step is settled, put off, or has begun something it will wait for."""

    deaths: Path
    before_the_commit: bool
    boundaries_to_pass: int
    under_way: set[str] = field(default_factory=set[str])

    def lie_in_wait(self) -> None:
        save, run = step_store.save, StepExecution.run

        async def saved(tx: Tx, rows: Mapping[str, Sequence[StepRow]]) -> None:
            at = [row for run_id, own in rows.items() for row in own if await is_boundary(tx, run_id, row)]
            await save(tx, rows)
            if at and self.boundaries_to_pass:
                self.boundaries_to_pass -= 1
            elif at:
                self._die_with(tx, at)

        async def watched(step_execution: StepExecution) -> StepRow:
            self.under_way.add(step_execution._key)
            row = await run(step_execution)
            self.under_way.discard(step_execution._key)
            return row

        step_store.save = saved
        StepExecution.run = watched  # type: ignore[method-assign]

    def _die_with(self, tx: Tx, rows: Sequence[StepRow]) -> None:
        """Last thing before the commit, or first thing after it."""

        async def early() -> None:
            self._end(rows, lost=self.under_way)

        def late() -> None:
            self._end(rows, lost=self.under_way - {row.key for row in rows if row.status.is_settled})

        if self.before_the_commit:
            tx.before_commit(early)
        else:
            tx.after_commit(late)

    def _end(self, rows: Sequence[StepRow], *, lost: set[str]) -> None:
        at = [f"{row.key} {row.status}" for row in rows]
        line = {"before": self.before_the_commit, "at": at, "under_way": sorted(lost)}
        with self.deaths.open("a") as deaths:
            deaths.write(json.dumps(line) + "\n")
        os.kill(os.getpid(), signal.SIGKILL)


async def is_boundary(tx: Tx, run_id: str, row: StepRow) -> bool:
    known = (await step_store.load(tx, run_id, [row.key])).get(row.key)
    is_new = known is None or known.status is not row.status
    has_begun = row.ticket is not None and (known is None or known.ticket is None)
    return has_begun or (is_new and (row.status.is_settled or row.status is StepStatus.RETRYING))


async def approve(forge: Forge, account_id: str, run_id: str) -> None:
    """Until the run has ended."""
    while True:
        try:
            await forge.workflows.runs.decide(account_id, run_id, Verdict(), approve=True, by="Owner")
        except Conflict:
            await asyncio.sleep(0.02)


async def ended(forge: Forge, run_id: str) -> Run:
    account_id = (await forge.accounts.ensure_owner()).id
    approving = asyncio.create_task(approve(forge, account_id, run_id))
    while not (run := await forge.runs.find_one(account_id, run_id)).status.is_final:
        await asyncio.sleep(0.02)
    approving.cancel()
    return run


async def live(life: dict[str, Any]) -> Run:
    settings = settings_for(Path(life["data_dir"]), "sqlite", http_allow=(life["place"],), audit_roots=())
    async with open_forge(settings, own_address(settings, 0), terminal=False) as forge:
        return await ended(forge, life["run_id"])


def main() -> None:
    for line in sys.stdin:
        life = json.loads(line)
        child = os.fork()
        if child == 0:
            Death(Path(life["deaths"]), life["before"], life["pass"]).lie_in_wait()
            run = asyncio.run(live(life))
            Path(life["result"]).write_text(run.model_dump_json())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


main()
