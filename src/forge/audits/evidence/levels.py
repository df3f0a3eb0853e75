"""The four levels of verification, each made of steps: what the project's own commands say, and what Forge sees itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forge.audits.check import Check
from forge.audits.counting import counted, first_of
from forge.audits.engine import audit
from forge.audits.evidence.records import Level, LevelName, Status, Step, exact_stamp, fit
from forge.audits.evidence.sandboxed import Bench
from forge.audits.evidence.thread import Thread
from forge.audits.evidence.verification import NO_TESTS, Task
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import LANGUAGES
from forge.audits.models import AuditReport, CheckResult, Verdict
from forge.audits.paths import shown
from forge.audits.snapshot import MAX_BYTES, Snapshot
from forge.kernel.clock import now

MAX_NAMED = 20
OnLevel = Callable[[Level], None]


@dataclass(frozen=True)
class Verifier:
    snapshot: Snapshot
    bench: Bench
    thread: Thread
    contracts: Sequence[Check]
    on_level: OnLevel = lambda _: None

    async def verify(self) -> tuple[Level, ...]:
        """All of them, in order, whatever comes of the ones before: a person wants to know all that is wrong."""
        plan = self.bench.plan
        levels: list[Level] = []
        for make in (
            lambda: self._level(LevelName.STATIC, plan.static, first=self._syntax),
            lambda: self._level(LevelName.RUNTIME, plan.runtime, nothing=plan.no_runtime),
            lambda: self._level(LevelName.BEHAVIOR, plan.behavior),
            self._contract,
        ):
            levels.append(await make())
            self.on_level(levels[-1])
        return tuple(levels)

    async def _level(
        self,
        name: LevelName,
        tasks: Sequence[Task],
        *,
        first: Callable[[], Step] | None = None,
        nothing: str = NO_TESTS,
    ) -> Level:
        started_at = exact_stamp(now())
        steps = [] if first is None else [await self.thread.run(first)]
        steps += [await self.bench.run(task) for task in tasks]
        return _judged(Level(name, Status.PASS, started_at, exact_stamp(now()), tuple(steps)), nothing)

    def _syntax(self) -> Step:
        """Of all sources, without running any of them."""
        started_at = exact_stamp(now())
        ignores = self.snapshot.project.ignores
        facts = {path: fact for path, fact in facts_of(self.snapshot).items() if not ignores(path)}
        broken = [
            f"{shown(path)}:{fact.broken_line}"
            for path, fact in sorted(facts.items())
            if fact.broken_line is not None
        ]
        large = [
            shown(entry.path)
            for entry in self.snapshot.files(*LANGUAGES)
            if entry.size > MAX_BYTES and not ignores(entry.path)
        ]
        told = [f"not well-formed: {first_of(broken, MAX_NAMED)}"] if broken else []
        if large:
            told.append(f"more than {MAX_BYTES:,} bytes, and not parsed: {first_of(large, MAX_NAMED)}")
        parsed = f"{counted(len(facts), 'files')} parsed"
        return _seen("syntax", Status.FAIL if told else Status.PASS, "; ".join(told) or parsed, started_at)

    async def _contract(self) -> Level:
        started_at = exact_stamp(now())
        report = await self.thread.run(self._audit_contracts)
        steps = tuple(_checked(result, started_at) for result in report.results)
        level = Level(LevelName.CONTRACT, Status.PASS, started_at, exact_stamp(now()), steps)
        return _judged(level, "; ".join(f"{result.code}: {result.detail}" for result in report.results))

    def _audit_contracts(self) -> AuditReport:
        return audit(self.snapshot, self.contracts, at=now())


def _judged(level: Level, nothing: str) -> Level:
    statuses = {step.status for step in level.steps}
    if Status.FAIL in statuses:
        status, reason = Status.FAIL, ""
    elif Status.PASS not in statuses:
        status, reason = Status.SKIP, nothing
    else:
        status, reason = Status.PASS, ""
    counts = level.counts if level.name is LevelName.BEHAVIOR else None
    if level.name is LevelName.BEHAVIOR and (status is Status.SKIP or (counts and not counts.ran)):
        status, reason = Status.FAIL, nothing if status is Status.SKIP else "no test ran"
    return Level(level.name, status, level.started_at, level.ended_at, level.steps, fit(reason))


def _checked(result: CheckResult, started_at: str) -> Step:
    status = Status.FAIL if result.result.blocks else Status.PASS
    if result.result is Verdict.SKIP:
        status = Status.SKIP
    told = fit(f"{result.name}: {result.result} -- {result.detail}")
    return _seen(result.code, status, told, started_at)


def _seen(name: str, status: Status, summary: str, started_at: str) -> Step:
    return Step(
        name=name,
        status=status,
        command=(),
        exit_code=None,
        end="examined",
        started_at=started_at,
        ended_at=exact_stamp(now()),
        summary=fit(summary),
    )
