"""What running a command is like in every back end: checked first, then watched from a thread of its own."""

from abc import ABC, abstractmethod
from typing import ClassVar

from forge.sandbox.checking import check_command
from forge.sandbox.models import Command, Level, Outcome
from forge.sandbox.registry import Door, Registries
from forge.sandbox.supervisor import Ending
from forge.sandbox.thread import Stop, run_in_thread


class Backend(ABC):
    name: ClassVar[str]

    def __init__(self, level: Level, registries: Registries) -> None:
        self.level = level
        self._registries = registries

    async def run(self, command: Command) -> Outcome:
        checked = check_command(command)
        async with self._registries.open(command.network) as door:
            ending = await run_in_thread(
                lambda stop: self._run(checked, door, stop), f"sandbox {command.argv[0]}"
            )
            fetched = door.fetched if door else ()
        return Outcome(level=self.level, backend=self.name, fetched=fetched, **vars(ending))

    @abstractmethod
    def _run(self, command: Command, door: Door | None, stop: Stop) -> Ending:
        """Start the command and stay until its end."""
