"""Run the four verification levels. Each has steps: the project's own commands and Forge's own checks."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, TypeVar

from forge.audits.check import Check
from forge.audits.display_text import escape_path, format_count, join_names
from forge.audits.engine.check_runner import run_checks
from forge.audits.evidence.records import Level, LevelName, Status, Step, exact_stamp, fit
from forge.audits.evidence.task_runner import TaskRunner
from forge.audits.evidence.verification_plan import NO_TESTS, Task
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import LANGUAGES
from forge.audits.models import AuditReport, CheckResult, Verdict
from forge.audits.snapshot import MAX_BYTES, Snapshot
from forge.kernel.clock import now

T = TypeVar("T")
P = ParamSpec("P")


class SnapshotThread:
    """Runs all work on a snapshot in one thread, and closes the snapshot there."""

    async def __aenter__(self) -> "SnapshotThread":
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evidence")
        self._stack = ExitStack()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.run(self._stack.close)
        finally:
            self._executor.shutdown(wait=False)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._executor, partial(function, *args, **kwargs)
        )

    async def enter(self, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Enter a context manager on the thread; it is closed when the thread ends."""
        return await self.run(lambda: self._stack.enter_context(make()))


MAX_NAMED = 20
OnLevel = Callable[[Level], None]


@dataclass(frozen=True)
class Verifier:
    snapshot: Snapshot
    task_runner: TaskRunner
    thread: SnapshotThread
    contracts: Sequence[Check]
    on_level: OnLevel = lambda _: None

    async def verify(self) -> tuple[Level, ...]:
        """Run all levels in order, even after a failure, so that one run reports everything."""
        plan = self.task_runner.plan
        levels: list[Level] = []
        for run_level in (
            lambda: self._level(LevelName.STATIC, plan.static, first_step=self._syntax),
            lambda: self._level(LevelName.RUNTIME, plan.runtime, skip_reason=plan.no_runtime),
            lambda: self._level(LevelName.BEHAVIOR, plan.behavior),
            self._contract,
        ):
            levels.append(await run_level())
            self.on_level(levels[-1])
        return tuple(levels)

    async def _level(
        self,
        name: LevelName,
        tasks: Sequence[Task],
        *,
        first_step: Callable[[], Step] | None = None,
        skip_reason: str = NO_TESTS,
    ) -> Level:
        started_at = exact_stamp(now())
        steps = [] if first_step is None else [await self.thread.run(first_step)]
        steps += [await self.task_runner.run(task) for task in tasks]
        return _with_status(
            Level(name, Status.PASS, started_at, exact_stamp(now()), tuple(steps)), skip_reason
        )

    def _syntax(self) -> Step:
        """Parse all source files."""
        started_at = exact_stamp(now())
        ignores = self.snapshot.project.ignores
        facts = {path: fact for path, fact in facts_of(self.snapshot).items() if not ignores(path)}
        broken = [
            f"{escape_path(path)}:{fact.broken_line}"
            for path, fact in sorted(facts.items())
            if fact.broken_line is not None
        ]
        large = [
            escape_path(entry.path)
            for entry in self.snapshot.files(*LANGUAGES)
            if entry.size > MAX_BYTES and not ignores(entry.path)
        ]
        problems = [f"not well-formed: {join_names(broken, MAX_NAMED)}"] if broken else []
        if large:
            problems.append(f"more than {MAX_BYTES:,} bytes, and not parsed: {join_names(large, MAX_NAMED)}")
        parsed = f"{format_count(len(facts), 'files')} parsed"
        return _forge_step(
            "syntax", Status.FAIL if problems else Status.PASS, "; ".join(problems) or parsed, started_at
        )

    async def _contract(self) -> Level:
        started_at = exact_stamp(now())
        report = await self.thread.run(self._audit_contracts)
        steps = tuple(_check_step(result, started_at) for result in report.results)
        level = Level(LevelName.CONTRACT, Status.PASS, started_at, exact_stamp(now()), steps)
        return _with_status(level, "; ".join(f"{result.code}: {result.detail}" for result in report.results))

    def _audit_contracts(self) -> AuditReport:
        return run_checks(self.snapshot, self.contracts, at=now())


def _with_status(level: Level, skip_reason: str) -> Level:
    statuses = {step.status for step in level.steps}
    if Status.FAIL in statuses:
        status, reason = Status.FAIL, ""
    elif Status.PASS not in statuses:
        status, reason = Status.SKIP, skip_reason
    else:
        status, reason = Status.PASS, ""
    counts = level.counts if level.name is LevelName.BEHAVIOR else None
    if level.name is LevelName.BEHAVIOR and (status is Status.SKIP or (counts and not counts.ran)):
        status, reason = Status.FAIL, skip_reason if status is Status.SKIP else "no test ran"
    return Level(level.name, status, level.started_at, level.ended_at, level.steps, fit(reason))


def _check_step(result: CheckResult, started_at: str) -> Step:
    status = Status.FAIL if result.result.blocks else Status.PASS
    if result.result is Verdict.SKIP:
        status = Status.SKIP
    summary = fit(f"{result.name}: {result.result} -- {result.detail}")
    return _forge_step(result.code, status, summary, started_at)


def _forge_step(name: str, status: Status, summary: str, started_at: str) -> Step:
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
