"""Tools that run tests and commands in the sandbox, without a shell."""

import asyncio
from os.path import lexists

from pydantic import BaseModel, Field, ValidationError

from forge.agents.commands.command_policy import Allowed, NotACommand, allow_command, allow_tests, split
from forge.agents.commands.command_rules import Runner
from forge.agents.commands.execution import describe_outcome, run
from forge.agents.commands.reports import report_folder
from forge.agents.commands.requirements import check_requirements
from forge.agents.models import ToolOutcome
from forge.agents.tool import Effect, Tool, ToolContext
from forge.agents.tools.read_tools import ToolInput
from forge.errors import ForgeError
from forge.workspace.filesystem.files import Files

LONGEST_S = 300
TESTS_S = 120
COMMAND_S = 60
NO_REPOSITORY = (
    "This workspace contains no git repository, so git has nothing to show. Commands cannot access the history that "
    "Forge keeps of it: read the files to see their current state."
)


class RunTestsInput(ToolInput):
    command: str = Field(description="A program of this list with its arguments.")
    timeout: int = Field(default=TESTS_S, ge=1, le=LONGEST_S, description="Seconds.")


class RunTests(Tool[RunTestsInput]):
    name = "run_tests"
    description = (
        "Run the project's tests, or some of them: pytest, python -m pytest or unittest, npm test, npm run test, "
        "vitest, jest, node --test, cargo test, go test, make test. No shell, no network. Returns the exit code, the "
        "counts if the runner reports them, and the output."
    )
    brief = "Run tests: pytest, python -m unittest, npm test, vitest, jest, cargo test, go test, make test. No shell."
    is_test = True
    effect = Effect.RUNS
    input = RunTestsInput

    async def use(self, arguments: RunTestsInput, context: ToolContext) -> ToolOutcome:
        return await _run(
            allow_tests(arguments.command, context.files.root.resolve()), arguments.timeout, context
        )


class RunCommandInput(ToolInput):
    command: str = Field(description="A program with its arguments.")
    timeout: int = Field(default=COMMAND_S, ge=1, le=LONGEST_S, description="Seconds.")


class RunCommand(Tool[RunCommandInput]):
    name = "run_command"
    description = (
        "Run one command in the workspace, without a shell: pip install, npm install|ci|run, python -m venv, "
        "linters and type checkers, cat, head, tail, wc, find, ls, git status|diff|log|show, cargo, go, make. "
        "Only install commands have network access, and only to the package registry; pip install . and -e . have none, so "
        "install their dependencies first. Anything else is refused with a list of the allowed commands."
    )
    brief = (
        "Run one program, without a shell: pip install, npm install, npm run, linters, git status, git diff, make. "
        "Network only to install packages."
    )
    effect = Effect.RUNS
    input = RunCommandInput

    async def use(self, arguments: RunCommandInput, context: ToolContext) -> ToolOutcome:
        allowed = allow_command(arguments.command, context.files.root.resolve())
        if allowed.in_environment and not allowed.builds_a_project:
            await asyncio.to_thread(check_requirements, allowed.argv[allowed.begin :], context.files)
        return await _run(allowed, arguments.timeout, context)


async def _run(allowed: Allowed, timeout_s: int, context: ToolContext) -> ToolOutcome:
    runner = await asyncio.to_thread(real_runner, allowed.runner, context.files) if allowed.runner else None
    if runner in (None, Runner.OTHER):
        outcome = await run(context, allowed, timeout_s)
        lacks_git = allowed.argv[0] == "git" and not await asyncio.to_thread(_has_repository, context.files)
        return describe_outcome(allowed, outcome, advice=NO_REPOSITORY if lacks_git else None)
    async with report_folder(context.files.root) as report:
        reporting = allowed.with_options(report.options(runner))
        outcome = await run(context, reporting, timeout_s, (report.folder,))
        counts = await asyncio.to_thread(report.counts, runner)
    return describe_outcome(allowed, outcome, counts)


def _has_repository(files: Files) -> bool:
    """Return whether there is a repository; an empty `.git` is a placeholder of the sandbox."""
    path = files.root / ".git"
    return path.is_file() or lexists(path / "HEAD")


MAX_BYTES = 1_000_000
_TAKE_OPTIONS = {"vitest": Runner.VITEST, "jest": Runner.JEST}


class _Package(BaseModel):
    scripts: dict[str, str] = {}


def real_runner(runner: Runner, files: Files) -> Runner:
    """Resolve `npm test` to the test runner in package.json, if the script is a plain call of a known one."""
    if runner is not Runner.NPM:
        return runner
    try:
        package = _Package.model_validate_json(files.read("package.json", limit=MAX_BYTES).data)
        words = split(package.scripts.get("test", ""))
    except (ForgeError, ValidationError, NotACommand):
        return Runner.OTHER
    program = words[1] if words[0] == "npx" and len(words) > 1 else words[0]
    return _TAKE_OPTIONS.get(program, Runner.OTHER)
