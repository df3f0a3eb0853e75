"""Count test results from the report that the runner writes.

The report comes from the sandbox and is untrusted: it is read from a separate directory, never through a
link, with a size limit and without XML entities. An unreadable report means that counts are unknown; it is
not an error, and the output is never parsed instead.
"""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from os import chown, getuid
from pathlib import Path
from xml.parsers import expat

from pydantic import BaseModel, Field, ValidationError

from forge.agents.commands.command_rules import Runner
from forge.errors import ForgeError
from forge.kernel.tree_removal import try_remove_tree
from forge.workspace.filesystem.files import Files

NAME = "report"
MAX_BYTES = 20 << 20
MAX_TESTS = 10**9
"""A report with more tests is invalid."""


@dataclass(frozen=True)
class Counts:
    passed: int
    failed: int
    skipped: int

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class Report:
    """Directory of one report, and the options that make a runner write it there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def options(self, runner: Runner) -> tuple[str, ...]:
        file = self.folder / NAME
        return {
            Runner.PYTEST: (f"--junitxml={file}",),
            Runner.VITEST: ("--reporter=default", "--reporter=json", f"--outputFile.json={file}"),
            Runner.JEST: ("--json", f"--outputFile={file}"),
            Runner.NODE: (
                *("--test-reporter=spec", "--test-reporter-destination=stdout"),
                *("--test-reporter=junit", f"--test-reporter-destination={file}"),
            ),
        }.get(runner, ())

    def counts(self, runner: Runner) -> Counts | None:
        with suppress(ForgeError), Files(self.folder) as files:
            found = files.read(NAME, limit=MAX_BYTES)
            if found.hash is not None:
                return _READERS[runner](found.data) if runner in _READERS else None
        return None


@asynccontextmanager
async def report_folder(workdir: Path) -> AsyncGenerator[Report]:
    """Create a temporary directory outside the workspace, writable for the owner of the workspace."""
    folder = _make_folder(
        workdir
    )  # not in a thread: a cancellation must not come between creating and removing it
    try:
        yield Report(folder)
    finally:
        await asyncio.to_thread(try_remove_tree, folder, "the report of a test run")


def _make_folder(workdir: Path) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="forge-report-")).resolve()
    if getuid() == 0:
        owner = workdir.stat()
        chown(folder, owner.st_uid, owner.st_gid)
    return folder


def read_junit(data: bytes) -> Counts | None:
    """Count test cases by their elements; totals in the report are ignored."""
    try:
        return _Junit().read(data)
    except (expat.ExpatError, ValueError):
        return None


class _Junit:
    def __init__(self) -> None:
        self._count = {"passed": 0, "failed": 0, "skipped": 0}
        self._case = "passed"

    def read(self, data: bytes) -> Counts | None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.Parse(data, True)
        return Counts(**self._count)

    def _start(self, name: str, _: object) -> None:
        if name == "testcase":
            self._case = "passed"
        elif name in ("failure", "error"):
            self._case = "failed"
        elif name == "skipped" and self._case == "passed":
            self._case = "skipped"

    def _end(self, name: str) -> None:
        if name == "testcase":
            self._count[self._case] += 1

    def _refuse(self, *_: object) -> None:
        raise ValueError("a report must not declare a document type or entities")


class _Jest(BaseModel):
    """JSON report of jest; vitest writes the same format."""

    passed: int = Field(alias="numPassedTests", ge=0, le=MAX_TESTS)
    failed: int = Field(alias="numFailedTests", ge=0, le=MAX_TESTS)
    pending: int = Field(alias="numPendingTests", ge=0, le=MAX_TESTS)
    todo: int = Field(alias="numTodoTests", ge=0, le=MAX_TESTS, default=0)


def read_jest(data: bytes) -> Counts | None:
    try:
        found = _Jest.model_validate_json(data)
    except ValidationError:
        return None
    skipped = found.pending + found.todo
    return Counts(found.passed, found.failed, skipped) if skipped <= MAX_TESTS else None


_READERS = {
    Runner.PYTEST: read_junit,
    Runner.NODE: read_junit,
    Runner.VITEST: read_jest,
    Runner.JEST: read_jest,
}
