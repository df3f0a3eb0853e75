"""What running a command is like in every back end: checked first, then watched from a thread of its own."""

from collections.abc import Callable

from forge.sandbox.checking import check_command
from forge.sandbox.models import Command, Outcome
from forge.sandbox.registry import Door, Registries
from forge.sandbox.sandbox import Sandbox
from forge.sandbox.supervisor import Ending
from forge.sandbox.thread import Stop, run_in_thread

Work = Callable[[Command, Door | None, Stop], Ending]
"""What differs: starts the command and stays until its end."""


async def run_command(sandbox: Sandbox, command: Command, registries: Registries, work: Work) -> Outcome:
    checked = check_command(command)
    async with registries.open(command.network) as door:
        ending = await run_in_thread(lambda stop: work(checked, door, stop), f"sandbox {command.argv[0]}")
        fetched = door.fetched if door else ()
    return Outcome(level=sandbox.level, backend=sandbox.name, fetched=fetched, **vars(ending))
