"""A process that executes agents and kills itself at a given point. See `test_agent_kill`.

It imports everything, then forks a child per line of options on stdin, so that each child starts quickly.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.support.agents import open_agent
from tests.support.engine import ACCOUNT

import forge.llm.adapter
from forge.runs.attempt import Attempts
from forge.runs.journal import Journal
from forge.runs.models import Run
from forge.store.database import Store
from forge.store.schema import migrate

assert forge.llm.adapter


def kill_at_next_boundary(*, before_journal: bool) -> None:
    """Kill this process after the next step: before or after the engine's journal records it."""
    step_finished = Journal.step_finished

    async def finish_and_kill(self: Journal, *args: Any, **options: Any) -> None:
        await step_finished(self, *args, **options)
        if before_journal:
            os.kill(os.getpid(), signal.SIGKILL)
        Journal.step_finished = step_finished  # type: ignore[method-assign]
        Attempts.run = kill  # type: ignore[method-assign]

    async def kill(self: Attempts, *args: Any, **options: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    Journal.step_finished = finish_and_kill  # type: ignore[method-assign]


async def execute(options: dict[str, Any]) -> Run:
    store = Store(f"sqlite:///{options['database']}")
    await migrate(store)
    async with open_agent(store, options["models"], Path(options["root"])) as agent:
        existing = (await agent.engine.runs.find(ACCOUNT)).items
        run = existing[0] if existing else await agent.start("thirty turns")
        run = await agent.engine.finished(run.id)
    await store.close()
    return run


def main() -> None:
    for line in sys.stdin:
        options = json.loads(line)
        pid = os.fork()
        if pid == 0:
            if options["kill_point"]:
                kill_at_next_boundary(before_journal=options["kill_point"] == "before")
            run = asyncio.run(execute(options))
            Path(options["result"]).write_text(run.model_dump_json())
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


main()
