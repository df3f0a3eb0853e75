"""Programs of this machine that a skill starts: those somebody named, in the sandbox, in the skill's own folder."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from pydantic import JsonValue

from forge.sandbox.models import Command, End, Limits, Outcome
from forge.sandbox.toolchain import toolchain
from forge.skills.execution import HostError
from forge.skills.host.advice import how_to_grant
from forge.skills.host.arguments import Exec
from forge.skills.host.parts import Running
from forge.skills.models import Scope

WITH_INPUT = ("sh", "-c", 'exec "$@" <"$0"')
"""Followed by a file and a command: the file becomes its standard input, and nothing stays in between."""
MAX_OUTPUT = 200_000

ENDS = {
    End.TIMEOUT: "It did not end in time.",
    End.CPU: "It did not end in time.",
    End.MEMORY: "It needed more memory than it may have.",
    End.PROCESSES: "It started too many processes.",
    End.FILE_SIZE: "It wrote too large a file.",
    End.DISK: "It wrote too much to the disk.",
    End.INODES: "It made too many files.",
}


async def execute(running: Running, scope: Scope, given: Exec) -> JsonValue:
    program = given.argv[0]
    if program not in scope.names:
        raise HostError(
            f"{program[:100]!r} is not among the programs that were granted. To allow it: "
            + how_to_grant(running.invocation.skill, given.needs, [*scope.names, program])
        )
    await asyncio.to_thread(running.own.check_room)
    with tempfile.TemporaryDirectory(prefix="forge-input-") as folder:
        command = await asyncio.to_thread(_command, running, given, Path(folder))
        outcome = await running.parts.sandboxes.run(command)
    await asyncio.to_thread(running.own.check_room)
    return _told(program, outcome, command.env["PATH"])


def _command(running: Running, given: Exec, folder: Path) -> Command:
    argv, inputs = tuple(given.argv), ()
    if given.input:
        file = folder / "input"
        file.write_text(given.input, encoding="utf-8", newline="")
        argv, inputs = (*WITH_INPUT, str(file), *argv), (file,)
    tools = toolchain([running.parts.files_dir.parent])
    return Command(
        argv,
        running.own.path,
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


def why_ended(outcome: Outcome) -> str:
    """Of one that did not end by itself, or never began."""
    if outcome.end is not End.NOT_STARTED:
        return ENDS[outcome.end]
    said = outcome.stderr.text.strip().splitlines()
    return f"It could not be started: {said[-1].removeprefix('sandbox: ') if said else 'nobody said why'}"


def _told(program: str, outcome: Outcome, path: str) -> JsonValue:
    if outcome.end is End.NOT_STARTED and shutil.which(program, path=path) is None:
        raise HostError(f"{program}: It could not be started: it is not on the server.")
    if outcome.end is not End.EXITED:
        raise HostError(f"{program}: {why_ended(outcome)}")
    return {
        "exit_code": outcome.exit_code,
        "stdout": outcome.stdout.text,
        "stderr": outcome.stderr.text,
    }
