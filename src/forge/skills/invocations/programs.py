"""Run skills that are programs in the process sandbox: JSON on standard input, JSON on standard output.

The sandbox has no network, so a program reaches no host, granted or not. Granted variables and secrets are in its
environment, granted folders at their own paths.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from forge.errors import Denied, Invalid, NotFound, TooLarge
from forge.kernel.tree_removal import remove_tree
from forge.sandbox.models import Command, End, Outcome
from forge.sandbox.sandboxes import Sandboxes
from forge.sandbox.toolchain import toolchain
from forge.skills.execution import MAX_OUTPUT, MB, HostError, RunEnd, RunLimits, RunOutcome
from forge.skills.host.commands import WITH_INPUT, describe_end, limits_for
from forge.skills.host.context import ReadSecret
from forge.skills.host.resources import OwnFolder, check_variable, open_roots
from forge.skills.host.secret_mask import SecretMask
from forge.skills.models import Capability, Scope
from forge.skills.wasm.strict_json import MAX_VALUES, has_more_values, read_json
from forge.workspace.filesystem.errors import QuotaExceeded
from forge.workspace.filesystem.paths import parse

MAX_ERROR = 300
SKILL, INPUT = "skill", "input.json"


@dataclass(frozen=True)
class Interpreter:
    argv: tuple[str, ...]
    memory_bytes: int
    """Memory it needs before the first line."""


INTERPRETERS: Mapping[str, Interpreter] = {
    ".py": Interpreter(("python3", "-E", "-s", "-B"), 64 * MB),  # not -I: programs import their other files
    ".sh": Interpreter(("sh",), 32 * MB),
    ".js": Interpreter(("node",), 512 * MB),
}

_ENDS = {
    End.TIMEOUT: RunEnd.TIME,
    End.CPU: RunEnd.TIME,
    End.MEMORY: RunEnd.MEMORY,
    End.NOT_STARTED: RunEnd.UNUSABLE,
}
"""All other ends are errors of the program."""


class ProgramRunner:
    def __init__(self, sandboxes: Sandboxes, files_dir: Path) -> None:
        self._sandboxes = sandboxes
        self._files_dir = files_dir
        self._slots = asyncio.Semaphore(os.cpu_count() or 1)

    async def run(  # noqa: PLR0913
        self,
        files: Mapping[str, bytes],
        entry: str,
        input_json: str,
        limits: RunLimits,
        allowed: Mapping[Capability, Scope],
        *,
        environment: Mapping[str, str],
        secret: ReadSecret,
        name: str,
        account_id: str,
        has_folder: bool = True,
    ) -> tuple[RunOutcome, str]:
        """Return the result and the sandbox level. Raises SandboxTooWeak where nothing may run.

        Without a folder the program cannot keep files."""
        tools = toolchain([self._files_dir.parent])
        interpreter = INTERPRETERS.get(Path(entry).suffix)
        if interpreter is None or entry not in files:
            return RunOutcome(RunEnd.UNUSABLE, error=f"There is no program {entry}."), ""
        if not shutil.which(interpreter.argv[0], path=tools.path):
            return RunOutcome(
                RunEnd.UNUSABLE, error=f"{interpreter.argv[0]} is not installed on the server."
            ), ""
        own = OwnFolder(self._files_dir, account_id, name) if has_folder else None
        opened = _ProgramAccess(allowed, environment, self._files_dir.parent, own)
        hidden = SecretMask()
        async with self._slots, _work_folder(files, input_json) as work:
            try:
                secrets = await _secrets(account_id, allowed, secret, hidden)
                env = {**opened.variables(), **secrets, "PATH": tools.path}
                command = await asyncio.to_thread(opened.command, work, (*interpreter.argv, entry), env)
                most = limits_for(limits.seconds, limits.memory_bytes + interpreter.memory_bytes)
                most = replace(most, stdout_bytes=MAX_OUTPUT)
                readable = (*tools.read_only, *command.read_only)
                outcome = await self._sandboxes.run(replace(command, limits=most, read_only=readable))
            except (HostError, Invalid, Denied, NotFound, TooLarge) as error:
                return RunOutcome(RunEnd.RAISED, error=hidden(str(error))), ""
        return await asyncio.to_thread(_checked_outcome, outcome, hidden, opened), outcome.level.value


@dataclass(frozen=True)
class _ProgramAccess:
    """The grants of a program as sandbox settings."""

    allowed: Mapping[Capability, Scope]
    environment: Mapping[str, str]
    data_dir: Path
    own: OwnFolder | None

    def variables(self) -> dict[str, str]:
        names = _scope(self.allowed, Capability.READ_ENV).names
        for name in names:
            check_variable(name)
        return {name: self.environment[name] for name in names if name in self.environment}

    def command(self, work: Path, argv: tuple[str, ...], env: Mapping[str, str]) -> Command:
        """It starts in a copy of its folder, whose files are read-only; files it adds there are deleted afterwards."""
        skill, given = work / SKILL, work / INPUT
        readable = open_roots(_scope(self.allowed, Capability.READ_FILE).roots, self.data_dir)
        writable = open_roots(_scope(self.allowed, Capability.WRITE_FILE).roots, self.data_dir)
        if self.own and self._has_own:
            (writable if self._may_write else readable).append(self.own.path)
            self.own.check_quota()
            env = {**env, "SKILL_FILES": str(self.own.path)}
        return Command(
            (*WITH_INPUT, str(given), *argv),
            skill,
            env=env,
            read_only=(given, *readable),
            writable=tuple(writable),
            protected=tuple(sorted(path.name for path in skill.iterdir())),
        )

    def check_room(self) -> None:
        if self.own and self._may_write:
            self.own.check_quota()

    @property
    def _may_write(self) -> bool:
        return Capability.WRITE_FILE in self.allowed

    @property
    def _has_own(self) -> bool:
        return self._may_write or Capability.READ_FILE in self.allowed


async def _secrets(
    account_id: str, allowed: Mapping[Capability, Scope], secret: ReadSecret, hidden: SecretMask
) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _scope(allowed, Capability.GET_SECRET).names:
        found[name] = (await secret(account_id, name)).get_secret_value()
        hidden.add(found[name])
    return found


def _scope(allowed: Mapping[Capability, Scope], capability: Capability) -> Scope:
    return allowed.get(capability, Scope())


@asynccontextmanager
async def _work_folder(files: Mapping[str, bytes], input_json: str) -> AsyncGenerator[Path]:
    """Yield a temporary folder with a copy of the skill and its input."""
    work = await asyncio.to_thread(_make_folder)
    try:
        await asyncio.to_thread(_write_files, work, files, input_json)
        yield work
    finally:
        await asyncio.shield(asyncio.to_thread(remove_tree, work))


def _make_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="forge-program-")).resolve()


def _write_files(work: Path, files: Mapping[str, bytes], input_json: str) -> None:
    for path, content in files.items():
        target = work.joinpath(SKILL, *parse(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        if content.startswith(b"#!"):
            target.chmod(0o755)
    (work / INPUT).write_text(input_json, encoding="utf-8", newline="")


def _checked_outcome(outcome: Outcome, hidden: SecretMask, opened: _ProgramAccess) -> RunOutcome:
    ended = _outcome_of(outcome, hidden)
    try:
        opened.check_room()
    except QuotaExceeded as error:
        return replace(ended, end=RunEnd.RAISED, output=None, error=f"{error.message} {error.hint}")
    return ended


def _outcome_of(outcome: Outcome, hidden: SecretMask) -> RunOutcome:
    took = float(outcome.duration_ms)
    if outcome.end is not End.EXITED:
        error = hidden(describe_end(outcome))[:MAX_ERROR]
        return RunOutcome(_ENDS.get(outcome.end, RunEnd.RAISED), error=error, duration_ms=took)
    if outcome.exit_code != 0:
        said = hidden(_last_line(outcome.stderr.text))
        error = said or f"It exited with code {outcome.exit_code} without a message."
        return RunOutcome(RunEnd.RAISED, error=error[:MAX_ERROR], duration_ms=took)
    if outcome.stdout.truncated:
        return RunOutcome(RunEnd.OUTPUT, error=f"Its output exceeds {MAX_OUTPUT // MB} MB.", duration_ms=took)
    if has_more_values(outcome.stdout.text, MAX_VALUES):
        return RunOutcome(
            RunEnd.OUTPUT, error=f"Its output has more than {MAX_VALUES:,} values.", duration_ms=took
        )
    try:
        output = read_json(outcome.stdout.text)
    except ValueError:
        shown = hidden(outcome.stdout.text.strip())[:80]
        return RunOutcome(RunEnd.OUTPUT, error=f"Its output is not JSON: {shown!r}", duration_ms=took)
    return RunOutcome(RunEnd.DONE, output, duration_ms=took)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
