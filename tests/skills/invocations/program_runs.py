"""Run unsaved skills in the real runtimes, as `SkillTests` needs them, without a server."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue, SecretStr

from forge.sandbox.sandboxes import Sandboxes
from forge.skills.execution import LIMITS, HostRefusal, LogLine, entry_file, program_of
from forge.skills.invocations.programs import ProgramRunner
from forge.skills.invocations.runner import SkillResult
from forge.skills.models import SkillKind, Tier
from forge.skills.wasm.worker_pool import WorkerPool


@dataclass(frozen=True)
class UnsavedSkillRunner:
    """Runs skills without grants and collects their log."""

    pool: WorkerPool
    folder: Path
    sandboxes: Sandboxes

    async def __call__(
        self, name: str, kind: SkillKind, files: Mapping[str, bytes], text: str
    ) -> SkillResult:
        return await (self._program if kind is SkillKind.LOCAL else self._script)(name, files, text)

    async def _script(self, name: str, files: Mapping[str, bytes], text: str) -> SkillResult:
        logs: list[LogLine] = []

        async def host(op: str, args: dict[str, Any]) -> JsonValue:
            if op != "log":
                raise HostRefusal(f"{op} is not granted.")
            logs.append(LogLine(level=str(args["level"]), message=str(args["message"])))
            return None

        limits = LIMITS[Tier.UNTRUSTED]
        outcome = await self.pool.run(program_of(files, name), text, limits, host, invocation="one")
        return SkillResult(outcome, logs=logs)

    async def _program(self, name: str, files: Mapping[str, bytes], text: str) -> SkillResult:
        async def secret(_account_id: str, name: str) -> SecretStr:
            raise AssertionError(f"asked for {name}")

        outcome, level = await ProgramRunner(self.sandboxes, self.folder).run(
            files,
            entry_file(SkillKind.LOCAL, files, name),
            text,
            LIMITS[Tier.LOCAL],
            {},
            environment={},
            secret=secret,
            name=name,
            account_id="",
            has_folder=False,
        )
        return SkillResult(outcome, sandbox=level)
