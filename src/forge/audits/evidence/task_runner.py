"""Run the commands of the verification in the sandbox and record each as a step."""

import asyncio
import inspect
from dataclasses import dataclass, replace
from pathlib import Path

from forge.agents.commands.command_rules import Runner
from forge.agents.commands.execution import LIMITS, has_succeeded
from forge.agents.commands.reports import NAME, Counts, Report, report_folder
from forge.audits.evidence import unittest_report
from forge.audits.evidence.failing_tests import FailingTest, failing_tests
from forge.audits.evidence.records import Status, Step, TestCounts, exact_stamp, fit
from forge.audits.evidence.verification_plan import Plan, Task
from forge.errors import Invalid
from forge.kernel.clock import now
from forge.sandbox.models import PROTECTED, Command, End, Outcome
from forge.sandbox.sandboxes import Sandboxes
from forge.sandbox.toolchain import toolchain

MAX_OUTPUT = 400
_NO_TEST = 5
"""The exit code of pytest and unittest if no test was collected."""
_STOPPED = {
    End.NOT_STARTED: "could not be started: is it installed in the project?",
    End.TIMEOUT: "took too long and was stopped",
    End.CPU: "used too much processor time and was stopped",
    End.MEMORY: "used too much memory and was stopped",
    End.PROCESSES: "started too many processes and was stopped",
    End.FILE_SIZE: "wrote too large a file and was stopped",
    End.DISK: "filled the disk and was stopped",
    End.INODES: "created too many files and was stopped",
}
_REPORTING = (Runner.PYTEST, Runner.VITEST, Runner.JEST, Runner.NODE)


@dataclass(frozen=True)
class TaskRunner:
    root: Path
    evidence: str
    """The evidence folder, which commands cannot write to."""
    sandboxes: Sandboxes
    plan: Plan
    timeout_s: float

    async def run(self, task: Task) -> Step:
        started_at = exact_stamp(now())
        if task.problem:
            return _not_run(task, started_at)
        async with report_folder(self.root) as report:
            report_command = _report_command(task, report)
            if report_command is None:
                return _step(task, await self._execute(task, task.argv), started_at, None, ())
            argv, runner = report_command
            outcome = await self._execute(task, argv, (report.folder,))
            counts = await asyncio.to_thread(report.counts, runner)
            failing = await asyncio.to_thread(failing_tests, report, runner)
        return _step(task, outcome, started_at, counts, failing)

    async def _execute(self, task: Task, argv: tuple[str, ...], writable: tuple[Path, ...] = ()) -> Outcome:
        workdir = (self.root / task.folder).resolve()
        if not workdir.is_relative_to(self.root.resolve()):
            raise Invalid(f"The folder {task.folder!r} is not inside the project.")
        tools = await asyncio.to_thread(toolchain, [workdir, *self.sandboxes.hidden])
        return await self.sandboxes.run(
            Command(
                argv=argv,
                workdir=workdir,
                limits=replace(LIMITS, timeout_s=self.timeout_s),
                env=self._environment(task, workdir, tools.path),
                read_only=tools.read_only,
                writable=writable,
                protected=PROTECTED if task.folder else (*PROTECTED, self.evidence),
            )
        )

    def _environment(self, task: Task, workdir: Path, path: str) -> dict[str, str]:
        root = self.root.resolve()
        env = {
            "PATH": f"{root}/{self.plan.environment}/bin:{workdir}/node_modules/.bin:{path}",
            # Bytecode files would change the tree.
            "PYTHONDONTWRITEBYTECODE": "1",
            "CI": "1",
        }
        if task.has_sources_on_path and (root / "src").is_dir():
            env["PYTHONPATH"] = f"{root}/src"
        return env


def _report_command(task: Task, report: Report) -> tuple[tuple[str, ...], Runner] | None:
    """Return the command that also writes a report, and the report format; None if there is no report."""
    if task.is_unittest:
        program = inspect.getsource(unittest_report)
        return (task.argv[0], "-c", program, str(report.folder / NAME), *task.argv[3:]), Runner.JEST
    if task.allowed is None or task.runner is None or task.runner not in _REPORTING:
        return None
    return task.allowed.with_options(report.options(task.runner)).argv, task.runner


def _not_run(task: Task, started_at: str) -> Step:
    return Step(
        name=task.name,
        status=Status.FAIL,
        command=tuple(map(fit, task.argv)),
        exit_code=None,
        end=End.NOT_STARTED.value,
        started_at=started_at,
        ended_at=exact_stamp(now()),
        summary=fit(task.problem),
    )


def _step(
    task: Task, outcome: Outcome, started_at: str, counts: Counts | None, failing: tuple[FailingTest, ...]
) -> Step:
    lacks_report = counts is None and _must_report(task)
    has_failed = not has_succeeded(outcome) or lacks_report or (counts is not None and counts.failed > 0)
    return Step(
        name=task.name,
        status=Status.FAIL if has_failed else Status.PASS,
        command=tuple(map(fit, task.argv)),
        exit_code=outcome.exit_code,
        end=outcome.end.value,
        started_at=started_at,
        ended_at=exact_stamp(now()),
        summary=_summary(task, outcome, counts),
        counts=TestCounts(counts.passed, counts.failed, counts.skipped) if counts else None,
        failing=tuple(test.name for test in failing),
        messages=tuple(test.message for test in failing),
        sandbox=outcome.level.value,
    )


def _summary(task: Task, outcome: Outcome, counts: Counts | None) -> str:
    if outcome.end is not End.EXITED:
        return f"{task.argv[0]} {_STOPPED[outcome.end]}"
    if counts and (counts.passed or counts.failed):
        return str(counts)
    if counts or (_must_report(task) and outcome.exit_code == _NO_TEST):
        return f"no test ran, {counts.skipped} skipped" if counts and counts.skipped else "no test ran"
    if _must_report(task) and outcome.exit_code == 0:
        return "it ended before writing its report, so no test counts"
    output = last_lines(outcome.stderr.text.strip() or outcome.stdout.text.strip())
    return fit(f"exit code {outcome.exit_code}{f': {output}' if outcome.exit_code and output else ''}")


def _must_report(task: Task) -> bool:
    """Return whether a missing report is an error. These runners always write one, unless a test ends the process."""
    return task.is_unittest or task.runner is Runner.PYTEST


def last_lines(text: str, limit: int = MAX_OUTPUT) -> str:
    """Return the end of a text, starting at a line if possible."""
    if len(text) <= limit:
        return text
    end = text[-limit:]
    starts_at_line = text[-limit - 1] == "\n"
    lines = end if starts_at_line else end.partition("\n")[2]
    return f"…\n{lines}" if lines else f"…{end}"
