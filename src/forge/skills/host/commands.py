"""Run granted programs for a skill, in the sandbox and in the skill's own folder."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from pydantic import JsonValue

from forge.sandbox.models import Command, End, Limits, Outcome
from forge.sandbox.toolchain import toolchain
from forge.skills.execution import HostError
from forge.skills.host.arguments import Exec, how_to_grant
from forge.skills.host.context import HostContext
from forge.skills.models import Scope

WITH_INPUT = ("sh", "-c", 'exec "$@" <"$0"')
"""Prefix for an input file and a command: runs the command with the file as standard input."""
MAX_OUTPUT = 200_000

ENDS = {
    End.TIMEOUT: "It did not end in time.",
    End.CPU: "It did not end in time.",
    End.MEMORY: "It exceeded its memory limit.",
    End.PROCESSES: "It started too many processes.",
    End.FILE_SIZE: "It wrote a file that is too large.",
    End.DISK: "It wrote too much to the disk.",
    End.INODES: "It created too many files.",
}


async def execute(running: HostContext, scope: Scope, given: Exec) -> JsonValue:
    program = given.argv[0]
    if program not in scope.names:
        raise HostError(
            f"{program[:100]!r} is not a granted program. To grant it: "
            + how_to_grant(running.invocation.skill, given.needs, [*scope.names, program])
        )
    await asyncio.to_thread(running.own_folder.check_quota)
    with tempfile.TemporaryDirectory(prefix="forge-input-") as folder:
        command = await asyncio.to_thread(_command, running, given, Path(folder))
        outcome = await running.services.sandboxes.run(command)
    await asyncio.to_thread(running.own_folder.check_quota)
    return _result(program, outcome, command.env["PATH"])


def _command(running: HostContext, given: Exec, folder: Path) -> Command:
    argv, inputs = tuple(given.argv), ()
    if given.input:
        file = folder / "input"
        file.write_text(given.input, encoding="utf-8", newline="")
        argv, inputs = (*WITH_INPUT, str(file), *argv), (file,)
    tools = toolchain([running.services.files_dir.parent])
    return Command(
        argv,
        running.own_folder.path,
        limits_for(running.left_s),
        env={"PATH": tools.path},
        read_only=(*tools.read_only, *inputs),
        protected=(),
    )


def limits_for(seconds: float, memory_bytes: int = 256 << 20) -> Limits:
    return Limits(
        timeout_s=max(0.0, seconds),
        memory_bytes=memory_bytes,
        processes=64,
        file_bytes=16 << 20,
        disk_bytes=256 << 20,
        inodes=5000,
        open_files=256,
        cpu_s=max(1, round(seconds)),
        tmp_bytes=64 << 20,
        stdout_bytes=MAX_OUTPUT,
        stderr_bytes=20_000,
    )


def describe_end(outcome: Outcome) -> str:
    """Describe why a program was stopped, or did not start."""
    if outcome.end is not End.NOT_STARTED:
        return ENDS[outcome.end]
    said = outcome.stderr.text.strip().splitlines()
    return f"It could not be started: {said[-1].removeprefix('sandbox: ') if said else 'unknown reason'}"


def _result(program: str, outcome: Outcome, path: str) -> JsonValue:
    if outcome.end is End.NOT_STARTED and shutil.which(program, path=path) is None:
        raise HostError(f"{program}: It could not be started: it is not installed on the server.")
    if outcome.end is not End.EXITED:
        raise HostError(f"{program}: {describe_end(outcome)}")
    return {
        "exit_code": outcome.exit_code,
        "stdout": outcome.stdout.text,
        "stderr": outcome.stderr.text,
    }
