"""Tries a skill before anybody uses it: its own tests, run in the sandbox, without a network.

Scripts are meant for WebAssembly, where they can touch nothing at all. Until that is there, they run in the process
sandbox as programs do: locked in as well as this machine can, in an empty folder, with little time and memory.
"""

import asyncio
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from forge.errors import SandboxTooWeak
from forge.sandbox.choice import Sandboxes
from forge.sandbox.models import Command, End, Limits, Outcome
from forge.sandbox.toolchain import toolchain
from forge.skills import runner
from forge.skills.comparing import difference
from forge.skills.manifest import SKILL_MD, read_skill_md
from forge.skills.models import Case, SkillCase, SkillFiles, SkillKind, TrialReport
from forge.skills.writing import SOURCE_FILES, cases_of
from forge.workspace.paths import parse

LIMITS = Limits(
    timeout_s=10.0,
    memory_bytes=128 << 20,
    processes=16,
    file_bytes=16 << 20,
    disk_bytes=256 << 20,
    inodes=1000,
    open_files=128,
    cpu_s=10,
    tmp_bytes=16 << 20,
    stdout_bytes=200_000,
    stderr_bytes=10_000,
)
MOST_CASES = 20
MOST_TIME_S = 60.0
"""Of all tests together."""
MOST_SHOWN = 2000
"""Of what it wrote, its end."""

_ENDS = {
    End.TIMEOUT: f"It did not end within {LIMITS.timeout_s:g} seconds.",
    End.CPU: f"It did not end within {LIMITS.timeout_s:g} seconds.",
    End.MEMORY: f"It needed more than {LIMITS.memory_bytes >> 20} MB of memory.",
    End.PROCESSES: f"It started more than {LIMITS.processes} processes.",
    End.FILE_SIZE: "It wrote too large a file.",
    End.DISK: "It wrote too much to the disk.",
    End.INODES: "It made too many files.",
    End.NOT_STARTED: "It could not be started.",
}


@dataclass(frozen=True)
class _Tried:
    case: Case
    output: str = ""
    level: str = ""


class Trial:
    def __init__(self, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes

    async def run(self, skill: SkillFiles) -> TrialReport:
        """Of instructions nothing is run: they are checked."""
        found = read_skill_md(skill.files.get(SKILL_MD, ""), skill.name)
        if found.manifest is None:
            told = Case(
                name=SKILL_MD, passed=False, detail=_line(found.problems[0].line, found.problems[0].message)
            )
            return TrialReport(ran=False, passed=False, cases=[told], output=told.detail)
        kind = found.manifest.kind
        if kind is SkillKind.PROMPT:
            return TrialReport(ran=False, passed=True, cases=[Case(name=SKILL_MD, passed=True)])
        if problem := _unready(skill, kind):
            return TrialReport(ran=False, passed=False, cases=[problem], output=problem.detail)
        try:
            return await self._try_all(skill, kind)
        except SandboxTooWeak as error:
            why = f"It was not run: {error.message}. {error.hint or ''}".strip()
            return TrialReport(ran=False, passed=False, output=why)

    async def _try_all(self, skill: SkillFiles, kind: SkillKind) -> TrialReport:
        started = time.monotonic()
        tried: list[_Tried] = []
        for path, text in cases_of(skill).items():
            if time.monotonic() - started > MOST_TIME_S:
                late = f"It was not tried: the tests before it took more than {MOST_TIME_S:g} seconds."
                tried.append(_Tried(Case(name=path, passed=False, detail=late)))
            else:
                tried.append(await self._try(skill, kind, path, text))
        return TrialReport(
            ran=True,
            passed=all(one.case.passed for one in tried),
            cases=[one.case for one in tried],
            sandbox=next((one.level for one in tried if one.level), ""),
            duration_ms=round((time.monotonic() - started) * 1000),
            output=next((one.output for one in tried if not one.case.passed and one.output), ""),
        )

    async def _try(self, skill: SkillFiles, kind: SkillKind, path: str, text: str) -> _Tried:
        try:
            case = SkillCase.model_validate_json(text)
        except ValidationError as error:
            return _Tried(Case(name=path, passed=False, detail=_unreadable(error)))
        with tempfile.TemporaryDirectory(prefix="forge-trial-") as folder:
            work = Path(folder)
            await asyncio.to_thread(_lay_out, work, skill, case)
            outcome = await self._sandboxes.run(_command(work, kind))
        detail = _judged(outcome, case)
        output = (outcome.stderr.text or outcome.stdout.text)[-MOST_SHOWN:] if detail else ""
        return _Tried(Case(name=case.name, passed=not detail, detail=detail), output, outcome.level)


def _unready(skill: SkillFiles, kind: SkillKind) -> Case | None:
    """What keeps it from being run at all."""
    source = SOURCE_FILES[kind]
    if not skill.files.get(source, "").strip():
        return Case(name=source, passed=False, detail=f"There is no {source}.")
    cases = cases_of(skill)
    if not cases:
        return Case(name="tests", passed=False, detail="There is no test: add one, such as tests/first.json.")
    if len(cases) > MOST_CASES:
        return Case(name="tests", passed=False, detail=f"There are more than {MOST_CASES} tests.")
    return None


def _lay_out(work: Path, skill: SkillFiles, case: SkillCase) -> None:
    for path, text in skill.files.items():
        target = work.joinpath("skill", *parse(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")
    (work / "input.json").write_text(json.dumps(case.input), encoding="utf-8")
    (work / "runner.py").write_text(Path(runner.__file__).read_text(encoding="utf-8"), encoding="utf-8")


def _command(work: Path, kind: SkillKind) -> Command:
    tools = toolchain([work])
    return Command(
        ("python3", "-I", "../runner.py", kind.value, SOURCE_FILES[kind], "../input.json"),
        work / "skill",
        LIMITS,
        env={"PATH": tools.path, "PYTHONDONTWRITEBYTECODE": "1"},
        read_only=(*tools.read_only, work / "runner.py", work / "input.json"),
    )


def _judged(outcome: Outcome, case: SkillCase) -> str:
    """What is wrong; nothing when it passed."""
    if outcome.end is not End.EXITED:
        return _ENDS[outcome.end]
    if outcome.exit_code != 0:
        last = _last_line(outcome.stderr.text)
        return last or f"It ended with code {outcome.exit_code} and said nothing."
    if outcome.stdout.truncated:
        return f"It gave more than {LIMITS.stdout_bytes // 1000} kB."
    try:
        result = from_json(outcome.stdout.text)
    except ValueError:
        return f"It did not give JSON: {outcome.stdout.text.strip()[:80]!r}"
    return difference(case.expect, result) or ""


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _unreadable(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"This is no test: {where + ': ' if where else ''}{first['msg']}."


def _line(line: int | None, message: str) -> str:
    return f"line {line}: {message}" if line else message
