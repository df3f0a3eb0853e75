"""The run kind `audit`: the tests if they are asked for, the audit, and its line in the ledger, each done once."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from threading import Event as Flag
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from forge.audits.models import (
    AuditFinished,
    AuditRecorded,
    AuditReport,
    AuditRequest,
    AuditStarted,
    CheckResult,
)
from forge.audits.places import Place, Places
from forge.audits.project import Governance
from forge.audits.proving import ProvenAuditor
from forge.audits.registry import choose
from forge.audits.telling import TOLD, fold_report, summarize, tell
from forge.errors import ForgeError, Internal
from forge.events.log import EventLog
from forge.events.models import EventData
from forge.runs.attempt import StepInfo
from forge.runs.context import RunContext
from forge.runs.journal import Told, run_stream
from forge.runs.kinds import RunKind
from forge.sandbox.choice import Sandboxes
from forge.store.engine import Store
from forge.workspace.observed_place import find_place

if TYPE_CHECKING:
    from forge.audits.auditor import Audited

KIND = "audit"
MAX_EVENTS = 100_000
AT_ONCE = 2
"""Audits side by side in one process: each takes a thread and what it can get of the processors."""


class AuditInput(BaseModel):
    """Pinned when the run starts."""

    model_config = ConfigDict(frozen=True)

    project: str
    workspace_id: str | None
    path: str | None
    request: AuditRequest
    evidence: bool
    summary: str


@dataclass(frozen=True)
class AuditKind:
    auditor: ProvenAuditor
    places: Places
    events: EventLog
    database: Store
    sandboxes: Sandboxes
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

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
        """Tests that were interrupted are run again: a record is of one run, from its beginning to its end."""
        from forge.audits.evidence.collecting import CONTRACTS, EvidenceRequest, collect

        place, proven = await self._place(step, given), await self.auditor.get()
        found = await asyncio.to_thread(find_place, place.path, place.git_dir)
        collected = await collect(
            lambda: proven.auditor.open(place.path, given.request, git_dir=place.git_dir),
            found.root,
            proven.auditor.keys,
            self.sandboxes,
            EvidenceRequest(given.summary, contracts=choose(proven.checks, CONTRACTS)),
        )
        return {level.name.value: level.status.value for level in collected.run.levels}

    async def _audit(self, step: StepInfo, given: AuditInput) -> Told:
        """Told check by check. When its process dies it is done again, and `audit.started` says so."""
        proven = await self.auditor.get()
        request = given.request.model_copy(update={"ledger": False})
        codes = proven.codes(request)
        teller = _Teller(lambda *facts: self._tell(step, *facts))
        async with self.turns:
            place = await self._place(step, given)  # only now: waiting for a turn may have taken long
            started = AuditStarted(project=place.name, phase=request.phase, base=request.base, checks=codes)
            await self._tell(step, started)
            try:
                audited = await asyncio.to_thread(
                    proven.auditor.run,
                    place.path,
                    request,
                    git_dir=place.git_dir,
                    place="" if place.git_dir else str(place.path),
                    on_result=teller.on_result,
                )
            finally:
                teller.stop()
        asked = {"project": place.name, "only": codes if request.only else [], "file": request.file}
        summary = summarize(audited.report).model_copy(update=asked)
        value = {
            "summary": summary.model_dump(mode="json"),
            "is_governed": audited.is_governed,
            "governance": [audited.governance.folder, audited.governance.exists],
            "changed": [_written(path) for path in audited.changed],
        }
        claims = audited.report.claimed_files
        return Told(value, (AuditFinished(summary=summary, claimed_files=claims),))

    async def _append(self, step: StepInfo, given: AuditInput, told: dict[str, Any]) -> Told:
        """A ledger that takes no entry takes nothing away from the report: why it did not is said beside it."""
        from forge.audits.auditor import Audited

        report = await self.report(step.run_id)
        if report is None:
            raise Internal("The log of this run has lost its audit.")
        changed = tuple(_read(path) for path in told["changed"])
        entry, problem = None, None
        try:
            entry = await self._record(step, given, Audited(report, Governance(*told["governance"]), changed))
        except ForgeError as error:
            problem = f"{error.message} {error.hint}" if error.hint else error.message
        value = {"ledger_entry": entry, "ledger_problem": problem}
        return Told(value, (AuditRecorded(entry=entry, problem=problem),))

    async def _record(self, step: StepInfo, given: AuditInput, audited: "Audited") -> int:
        """The key keeps a step that is repeated from leaving a second entry."""
        place, proven = await self._place(step, given), await self.auditor.get()
        return await asyncio.to_thread(
            proven.auditor.record, place.path, audited, git_dir=place.git_dir, key=step.key
        )

    async def report(self, run_id: str) -> AuditReport | None:
        async with self.database.read() as tx:
            events = await self.events.read(tx, run_stream(run_id), limit=MAX_EVENTS, types=TOLD)
        return fold_report(events)

    async def _place(self, step: StepInfo, given: AuditInput) -> Place:
        """Looked at again: what was allowed when the run began may be a link to elsewhere now."""
        return await self.places.find(step.account_id, workspace_id=given.workspace_id, path=given.path)

    async def _tell(self, step: StepInfo, *facts: EventData) -> None:
        async with self.database.begin() as tx:
            await self.events.append(tx, run_stream(step.run_id), *facts)


class _Stopped(Exception):
    """Ends an audit in its thread, whose run has ended before it."""


class _Teller:
    """Hears results in the audit's thread and has each told by the event loop before the audit goes on."""

    def __init__(self, say: Callable[..., Awaitable[None]]) -> None:
        self._say = say
        self._loop = asyncio.get_running_loop()
        self._is_stopped = Flag()

    def on_result(self, result: CheckResult) -> None:
        if self._is_stopped.is_set():
            raise _Stopped

        async def say() -> None:
            if not self._is_stopped.is_set():
                await self._say(*tell(result))

        asyncio.run_coroutine_threadsafe(say(), self._loop).result()

    def stop(self) -> None:
        self._is_stopped.set()


def _title(given: AuditInput) -> str:
    phase = given.request.phase
    return f"Audit of {given.project}" + ("" if phase == "unknown" else f", {phase}")


def _written(path: str) -> str:
    """Any bytes can be a name; a database takes only characters."""
    return path.encode("utf-8", "surrogateescape").decode("latin-1")


def _read(path: str) -> str:
    return path.encode("latin-1").decode("utf-8", "surrogateescape")
