"""Every check proves itself on its own examples: what must pass passes, what must not does not.

Runs in memory in a moment, at every start of the server and by `forge audit --self-test`.
"""

import time
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from forge.audits.check import Check, Fixture
from forge.audits.engine import checked, judge
from forge.audits.models import Verdict

PASSING = frozenset({Verdict.PASS, Verdict.SKIP})


class Proof(BaseModel):
    """What the self-test of one check came to."""

    model_config = ConfigDict(frozen=True)

    code: str
    name: str
    fixtures: int
    caught: int
    """Examples of bad that it must not let through."""
    problems: list[str]
    duration_ms: int

    @property
    def is_sound(self) -> bool:
        return not self.problems


def prove(checks: Iterable[Check]) -> list[Proof]:
    return [_prove(check) for check in checks]


def _prove(check: Check) -> Proof:
    began = time.monotonic()
    problems = [problem for fixture in check.fixtures if (problem := _try(check, fixture))]
    bad = [fixture for fixture in check.fixtures if fixture.expect not in PASSING]
    if not bad:
        problems.append("it has no example that it must catch")
    if all(fixture.expect != Verdict.PASS for fixture in check.fixtures):
        problems.append("it has no example that it must let through")
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
    except Exception as error:  # noqa: BLE001 - a check that breaks on its own example has failed its proof
        problem = f"{type(error).__name__}: {error}"
    return problem and f"{fixture.name}: {problem}"


def _compare(check: Check, fixture: Fixture) -> str | None:
    examination = checked(check.examine(fixture.snapshot()))
    verdict = judge(check, examination)
    rules = tuple(sorted({found.rule for found in examination.found}))
    if verdict != fixture.expect:
        return f"{verdict} instead of {fixture.expect}"
    if fixture.rules and rules != tuple(sorted(set(fixture.rules))):
        return f"found {', '.join(rules)} instead of {', '.join(fixture.rules)}"
    return None
