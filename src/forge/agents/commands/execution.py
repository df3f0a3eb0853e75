"""Run allowed commands in the sandbox and describe their outcome for the model."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from forge.agents.commands.command_policy import Allowed
from forge.agents.commands.command_rules import Runner
from forge.agents.commands.reports import Counts
from forge.agents.models import ToolDetail, ToolOutcome
from forge.agents.tool import ToolContext
from forge.errors import Unavailable
from forge.sandbox.models import Command, End, Limits, Network, Outcome, Output
from forge.sandbox.toolchain import Toolchain, toolchain

ENVIRONMENT = ".venv"
"""Virtual environment of the project, in the workspace."""
MAKE_ENVIRONMENT = ("python3", "-m", "venv", ENVIRONMENT)
MAKE_ENVIRONMENT_S = 120.0
MAX_SHOWN_OUTPUT = 1000
NO_PROGRAM = "/packages-come-from-the-registry-only"

LIMITS = Limits(memory_bytes=2 << 30, processes=256, disk_bytes=1 << 30, inodes=50_000)
INSTALL_LIMITS = replace(LIMITS, disk_bytes=3 << 30, inodes=200_000, tmp_bytes=512 << 20)


async def run(
    context: ToolContext, allowed: Allowed, timeout_s: float, writable: tuple[Path, ...] = ()
) -> Outcome:
    workdir = context.files.root.resolve()
    if allowed.in_environment:
        await _ensure_environment(context, workdir)
    limits = LIMITS if allowed.network is Network.NONE else INSTALL_LIMITS
    tools = await _tools(context, workdir)
    limits = replace(
        limits,
        timeout_s=timeout_s,
        stdout_bytes=min(limits.stdout_bytes, context.max_result_bytes),
        stderr_bytes=min(limits.stderr_bytes, context.max_result_bytes),
    )
    command = _command(workdir, tools, allowed.argv, limits)
    if allowed.network is not Network.NONE and not allowed.in_environment:
        command = replace(command, env={**command.env, **_install_environment(tools)})
    return await context.sandboxes.run(replace(command, network=allowed.network, writable=writable))


async def _ensure_environment(context: ToolContext, workdir: Path) -> None:
    """Create the virtual environment, or complete one that has no pip."""
    if await asyncio.to_thread((workdir / ENVIRONMENT / "bin" / "pip").exists):
        return
    limits = replace(INSTALL_LIMITS, timeout_s=MAKE_ENVIRONMENT_S)
    tools = await _tools(context, workdir)
    created = await context.sandboxes.run(_command(workdir, tools, MAKE_ENVIRONMENT, limits))
    if created.end is not End.EXITED or created.exit_code != 0:
        message = (created.stderr.text.strip() or created.stdout.text.strip())[-MAX_SHOWN_OUTPUT:]
        raise Unavailable(
            f"The project's Python environment ({ENVIRONMENT}) cannot be created: {created.end}. {message}"
        )


async def _tools(context: ToolContext, workdir: Path) -> Toolchain:
    return await asyncio.to_thread(toolchain, [workdir, *context.sandboxes.hidden])


def _command(workdir: Path, tools: Toolchain, argv: tuple[str, ...], limits: Limits) -> Command:
    return Command(
        argv=argv,
        workdir=workdir,
        limits=limits,
        env=_environment(workdir, tools.path),
        read_only=tools.read_only,
    )


def _install_environment(tools: Toolchain) -> Mapping[str, str]:
    """Exclude programs of the project from PATH, and git, while the registry is reachable."""
    return {"PATH": tools.path, "npm_config_git": NO_PROGRAM}


def _environment(workdir: Path, path: str) -> Mapping[str, str]:
    return {
        "PATH": f"{workdir}/{ENVIRONMENT}/bin:{workdir}/node_modules/.bin:{path}",
        # Bytecode is invalidated by mtime in seconds: an edit right after a test run would go unnoticed.
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": str(workdir),
    }


_STOPPED = {
    End.TIMEOUT: "it took too long",
    End.CPU: "it used too much processor time",
    End.MEMORY: "it used too much memory",
    End.PROCESSES: "it started too many processes",
    End.FILE_SIZE: "it wrote a file that is too large",
    End.DISK: "it wrote too much to disk",
    End.INODES: "it created too many files",
}
_INSTALL = {
    Runner.PYTEST: "run_command with pip install pytest",
    Runner.VITEST: "run_command with npm install --save-dev vitest",
    Runner.JEST: "run_command with npm install --save-dev jest",
}

_NOT_STARTED = (
    "It could not be started, for the reason below. If the reason is file permissions: the files of the workspace "
    "should belong to the user Forge runs as."
)
_BUILD_FIRST = (
    "A project is installed without access to the registry, because its own code is executed. First install its build "
    "system and dependencies in a separate command (such as pip install setuptools wheel, pip install -r "
    "requirements.txt). For tests it is often enough that Python finds the project: set pythonpath for pytest."
)


def describe_outcome(
    allowed: Allowed, outcome: Outcome, counts: Counts | None = None, advice: str | None = None
) -> ToolOutcome:
    """Describe an outcome as text and fields. `advice` replaces the default advice on failure."""
    if advice is None or has_succeeded(outcome) or outcome.end is not End.EXITED:
        advice = _advice(allowed, outcome, counts)
    return ToolOutcome(
        text="\n".join(_lines(outcome, counts, advice)),
        is_error=not has_succeeded(outcome),
        summary=_summary(outcome, counts),
        detail=detail_of(allowed.argv, outcome, counts),
    )


def has_succeeded(outcome: Outcome) -> bool:
    return outcome.end is End.EXITED and outcome.exit_code == 0


def detail_of(argv: tuple[str, ...], outcome: Outcome, counts: Counts | None = None) -> ToolDetail:
    return ToolDetail(
        argv=list(argv),
        exit_code=outcome.exit_code,
        end=outcome.end,
        passed=counts.passed if counts else None,
        failed=counts.failed if counts else None,
        skipped=counts.skipped if counts else None,
        truncated=outcome.stdout.truncated or outcome.stderr.truncated,
        sandbox=outcome.level,
        fetched=list(outcome.fetched) or None,
    )


def _lines(outcome: Outcome, counts: Counts | None, advice: str | None) -> Iterator[str]:
    yield f"{_how_it_ended(outcome)}, after {outcome.duration_ms / 1000:.1f} s"
    if counts:
        yield str(counts)
    if advice:
        yield advice
    yield from _output("stdout", outcome.stdout)
    yield from _output("stderr", outcome.stderr)


def _output(name: str, output: Output) -> Iterator[str]:
    if output.total_bytes:
        yield f"--- {name} ---"
        yield output.text.rstrip("\n")


def _how_it_ended(outcome: Outcome) -> str:
    if outcome.end is End.EXITED:
        return f"exit code {outcome.exit_code}"
    if outcome.end is End.NOT_STARTED:
        return "not started"
    return f"stopped: {_STOPPED[outcome.end]}"


def _advice(allowed: Allowed, outcome: Outcome, counts: Counts | None) -> str | None:
    """Advise what to install first: a program, a test runner or build dependencies."""
    install = _INSTALL.get(allowed.runner or Runner.OTHER)
    if outcome.end is End.NOT_STARTED and not _is_missing(allowed.argv[0], outcome):
        return _NOT_STARTED
    if outcome.end is End.NOT_STARTED:
        return f"{allowed.argv[0]} is not installed. {f'Install it: {install}.' if install else ''}".strip()
    if install and counts is None and outcome.end is End.EXITED and outcome.exit_code:
        return f"No test was reported. If {allowed.runner} is not installed in the project: {install}."
    if allowed.builds_a_project and not has_succeeded(outcome):
        return _BUILD_FIRST
    return None


def _is_missing(program: str, outcome: Outcome) -> bool:
    """Return whether the program is missing. Here stderr is written by the sandbox only."""
    return f"{program}: " in outcome.stderr.text and "No such file or directory" in outcome.stderr.text


def _summary(outcome: Outcome, counts: Counts | None) -> str:
    if outcome.end is not End.EXITED or (counts is None and outcome.exit_code):
        return _how_it_ended(outcome)
    return str(counts) if counts else "exit code 0"
