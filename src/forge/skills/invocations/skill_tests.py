"""Run a skill's own tests: each `tests/*.json` has an input and the expected output."""

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from pydantic import ValidationError

from forge.errors import SandboxTooWeak
from forge.kernel.text import truncate
from forge.kernel.validation import first_problem
from forge.skills.execution import RunEnd, RunOutcome
from forge.skills.format.contents import encode_texts
from forge.skills.format.skill_writer import find_cases
from forge.skills.format.validation import MAX_CASES, validate
from forge.skills.invocations.runner import SkillResult
from forge.skills.models import SKILL_MD, Case, SkillCase, SkillFiles, SkillKind, TrialReport
from forge.skills.views import SkillTestReport

_SHOWN = 80


def difference(expected: Any, found: Any, place: str = "") -> str | None:
    """Describe the first difference; None if there is none.

    Objects may have more keys than expected; lists must have the same length. 1 and true differ.
    """
    if isinstance(expected, dict):
        return _in_table(cast("dict[str, Any]", expected), found, place)
    if isinstance(expected, list):
        return _in_list(cast("list[Any]", expected), found, place)
    return None if _is_same(expected, found) else _mismatch(expected, found, place)


def _in_table(expected: dict[str, Any], found: Any, place: str) -> str | None:
    if not isinstance(found, dict):
        return _mismatch(expected, found, place)
    given = cast("dict[str, Any]", found)
    for key, value in expected.items():
        below = f"{place}.{key}" if place else key
        if key not in given:
            return f"`{below}` is missing; expected {_shown(value)}."
        if found_difference := difference(value, given[key], below):
            return found_difference
    return None


def _in_list(expected: list[Any], found: Any, place: str) -> str | None:
    if not isinstance(found, list):
        return _mismatch(expected, found, place)
    given = cast("list[Any]", found)
    if len(given) != len(expected):
        return f"`{place}` has {len(given)} items; expected {len(expected)}."
    pairs = enumerate(zip(expected, given, strict=True))
    return next((text for index, (a, b) in pairs if (text := difference(a, b, f"{place}[{index}]"))), None)


def _is_same(expected: Any, found: Any) -> bool:
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, float) and isinstance(found, int | float):
        return math.isclose(expected, found, rel_tol=1e-9)
    return expected == found


def _mismatch(expected: Any, found: Any, place: str) -> str:
    return f"{f'`{place}`' if place else 'The result'} is {_shown(found)}; expected {_shown(expected)}."


def _shown(value: Any) -> str:
    return truncate(json.dumps(value, ensure_ascii=False), _SHOWN)


MAX_TIME_S = 60.0
"""Total time of all tests."""
MAX_SHOWN = 2000
"""Characters from the end of its output."""
WEBASSEMBLY = "WebAssembly"


RunFiles = Callable[[str, SkillKind, Mapping[str, bytes], str], Awaitable[SkillResult]]
"""Run a script or program once, given its name, kind, files and the input JSON."""


@dataclass(frozen=True)
class _CaseResult:
    case: Case
    output: str = ""
    sandbox: str = ""


class SkillTests:
    def __init__(self, run: RunFiles) -> None:
        self._run = run

    async def run(self, name: str, files: Mapping[str, bytes]) -> SkillTestReport:
        """Run the tests. Instructions are only validated."""
        found = await asyncio.to_thread(validate, name, files)
        if found.manifest is None or not found.valid:
            return _not_run(name, SKILL_MD, found.problems[0].located_message)
        kind = found.manifest.kind
        if kind is SkillKind.PROMPT:
            return SkillTestReport(
                skill=name, passed=True, ran=False, cases=[Case(name=SKILL_MD, passed=True)]
            )
        cases = find_cases(files)
        if not cases:
            return _not_run(name, "tests", "The skill has no tests: add one, such as tests/first.json.")
        try:
            return await self._run_all(name, kind, files, dict(islice(cases.items(), MAX_CASES)))
        except SandboxTooWeak as error:
            why = f"Not run: {error.message}. {error.hint or ''}".strip()
            return SkillTestReport(skill=name, passed=False, ran=False, output=why)

    async def _run_all(
        self, name: str, kind: SkillKind, files: Mapping[str, bytes], cases: Mapping[str, bytes]
    ) -> SkillTestReport:
        started = time.monotonic()
        ran: list[_CaseResult] = []
        for path, data in cases.items():
            if time.monotonic() - started > MAX_TIME_S:
                late = f"Not run: the tests before it took more than {MAX_TIME_S:g} seconds."
                ran.append(_CaseResult(Case(name=path, passed=False, detail=late)))
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
    ) -> _CaseResult:
        path, data = test
        try:
            case = SkillCase.model_validate_json(data)
        except ValidationError as error:
            return _CaseResult(
                Case(name=path, passed=False, detail=f"Not a valid test: {first_problem(error)}.")
            )
        tried = await self._run(name, kind, files, json.dumps(case.input))
        detail = _failure(tried.outcome, case)
        return _CaseResult(
            Case(name=case.name, passed=not detail, detail=detail),
            _output_tail(tried) if detail else "",
            tried.sandbox or WEBASSEMBLY,
        )


def _not_run(name: str, what: str, why: str) -> SkillTestReport:
    case = Case(name=what, passed=False, detail=why)
    return SkillTestReport(skill=name, passed=False, ran=False, cases=[case], output=why)


def _failure(ended: RunOutcome, case: SkillCase) -> str:
    """Describe why the case failed; empty if it passed."""
    if ended.end is not RunEnd.DONE:
        lines = ended.error.strip().splitlines()
        return lines[0] if lines else f"It ended with {ended.end.value}, without a message."
    return difference(case.expect, ended.output) or ""


def _output_tail(tried: SkillResult) -> str:
    lines = [line.message for line in tried.logs] + [tried.outcome.error]
    return "\n".join(line for line in lines if line)[-MAX_SHOWN:]


class SkillTrial:
    def __init__(self, tests: SkillTests) -> None:
        self._tests = tests

    async def run(self, skill: SkillFiles) -> TrialReport:
        """Run the tests of the skill. Instructions are only validated."""
        report = await self._tests.run(skill.name, encode_texts(skill.files))
        return TrialReport.model_validate(report.model_dump(include=set(TrialReport.model_fields)))
