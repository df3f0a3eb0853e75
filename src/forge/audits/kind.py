"""The run kind `audit`: collect evidence if requested, audit, append the result to the ledger."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from threading import Event as Flag
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from forge.audits.audit_targets import AuditTarget, AuditTargets
from forge.audits.auditor_loader import AuditorLoader
from forge.audits.engine.registry import select_checks
from forge.audits.models import (
    AuditFinished,
    AuditRecorded,
    AuditReport,
    AuditRequest,
    AuditStarted,
    CheckResult,
)
from forge.audits.project import Governance
from forge.audits.report_events import REPORT_EVENT_TYPES, fold_report, result_events, summarize
from forge.errors import ForgeError, Internal
from forge.events.log import EventLog
from forge.events.models import EventData
from forge.runs.attempt import StepInfo
from forge.runs.context import RunContext
from forge.runs.journal import StepResult, run_stream
from forge.runs.kinds import RunKind
from forge.sandbox.sandboxes import Sandboxes
from forge.store.database import Store
from forge.workspace.observed.location import find_repository

if TYPE_CHECKING:
    from forge.audits.auditor import CompletedAudit

KIND = "audit"
MAX_EVENTS = 100_000
MAX_CONCURRENT = 2
"""Concurrent audits per process; each uses a thread and several worker processes."""


class AuditInput(BaseModel):
    """The input of the run."""

    model_config = ConfigDict(frozen=True)

    project: str
    workspace_id: str | None
    path: str | None
    request: AuditRequest
    evidence: bool
    summary: str


@dataclass(frozen=True)
class AuditKind:
    auditor: AuditorLoader
    targets: AuditTargets
    events: EventLog
    database: Store
    sandboxes: Sandboxes
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT))

    def kind(self) -> RunKind[AuditInput]:
        return RunKind(KIND, AuditInput, self.run, title=_title)

    async def run(self, context: RunContext, given: AuditInput) -> dict[str, Any]:
        if given.evidence:
            await context.step("evidence", self._collect, given)
        audited = await context.step("audit", self._audit, given)
        if given.request.is_recorded and audited["is_governed"]:
            recorded = await context.step("ledger", self._append, given, audited)
            return {**audited["summary"], **recorded}
        return audited["summary"]

    async def _collect(self, step: StepInfo, given: AuditInput) -> dict[str, str]:
        """Run the tests and record evidence. Interrupted tests run again from the start."""
        from forge.audits.evidence.collector import CONTRACTS, EvidenceRequest, collect

        place, proven = await self._target(step, given), await self.auditor.get()
        found = await asyncio.to_thread(find_repository, place.path, place.git_dir)
        collected = await collect(
            lambda: proven.auditor.open(place.path, given.request, git_dir=place.git_dir),
            found.root,
            proven.auditor.keys,
            self.sandboxes,
            EvidenceRequest(given.summary, contracts=select_checks(proven.checks, CONTRACTS)),
        )
        return {level.name.value: level.status.value for level in collected.run.levels}

    async def _audit(self, step: StepInfo, given: AuditInput) -> StepResult:
        """Audit and publish each result. After a crash the step runs again, with a new `audit.started`."""
        proven = await self.auditor.get()
        request = given.request.model_copy(update={"ledger": False})
        codes = proven.codes(request)
        publisher = _ResultPublisher(lambda *facts: self._append_events(step, *facts))
        async with self.slots:
            place = await self._target(
                step, given
            )  # resolved late, as waiting for the semaphore may take long
            started = AuditStarted(project=place.name, phase=request.phase, base=request.base, checks=codes)
            await self._append_events(step, started)
            try:
                audited = await asyncio.to_thread(
                    proven.auditor.run,
                    place.path,
                    request,
                    git_dir=place.git_dir,
                    place="" if place.git_dir else str(place.path),
                    on_result=publisher.on_result,
                )
            finally:
                publisher.stop()
        asked = {"project": place.name, "only": codes if request.only else [], "file": request.file}
        summary = summarize(audited.report).model_copy(update=asked)
        value = {
            "summary": summary.model_dump(mode="json"),
            "is_governed": audited.is_governed,
            "governance": [audited.governance.folder, audited.governance.exists],
            "changed": [_written(path) for path in audited.changed],
        }
        claims = audited.report.claimed_files
        return StepResult(value, (AuditFinished(summary=summary, claimed_files=claims),))

    async def _append(self, step: StepInfo, given: AuditInput, audit_output: dict[str, Any]) -> StepResult:
        """Append the audit to the ledger. A failure is recorded in the result and does not fail the run."""
        from forge.audits.auditor import CompletedAudit

        report = await self.report(step.run_id)
        if report is None:
            raise Internal("The events of this run contain no finished audit.")
        changed = tuple(_read(path) for path in audit_output["changed"])
        entry, problem = None, None
        try:
            entry = await self._record(
                step, given, CompletedAudit(report, Governance(*audit_output["governance"]), changed)
            )
        except ForgeError as error:
            problem = f"{error.message} {error.hint}" if error.hint else error.message
        value = {"ledger_entry": entry, "ledger_problem": problem}
        return StepResult(value, (AuditRecorded(entry=entry, problem=problem),))

    async def _record(self, step: StepInfo, given: AuditInput, audited: "CompletedAudit") -> int:
        """Append the audit. The step key makes it idempotent."""
        place, proven = await self._target(step, given), await self.auditor.get()
        return await asyncio.to_thread(
            proven.auditor.record, place.path, audited, git_dir=place.git_dir, key=step.key
        )

    async def report(self, run_id: str) -> AuditReport | None:
        async with self.database.read() as tx:
            events = await self.events.read(
                tx, run_stream(run_id), limit=MAX_EVENTS, types=REPORT_EVENT_TYPES
            )
        return fold_report(events)

    async def _target(self, step: StepInfo, given: AuditInput) -> AuditTarget:
        """Resolve the target again, as a link may have changed since the run started."""
        return await self.targets.find(step.account_id, workspace_id=given.workspace_id, path=given.path)

    async def _append_events(self, step: StepInfo, *facts: EventData) -> None:
        async with self.database.begin() as tx:
            await self.events.append(tx, run_stream(step.run_id), *facts)


class _Stopped(Exception):
    """Stops the audit thread after its run ended."""


class _ResultPublisher:
    """Publishes results from the audit thread on the event loop, and blocks the audit until each is stored."""

    def __init__(self, publish: Callable[..., Awaitable[None]]) -> None:
        self._publish = publish
        self._loop = asyncio.get_running_loop()
        self._is_stopped = Flag()

    def on_result(self, result: CheckResult) -> None:
        if self._is_stopped.is_set():
            raise _Stopped

        async def publish() -> None:
            if not self._is_stopped.is_set():
                await self._publish(*result_events(result))

        asyncio.run_coroutine_threadsafe(publish(), self._loop).result()

    def stop(self) -> None:
        self._is_stopped.set()


def _title(given: AuditInput) -> str:
    phase = given.request.phase
    return f"Audit of {given.project}" + ("" if phase == "unknown" else f", {phase}")


def _written(path: str) -> str:
    """Encode a path with arbitrary bytes as text that any database can store."""
    return path.encode("utf-8", "surrogateescape").decode("latin-1")


def _read(path: str) -> str:
    return path.encode("latin-1").decode("utf-8", "surrogateescape")
