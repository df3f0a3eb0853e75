"""Test every check on its own fixtures, in memory, at server start and with `forge audit --self-test`."""

import time
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from forge.audits.check import Check, Fixture
from forge.audits.engine.check_runner import validate_examination, verdict_of
from forge.audits.models import Verdict

PASSING = frozenset({Verdict.PASS, Verdict.SKIP})


class Proof(BaseModel):
    """The result of the self-test of one check."""

    model_config = ConfigDict(frozen=True)

    code: str
    name: str
    fixtures: int
    caught: int
    """Failing examples that the check must catch."""
    problems: list[str]
    duration_ms: int

    @property
    def is_sound(self) -> bool:
        return not self.problems


def run_self_tests(checks: Iterable[Check]) -> list[Proof]:
    return [_prove(check) for check in checks]


def _prove(check: Check) -> Proof:
    began = time.monotonic()
    problems = [problem for fixture in check.fixtures if (problem := _try(check, fixture))]
    bad = [fixture for fixture in check.fixtures if fixture.expect not in PASSING]
    if not bad:
        problems.append("it has no failing example")
    if all(fixture.expect != Verdict.PASS for fixture in check.fixtures):
        problems.append("it has no passing example")
    return Proof(
        code=check.code,
        name=check.name,
        fixtures=len(check.fixtures),
        caught=len(bad),
        problems=problems,
        duration_ms=round((time.monotonic() - began) * 1000),
    )


def _try(check: Check, fixture: Fixture) -> str | None:
    try:
        problem = _compare(check, fixture)
    except Exception as error:  # noqa: BLE001 - a check that raises on its own example fails the self-test
        problem = f"{type(error).__name__}: {error}"
    return problem and f"{fixture.name}: {problem}"


def _compare(check: Check, fixture: Fixture) -> str | None:
    examination = validate_examination(check.examine(fixture.snapshot()))
    verdict = verdict_of(check, examination)
    rules = tuple(sorted({found.rule for found in examination.found}))
    if verdict != fixture.expect:
        return f"{verdict} instead of {fixture.expect}"
    if fixture.rules and rules != tuple(sorted(set(fixture.rules))):
        return f"found {', '.join(rules)} instead of {', '.join(fixture.rules)}"
    return None
