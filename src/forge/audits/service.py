"""Start audits, wait for them and read their reports."""

import asyncio

from forge.audits.claims import read_claims
from forge.audits.kind import KIND, AuditInput, AuditKind
from forge.audits.models import AuditReport, AuditRequest, AuditRoots, NewAudit
from forge.errors import (
    Conflict,
    Denied,
    ForgeError,
    Internal,
    Invalid,
    NotFound,
    TooLarge,
    Unavailable,
)
from forge.events.log import EventLog
from forge.runs.journal import wait_for_end
from forge.runs.models import Problem, Run, RunStatus
from forge.runs.service import Runs
from forge.store.database import Store, Tx
from forge.workspace.filesystem.allowed_roots import AllowedRoots

PATIENCE_S = 120.0
_REFUSALS: dict[str, type[ForgeError]] = {
    kind.code: kind for kind in (Conflict, Denied, Invalid, NotFound, TooLarge, Unavailable)
}


class Audits:
    def __init__(self, database: Store, events: EventLog, runs: Runs, kind: AuditKind) -> None:
        self._database = database
        self._events = events
        self._runs = runs
        self._kind = kind

    @property
    def allowed_roots(self) -> AllowedRoots:
        """The folders of the server that may be audited."""
        return self._kind.targets.allowed_roots

    async def roots(self, account_id: str) -> AuditRoots:
        return await self._kind.targets.roots(account_id)

    async def start(self, account_id: str, new: NewAudit) -> Run:
        """Start an audit run. Raises before a run exists if the request is invalid."""
        given = await self.prepare(account_id, new)
        async with self._database.begin() as tx:
            return await self.begin(tx, account_id, given)

    async def prepare(self, account_id: str, new: NewAudit) -> AuditInput:
        """Validate a request and return the input of its run."""
        place = await self._kind.targets.find(account_id, workspace_id=new.workspace_id, path=new.path)
        request = AuditRequest(**new.model_dump(include=set(AuditRequest.model_fields)))
        (await self._kind.auditor.get()).codes(request)
        if request.claimed_files is not None:
            read_claims(request.claimed_files)
        return AuditInput(
            project=place.name,
            workspace_id=new.workspace_id,
            path=None if new.workspace_id else str(place.path),
            request=request,
            evidence=new.evidence,
            summary=new.summary,
        )

    async def begin(self, tx: Tx, account_id: str, given: AuditInput, *, parent_id: str | None = None) -> Run:
        """Start a run with prepared input in the caller's transaction."""
        return await self._runs.start(
            tx, account_id, KIND, given.model_dump(mode="json"), parent_id=parent_id
        )

    async def wait(self, account_id: str, new: NewAudit) -> tuple[Run, AuditReport]:
        """Start an audit and wait up to two minutes for its report."""
        run = await self.start(account_id, new)
        try:
            async with asyncio.timeout(PATIENCE_S):
                await wait_for_end(self._database, self._events, run.id)
        except TimeoutError:
            raise Unavailable(
                f"The audit did not finish within {PATIENCE_S:.0f} s. It continues in the background.",
                hint=f"Read it later: GET /audit/run?run_id={run.id}",
            ) from None
        return run, await self.report(account_id, run.id)

    async def report(self, account_id: str, run_id: str) -> AuditReport:
        """Return the report of a finished audit."""
        run = await self._runs.find_one(account_id, run_id)
        if run.kind != KIND:
            raise NotFound(f"Run {run_id} is not an audit.")
        if run.error is not None:
            raise _refusal(run.error)
        report = await self._kind.report(run_id) if run.status is RunStatus.COMPLETED else None
        if report is None:
            raise Conflict(f"This audit has no report: its run is {run.status.value}.")
        return report


def _refusal(problem: Problem) -> ForgeError:
    """Turn the problem that ended a run into the error of this request."""
    kind = _REFUSALS.get(problem.code, Internal)
    return kind(problem.message, hint=problem.hint)
