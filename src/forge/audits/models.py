"""What an audit says: the same object in the library, the terminal, the API, the ledger and the web."""

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
    """Nobody can tell. Counts as bad as FAIL: what was not looked at is not fine."""
    SKIP = "SKIP"
    """There was nothing to look at, and the detail says why. Neither good nor bad."""

    @property
    def blocks(self) -> bool:
        return self in (Verdict.FAIL, Verdict.ERROR)


class Severity(StrEnum):
    """What a finding does to the verdict of its check."""

    FAIL = "fail"
    ERROR = "error"
    """Something could not be examined: broken, too large, unreadable."""
    WARN = "warn"
    NOTE = "note"
    """Said, and nothing more."""


def _to_the_second(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


Timestamp = Annotated[datetime, PlainSerializer(_to_the_second, return_type=str, when_used="json")]


class Known(BaseModel):
    """A finding the project has accepted for now: it is shown and does not block."""

    model_config = ConfigDict(frozen=True)

    since: date
    until: date | None
    reason: str


class Finding(BaseModel):
    model_config = ConfigDict(frozen=True)

    check: str
    """The code of its check, such as A4."""
    rule: str
    """What kind of finding it is among its check's, such as `forbidden-import`."""
    severity: Severity
    path: str | None
    """Relative to the project; bytes that are no UTF-8 are escaped. None when it is about the whole project."""
    line: int | None
    end_line: int | None
    excerpt: str | None
    """The line it is about. Never a secret: those are masked."""
    message: str
    why: str
    fix: str
    reproduce: str
    """The command that finds this and nothing else."""
    fingerprint: str
    """The same for the same finding, even when lines above it come and go."""
    known: Known | None = None


class CheckResult(BaseModel):
    model_config = ConfigDict(frozen=True)

    code: str
    name: str
    result: Verdict
    detail: str
    is_blocking: bool
    """Whether a FAIL of it fails the audit; an ERROR always does."""
    findings: list[Finding]
    examined: int
    unit: str
    """What was counted: files, imports, added lines…"""
    duration_ms: int


class AuditReport(BaseModel):
    """One audit of one state of a project."""

    model_config = ConfigDict(frozen=True)

    phase: str
    timestamp: Timestamp
    overall: Verdict
    """PASS or FAIL."""
    checks: list[CheckResult]
    """A1 to A9, and a team's own checks that block."""
    warnings: list[CheckResult]
    project: str
    """The name of the folder."""
    branch: str | None
    head: str | None
    base: str | None
    """What the changes were counted from: a full commit id, or None for the beginning of time."""
    tree: str
    """The hash of what was audited, evidence aside."""
    claimed_files: list[str] | None
    """None when nobody made a claim."""
    changed_files: int
    duration_ms: int

    @property
    def results(self) -> list[CheckResult]:
        return [*self.checks, *self.warnings]


MAX_PATH = 4096
Line = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""What no path, revision or database can hold is refused before it gets there."""


class AuditRequest(BaseModel):
    """What somebody wants to know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    phase: Line = Field(default="unknown", min_length=1, max_length=200)
    claimed_files: list[Annotated[Line, Field(max_length=MAX_PATH)]] | None = None
    """None: nobody says which files the change is about, and the scope is not checked."""
    base: Line | None = Field(default=None, min_length=1, max_length=200)
    """Any revision; None is the last commit, so that what is not committed is the change."""
    only: list[Line] = Field(default=[], max_length=400)
    """Codes of checks; all when empty."""
    file: Line | None = Field(default=None, max_length=MAX_PATH)
    """Leave the findings about other files away."""
    ledger: bool = True
    """Append the result to the project's ledger. A part of an audit is not: nobody could tell it from a whole one."""

    @property
    def is_recorded(self) -> bool:
        return self.ledger and not self.only and self.file is None


class NewAudit(AuditRequest):
    """Audit a workspace or a folder of the server; with neither, the folder the server was started in."""

    workspace_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]{1,64}$")
    path: Line | None = Field(default=None, min_length=1, max_length=MAX_PATH)
    """Inside one of the allowed roots; one that is relative begins where the server was started."""
    evidence: bool = False
    """Run the project's tests in the sandbox first, and record what came of it."""
    summary: Line = Field(default="", max_length=10_000)
    """What the change is for: the beginning of the diff log that is recorded with the tests."""


class CheckSummary(BaseModel):
    """A check's result with its findings counted."""

    model_config = ConfigDict(frozen=True)

    code: str
    name: str
    result: Verdict
    detail: str
    findings: int
    known: int
    """Those among them that are accepted for now."""


class AuditSummary(BaseModel):
    """What a run keeps of its audit; `GET /audit/run?run_id=…` has the whole report."""

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
    """The checks that were asked for; empty when it was all of them. A PASS of some is no PASS of the project."""
    file: str | None = None
    """The one file whose findings were asked for."""
    ledger_entry: int | None = None
    """The number of its entry in the project's ledger."""
    ledger_problem: str | None = None
    """Why it should have an entry and has none. The report counts all the same."""


class AuditStarted(EventData):
    """An audit begins, or begins again after its worker died: what was said of its checks before counts no more."""

    type: ClassVar[str] = "audit.started"
    project: str
    phase: str
    base: str | None
    """As it was asked for; null is the last commit."""
    checks: list[str]


class AuditChecked(EventData):
    """A check has ended. It has at most 200 findings here; `audit.findings` brings more of them, in order."""

    type: ClassVar[str] = "audit.check"
    result: CheckResult
    findings_total: int


class AuditFound(EventData):
    """More findings of a check that has just ended."""

    type: ClassVar[str] = "audit.findings"
    code: str
    findings: list[Finding]


class AuditFinished(EventData):
    """All checks have ended, and this is what they come to."""

    type: ClassVar[str] = "audit.finished"
    summary: AuditSummary
    claimed_files: list[str] | None


class AuditRecorded(EventData):
    """The audit has its entry in the project's ledger, or has none and this is why."""

    type: ClassVar[str] = "audit.recorded"
    entry: int | None
    problem: str | None


EVENTS: tuple[type[EventData], ...] = (AuditStarted, AuditChecked, AuditFound, AuditFinished, AuditRecorded)


class AuditRoots(BaseModel):
    """Which folders of the server may be audited."""

    model_config = ConfigDict(frozen=True)

    roots: list[str]
    """Whatever is inside one of these."""
    projects: list[str]
    """The repositories that these are or that lie directly in them: at most 200, for somebody to choose from."""
    start: str | None
    """What is audited when nothing is named; null when something has to be."""
