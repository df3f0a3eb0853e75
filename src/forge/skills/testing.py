"""A skill's own tests, run as the skill would be: `tests/*.json`, each says what goes in and what must come out."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import islice

from pydantic import ValidationError

from forge.errors import SandboxTooWeak
from forge.kernel.misfit import first_misfit
from forge.skills.comparing import difference
from forge.skills.execution import Ended, RunEnd
from forge.skills.models import SKILL_MD, Case, SkillCase, SkillKind
from forge.skills.running import Result
from forge.skills.validation import MAX_CASES, validate
from forge.skills.views import SkillTestReport
from forge.skills.writing import cases_in

MAX_TIME_S = 60.0
"""Of all tests together."""
MAX_SHOWN = 2000
"""Of what it wrote, its end."""
WEBASSEMBLY = "WebAssembly"


TryFiles = Callable[[str, SkillKind, Mapping[str, bytes], str], Awaitable[Result]]
"""Runs a script or program once, with nothing granted: its name, kind and files, and the JSON that goes in."""


@dataclass(frozen=True)
class _Ran:
    case: Case
    output: str = ""
    sandbox: str = ""


class SkillTests:
    def __init__(self, run: TryFiles) -> None:
        self._run = run

    async def run(self, name: str, files: Mapping[str, bytes]) -> SkillTestReport:
        """Of instructions nothing is run: they are checked."""
        found = await asyncio.to_thread(validate, name, files)
        if found.manifest is None or not found.valid:
            return _stopped(name, SKILL_MD, found.problems[0].said)
        kind = found.manifest.kind
        if kind is SkillKind.PROMPT:
            return SkillTestReport(
                skill=name, passed=True, ran=False, cases=[Case(name=SKILL_MD, passed=True)]
            )
        cases = cases_in(files)
        if not cases:
            return _stopped(name, "tests", "There is no test: add one, such as tests/first.json.")
        try:
            return await self._run_all(name, kind, files, dict(islice(cases.items(), MAX_CASES)))
        except SandboxTooWeak as error:
            why = f"It was not run: {error.message}. {error.hint or ''}".strip()
            return SkillTestReport(skill=name, passed=False, ran=False, output=why)

    async def _run_all(
        self, name: str, kind: SkillKind, files: Mapping[str, bytes], cases: Mapping[str, bytes]
    ) -> SkillTestReport:
        started = time.monotonic()
        ran: list[_Ran] = []
        for path, data in cases.items():
            if time.monotonic() - started > MAX_TIME_S:
                late = f"It was not tried: the tests before it took more than {MAX_TIME_S:g} seconds."
                ran.append(_Ran(Case(name=path, passed=False, detail=late)))
            else:
                ran.append(await self._run_one(name, kind, files, (path, data)))
        return SkillTestReport(
            skill=name,
            passed=all(one.case.passed for one in ran),
            ran=True,
            cases=[one.case for one in ran],
            sandbox=next((one.sandbox for one in ran if one.sandbox), ""),
            duration_ms=round((time.monotonic() - started) * 1000),
            output=next((one.output for one in ran if not one.case.passed and one.output), ""),
        )

    async def _run_one(
        self, name: str, kind: SkillKind, files: Mapping[str, bytes], test: tuple[str, bytes]
    ) -> _Ran:
        path, data = test
        try:
            case = SkillCase.model_validate_json(data)
        except ValidationError as error:
            return _Ran(Case(name=path, passed=False, detail=f"This is no test: {first_misfit(error)}."))
        tried = await self._run(name, kind, files, json.dumps(case.input))
        detail = _judged(tried.ended, case)
        return _Ran(
            Case(name=case.name, passed=not detail, detail=detail),
            _written(tried) if detail else "",
            tried.sandbox or WEBASSEMBLY,
        )


def _stopped(name: str, what: str, why: str) -> SkillTestReport:
    case = Case(name=what, passed=False, detail=why)
    return SkillTestReport(skill=name, passed=False, ran=False, cases=[case], output=why)


def _judged(ended: Ended, case: SkillCase) -> str:
    """What is wrong; nothing when it passed."""
    if ended.end is not RunEnd.DONE:
        lines = ended.error.strip().splitlines()
        return lines[0] if lines else f"It ended with {ended.end.value}, and said nothing."
    return difference(case.expect, ended.output) or ""


def _written(tried: Result) -> str:
    lines = [line.message for line in tried.logs] + [tried.ended.error]
    return "\n".join(line for line in lines if line)[-MAX_SHOWN:]
