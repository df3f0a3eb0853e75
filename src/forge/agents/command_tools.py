"""Tools that execute: tests and commands. All of it in the sandbox, none of it through a shell."""

import asyncio
from os.path import lexists

from pydantic import Field

from forge.agents.command_policy import Allowed, allow_command, allow_tests
from forge.agents.command_rules import Runner
from forge.agents.commands import run
from forge.agents.file_reading import ToolInput
from forge.agents.models import ToolOutcome
from forge.agents.outcomes import tell
from forge.agents.reports import report_folder
from forge.agents.requirements import check_requirements
from forge.agents.scripts import real_runner
from forge.agents.tools import Effect, Tool, ToolContext
from forge.workspace.files import Files

LONGEST_S = 300
TESTS_S = 120
COMMAND_S = 60
NO_REPOSITORY = (
    "This workspace has no git repository of its own, so there is nothing git could tell. The history that Forge keeps "
    "of it lies elsewhere, out of the reach of commands: read the files to see how they are now."
)


class RunTestsInput(ToolInput):
    command: str = Field(description="Such as pytest tests/test_app.py -v, or npm test. No shell syntax.")
    timeout: int = Field(default=TESTS_S, ge=1, le=LONGEST_S, description="Seconds.")


class RunTests(Tool[RunTestsInput]):
    name = "run_tests"
    description = (
        "Run the project's tests, or some of them: pytest, python -m pytest or unittest, npm test, npm run test, "
        "vitest, jest, node --test, cargo test, go test, make test. No shell, no network. Gives the exit code, the "
        "counts where the runner reports them, and the output."
    )
    effect = Effect.RUNS
    input = RunTestsInput

    async def use(self, given: RunTestsInput, context: ToolContext) -> ToolOutcome:
        return await _run(allow_tests(given.command, context.files.root.resolve()), given.timeout, context)


class RunCommandInput(ToolInput):
    command: str = Field(description="Such as pip install -r requirements.txt. No shell syntax.")
    timeout: int = Field(default=COMMAND_S, ge=1, le=LONGEST_S, description="Seconds.")


class RunCommand(Tool[RunCommandInput]):
    name = "run_command"
    description = (
        "Run one command in the workspace, without a shell: pip install, npm install|ci|run, python -m venv and the "
        "like, linters and type checkers, cat, head, tail, wc, find, ls, git status|diff|log|show, cargo, go, make. "
        "Only installs have a network, and only to the package registry; pip install . or -e . has none, so install what "
        "it needs first. Anything else is refused, with the list of what is allowed."
    )
    effect = Effect.RUNS
    input = RunCommandInput

    async def use(self, given: RunCommandInput, context: ToolContext) -> ToolOutcome:
        allowed = allow_command(given.command, context.files.root.resolve())
        if allowed.in_environment and not allowed.builds_a_project:
            await asyncio.to_thread(check_requirements, allowed.argv[allowed.begin :], context.files)
        return await _run(allowed, given.timeout, context)


async def _run(allowed: Allowed, timeout_s: int, context: ToolContext) -> ToolOutcome:
    runner = await asyncio.to_thread(real_runner, allowed.runner, context.files) if allowed.runner else None
    if runner in (None, Runner.OTHER):
        outcome = await run(context, allowed, timeout_s)
        lacks_git = allowed.argv[0] == "git" and not await asyncio.to_thread(_has_repository, context.files)
        return tell(allowed, outcome, advice=NO_REPOSITORY if lacks_git else None)
    async with report_folder(context.files.root) as report:
        reporting = allowed.with_options(report.options(runner))
        outcome = await run(context, reporting, timeout_s, (report.folder,))
        counts = await asyncio.to_thread(report.counts, runner)
    return tell(allowed, outcome, counts)


def _has_repository(files: Files) -> bool:
    """An empty folder may be the sandbox's, which keeps the name for itself."""
    place = files.root / ".git"
    return place.is_file() or lexists(place / "HEAD")
