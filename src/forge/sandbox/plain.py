"""No isolation: a clean environment, limits, and nobody left behind. Only for those who ask for it."""

from forge.sandbox.launched import Policy, launch, prepared
from forge.sandbox.models import Command
from forge.sandbox.registry import Door
from forge.sandbox.running import Backend
from forge.sandbox.supervisor import Ending
from forge.sandbox.thread import Stop


class Plain(Backend):
    name = "plain"

    def _run(self, command: Command, door: Door | None, stop: Stop) -> Ending:
        with prepared(command, door) as ready:
            return launch(ready, Policy(command.argv), stop)
