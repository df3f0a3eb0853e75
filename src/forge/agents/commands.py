"""Runs what the policy allowed, in the sandbox, with the programs of the project and of this machine in reach."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from forge.agents.command_policy import Allowed
from forge.agents.tools import ToolContext
from forge.errors import Unavailable
from forge.sandbox.models import Command, End, Limits, Network, Outcome
from forge.sandbox.toolchain import Toolchain, toolchain

ENVIRONMENT = ".venv"
"""The project's own Python environment, in the workspace."""
MAKE_ENVIRONMENT = ("python3", "-m", "venv", ENVIRONMENT)
MAKE_ENVIRONMENT_S = 120.0
MAX_SAID = 1000
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
    command = _command(workdir, tools, allowed.argv, replace(limits, timeout_s=timeout_s))
    if allowed.network is not Network.NONE and not allowed.in_environment:
        command = replace(command, env={**command.env, **_without_its_programs(tools)})
    return await context.sandboxes.run(replace(command, network=allowed.network, writable=writable))


async def _ensure_environment(context: ToolContext, workdir: Path) -> None:
    """With pip in it; one that was begun and never finished is finished."""
    if await asyncio.to_thread((workdir / ENVIRONMENT / "bin" / "pip").exists):
        return
    limits = replace(INSTALL_LIMITS, timeout_s=MAKE_ENVIRONMENT_S)
    tools = await _tools(context, workdir)
    made = await context.sandboxes.run(_command(workdir, tools, MAKE_ENVIRONMENT, limits))
    if made.end is not End.EXITED or made.exit_code != 0:
        said = (made.stderr.text.strip() or made.stdout.text.strip())[-MAX_SAID:]
        raise Unavailable(
            f"The project's Python environment ({ENVIRONMENT}) cannot be made: {made.end}. {said}"
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


def _without_its_programs(tools: Toolchain) -> Mapping[str, str]:
    """While the registry is open nothing of the project is executed, neither as `npm` nor as the git it asks for."""
    return {"PATH": tools.path, "npm_config_git": NO_PROGRAM}


def _environment(workdir: Path, path: str) -> Mapping[str, str]:
    return {
        "PATH": f"{workdir}/{ENVIRONMENT}/bin:{workdir}/node_modules/.bin:{path}",
        # Bytecode is compared by the second: an edit right after a test run would not be noticed.
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": str(workdir),
    }
