"""No isolation: a clean environment, limits, and nobody left behind. Only for those who ask for it."""

from forge.sandbox.launched import Policy, launch, prepared
from forge.sandbox.models import Command, Level, Outcome
from forge.sandbox.registry import Door, Registries
from forge.sandbox.running import run_command
from forge.sandbox.supervisor import Ending
from forge.sandbox.thread import Stop


class Plain:
    name = "plain"

    def __init__(self, level: Level, registries: Registries) -> None:
        self.level = level
        self._registries = registries

    async def run(self, command: Command) -> Outcome:
        return await run_command(self, command, self._registries, _run)


def _run(command: Command, door: Door | None, stop: Stop) -> Ending:
    with prepared(command, door) as ready:
        return launch(ready, Policy(command.argv), stop)
