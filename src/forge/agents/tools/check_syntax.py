"""Tool that checks the syntax of a file without executing it."""

import asyncio
from pathlib import PurePosixPath

from pydantic import BaseModel, Field, ValidationError

from forge.agents.commands.command_policy import Allowed
from forge.agents.commands.execution import detail_of, has_succeeded, run
from forge.agents.models import ToolDetail, ToolOutcome
from forge.agents.tool import Effect, Tool, ToolContext, failure
from forge.agents.tools import syntax
from forge.agents.tools.read_tools import ToolInput, failed
from forge.errors import ForgeError
from forge.sandbox.models import End, Network, Outcome
from forge.workspace.filesystem.files import Files
from forge.workspace.filesystem.paths import parse

TIMEOUT_S = 30
TYPESCRIPT = "node_modules/typescript"
_NODE = (".js", ".mjs", ".cjs")
_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts", ".jsx")
_TSC = ("--noEmit", "--pretty", "false", "--skipLibCheck", "--noResolve", "--allowJs", "--jsx", "preserve")
_OPTIONS_SINCE = {(5, 6): "--noCheck", (6, 0): "--ignoreConfig"}
"""Options of newer compilers: check syntax only, and this file only."""
MAX_PACKAGE_BYTES = 1_000_000


class CheckSyntaxInput(ToolInput):
    path: str = Field(description="Relative to the workspace.")


class CheckSyntax(Tool[CheckSyntaxInput]):
    name = "check_syntax"
    description = (
        "Check one file without executing it: Python, JSON, TOML, JavaScript; TypeScript and JSX if typescript "
        "is installed in the project. Returns the errors with their lines, or that there are none."
    )
    effect = Effect.READS
    input = CheckSyntaxInput

    async def use(self, arguments: CheckSyntaxInput, context: ToolContext) -> ToolOutcome:
        found = await asyncio.to_thread(context.files.read, arguments.path, limit=syntax.MAX_BYTES)
        if found.hash is None:
            return failed(
                arguments.path, f"{arguments.path!r} is too large to be checked ({found.size:,} bytes)."
            )
        if syntax.language_of(arguments.path):
            return _outcome(arguments.path, await syntax.check(arguments.path, found.data))
        argv = await asyncio.to_thread(_checker, arguments.path, context.files)
        if argv is None:
            return failed(arguments.path, f"{arguments.path!r} cannot be checked: {_why_not(arguments.path)}")
        allowed = Allowed(argv, Network.NONE, None, len(argv), in_environment=False)
        return _checker_outcome(arguments.path, argv, await run(context, allowed, TIMEOUT_S))


def _checker(path: str, files: Files) -> tuple[str, ...] | None:
    suffix = PurePosixPath(path).suffix.lower()
    relative = f"./{'/'.join(parse(path))}"
    if suffix in _NODE:
        return ("node", "--check", relative)
    if suffix in _TYPESCRIPT and (version := _typescript(files)):
        newer = (option for since, option in _OPTIONS_SINCE.items() if version >= since)
        return ("node", f"{TYPESCRIPT}/bin/tsc", *_TSC, *newer, relative)
    return None


class _Package(BaseModel):
    version: str = Field(pattern=r"^[0-9]{1,6}\.[0-9]{1,6}\.")


def _typescript(files: Files) -> tuple[int, int] | None:
    """Return the TypeScript version installed in the project."""
    try:
        data = files.read(f"{TYPESCRIPT}/package.json", limit=MAX_PACKAGE_BYTES).data
        major, minor, _ = _Package.model_validate_json(data).version.split(".", 2)
    except (ForgeError, ValidationError):
        return None
    return int(major), int(minor)


def _why_not(path: str) -> str:
    if PurePosixPath(path).suffix.lower() in _TYPESCRIPT:
        return (
            "typescript is not installed in the project (run_command with npm install --save-dev typescript)."
        )
    return "there is no checker for this kind of file."


def _outcome(path: str, found: syntax.Syntax) -> ToolOutcome:
    if not found.is_known:
        return failed(path, f"{path!r} cannot be checked: it is nested too deeply, or takes too long.")
    if found.problem is not None:
        return ToolOutcome(
            text=f"{path}: {found.problem}",
            is_error=True,
            summary=f"{path}: {found.problem}",
            detail=ToolDetail(path=path),
        )
    return _clean(path, ToolDetail(path=path))


def _checker_outcome(path: str, argv: tuple[str, ...], outcome: Outcome) -> ToolOutcome:
    detail = detail_of(argv, outcome).model_copy(update={"path": path})
    if has_succeeded(outcome):
        return _clean(path, detail)
    if outcome.end is not End.EXITED:
        return failure(f"{path!r} cannot be checked: {argv[0]} {outcome.end.value}.").model_copy(
            update={"detail": detail}
        )
    errors = "\n".join(
        output.text.strip() for output in (outcome.stdout, outcome.stderr) if output.text.strip()
    )
    return ToolOutcome(
        text=f"{path} has errors:\n{errors}", is_error=True, summary=f"{path} has errors", detail=detail
    )


def _clean(path: str, detail: ToolDetail) -> ToolOutcome:
    return ToolOutcome(text=f"{path}: no errors", summary=f"{path}: no errors", detail=detail)
