"""A process that only executes agents and kills itself at a given point. See `test_agent_kill`.

It waits, with everything imported, for a line that says what to do, and forks: each life starts in a moment.
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


def die_at_the_next_boundary(*, before_the_journal: bool) -> None:
    """Kill -9 when a step has finished: as soon as the log knows, or once the engine's journal knows as well."""
    finished = Journal.step_finished

    async def finish_and_die(self: Journal, *args: Any, **options: Any) -> None:
        await finished(self, *args, **options)
        if before_the_journal:
            os.kill(os.getpid(), signal.SIGKILL)
        Journal.step_finished = finished  # type: ignore[method-assign]
        Attempts.run = attempt_and_die  # type: ignore[method-assign]

    async def attempt_and_die(self: Attempts, *args: Any, **options: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    Journal.step_finished = finish_and_die  # type: ignore[method-assign]


async def live(life: dict[str, Any]) -> Run:
    store = Store(f"sqlite:///{life['database']}")
    await migrate(store)
    async with open_agent(store, life["models"], Path(life["root"])) as agent:
        known = (await agent.engine.runs.find(ACCOUNT)).items
        run = known[0] if known else await agent.start("thirty turns")
        ended = await agent.engine.finished(run.id)
    await store.close()
    return ended


def main() -> None:
    for line in sys.stdin:
        life = json.loads(line)
        child = os.fork()
        if child == 0:
            if life["dies"]:
                die_at_the_next_boundary(before_the_journal=life["dies"] == "before")
            ended = asyncio.run(live(life))
            Path(life["result"]).write_text(ended.model_dump_json())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


main()
