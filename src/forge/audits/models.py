"""The audit report, request and events, shared by the library, terminal, API, ledger and web."""

from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from forge.events.models import EventData


class Verdict(StrEnum):
    PASS = "PASS"  # noqa: S105
    WARN = "WARN"
    FAIL = "FAIL"
    ERROR = "ERROR"
    """The check could not run. Counts as FAIL, as nothing is known about the project."""
    SKIP = "SKIP"
    """There was nothing to check; the detail says why. Neither pass nor fail."""

    @property
    def blocks(self) -> bool:
        return self in (Verdict.FAIL, Verdict.ERROR)


class Severity(StrEnum):
    """The effect of a finding on the verdict of its check."""

    FAIL = "fail"
    ERROR = "error"
    """Something could not be examined because it is broken, too large or unreadable."""
    WARN = "warn"
    NOTE = "note"
    """Informational only."""


def _to_the_second(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


Timestamp = Annotated[datetime, PlainSerializer(_to_the_second, return_type=str, when_used="json")]


class Known(BaseModel):
    """An accepted finding: it is shown but does not block."""

    model_config = ConfigDict(frozen=True)

    since: date
    until: date | None
    reason: str


class Finding(BaseModel):
    model_config = ConfigDict(frozen=True)

    check: str
    """The code of its check, such as A4."""
    rule: str
    """The rule of the check that it violates, such as `forbidden-import`."""
    severity: Severity
    path: str | None
    """Relative to the project; bytes that are not UTF-8 are escaped. None if it is about the whole project."""
    line: int | None
    end_line: int | None
    excerpt: str | None
    """The source line, with secrets masked."""
    message: str
    why: str
    fix: str
    reproduce: str
    """The command that reports only this finding."""
    fingerprint: str
    """Identifies the finding even if lines above it are added or removed."""
    known: Known | None = None


class CheckResult(BaseModel):
    model_config = ConfigDict(frozen=True)

    code: str
    name: str
    result: Verdict
    detail: str
    is_blocking: bool
    """Whether a FAIL fails the audit; an ERROR always does."""
    findings: list[Finding]
    examined: int
    unit: str
    """What `examined` counts: files, imports, added lines…"""
    duration_ms: int


class AuditReport(BaseModel):
    """The report of an audit."""

    model_config = ConfigDict(frozen=True)

    phase: str
    timestamp: Timestamp
    overall: Verdict
    """PASS or FAIL."""
    checks: list[CheckResult]
    """A1 to A9, and the team's own blocking checks."""
    warnings: list[CheckResult]
    project: str
    """The name of the project folder."""
    branch: str | None
    head: str | None
    base: str | None
    """The full id of the commit that changes are counted from, or None if everything is new."""
    tree: str
    """The hash of the audited files, without the evidence files."""
    claimed_files: list[str] | None
    """None if no claim was made."""
    changed_files: int
    duration_ms: int

    @property
    def results(self) -> list[CheckResult]:
        return [*self.checks, *self.warnings]


MAX_PATH = 4096
Line = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""NUL is rejected because no path, revision or database can contain it."""


class AuditRequest(BaseModel):
    """The options of an audit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    phase: Line = Field(default="unknown", min_length=1, max_length=200)
    claimed_files: list[Annotated[Line, Field(max_length=MAX_PATH)]] | None = None
    """The files the change is meant to touch. None: the scope (A1) is not checked."""
    base: Line | None = Field(default=None, min_length=1, max_length=200)
    """Any revision. None: the last commit, so that the uncommitted changes are audited."""
    only: list[Line] = Field(default=[], max_length=400)
    """Codes of the checks to run; all if empty."""
    file: Line | None = Field(default=None, max_length=MAX_PATH)
    """Report only findings about this file."""
    ledger: bool = True
    """Append the result to the project's ledger. An audit with `only` or `file` is never appended."""

    @property
    def is_recorded(self) -> bool:
        return self.ledger and not self.only and self.file is None


class NewAudit(AuditRequest):
    """Audit a workspace or a folder of the server. Default: the folder the server was started in."""

    workspace_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]{1,64}$")
    path: Line | None = Field(default=None, min_length=1, max_length=MAX_PATH)
    """A folder inside one of the allowed roots. A relative path starts at the server's start folder."""
    evidence: bool = False
    """Run the project's tests in the sandbox first and record the result as evidence."""
    summary: Line = Field(default="", max_length=10_000)
    """What the change is for; recorded in the diff log."""


class CheckSummary(BaseModel):
    """The result of a check, with the number of findings instead of the findings."""

    model_config = ConfigDict(frozen=True)

    code: str
    name: str
    result: Verdict
    detail: str
    findings: int
    known: int
    """The number of accepted findings."""


class AuditSummary(BaseModel):
    """The output of an audit run. `GET /audit/run?run_id=…` returns the whole report."""

    model_config = ConfigDict(frozen=True)

    phase: str
    timestamp: Timestamp
    overall: Verdict
    checks: list[CheckSummary]
    warnings: list[CheckSummary]
    project: str
    branch: str | None
    head: str | None
    base: str | None
    tree: str
    changed_files: int
    duration_ms: int
    only: list[str] = []
    """The requested checks; empty for all. A PASS of some checks is not a PASS of the project."""
    file: str | None = None
    """The only file whose findings were requested."""
    ledger_entry: int | None = None
    """The number of the entry in the project's ledger."""
    ledger_problem: str | None = None
    """Why the ledger entry is missing. The report is valid nonetheless."""


class AuditStarted(EventData):
    """An audit started, or restarted after its worker died; earlier check results of the run are void."""

    type: ClassVar[str] = "audit.started"
    project: str
    phase: str
    base: str | None
    """The requested base; null for the last commit."""
    checks: list[str]


class AuditChecked(EventData):
    """A check finished. The event has at most 200 findings; `audit.findings` events contain the rest, in order."""

    type: ClassVar[str] = "audit.check"
    result: CheckResult
    findings_total: int


class AuditFound(EventData):
    """More findings of the check that finished last."""

    type: ClassVar[str] = "audit.findings"
    code: str
    findings: list[Finding]


class AuditFinished(EventData):
    """All checks finished; the event has the overall result."""

    type: ClassVar[str] = "audit.finished"
    summary: AuditSummary
    claimed_files: list[str] | None


class AuditRecorded(EventData):
    """The audit was appended to the project's ledger, or could not be, with the reason."""

    type: ClassVar[str] = "audit.recorded"
    entry: int | None
    problem: str | None


EVENTS: tuple[type[EventData], ...] = (AuditStarted, AuditChecked, AuditFound, AuditFinished, AuditRecorded)


class AuditRoots(BaseModel):
    """The folders of the server that may be audited."""

    model_config = ConfigDict(frozen=True)

    roots: list[str]
    """Any folder inside one of these may be audited."""
    projects: list[str]
    """Repositories that are a root or directly inside one, at most 200."""
    start: str | None
    """The folder that is audited by default; null if a path or workspace is required."""
