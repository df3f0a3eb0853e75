"""No isolation: a clean environment, limits, and nobody left behind. Only for those who ask for it."""

from dataclasses import replace

from forge.sandbox.checking import check_command
from forge.sandbox.environment import build_env
from forge.sandbox.launched import Policy, launch, temporary_home
from forge.sandbox.models import Command, Level, Outcome
from forge.sandbox.supervisor import Ending
from forge.sandbox.thread import Stop, run_in_thread


class Plain:
    name = "plain"

    def __init__(self, level: Level) -> None:
        self.level = level

    async def run(self, command: Command) -> Outcome:
        command = check_command(command)
        ending = await run_in_thread(lambda stop: _run(command, stop), f"command {command.argv[0]}")
        return Outcome(level=self.level, backend=self.name, **vars(ending))


def _run(command: Command, stop: Stop) -> Ending:
    with temporary_home(command) as home:
        env = build_env(command.env, home=str(home), tmp=str(home))
        return launch(replace(command, writable=(*command.writable, home)), Policy(command.argv, env), stop)
