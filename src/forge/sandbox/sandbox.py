"""What every back end can do: run one command, within its limits, and leave nothing behind."""

from typing import Protocol

from forge.sandbox.models import Command, Level, Outcome


class Sandbox(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def level(self) -> Level: ...

    async def run(self, command: Command) -> Outcome:
        """Cancelling it kills all that the command started, and waits until it is dead."""
        ...
