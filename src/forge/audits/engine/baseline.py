"""Read and create the baseline: findings that a project accepts, optionally until an expiry date.

Only findings about code can be accepted. Findings about one change (its scope, evidence or ledger) cannot: accepting
them would switch the check off.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from pydantic import BaseModel, ConfigDict, ValidationError

from forge.audits.display_text import escape_path
from forge.audits.models import Finding, Known, Severity
from forge.audits.project import Governance
from forge.audits.snapshot import MAX_BYTES, Snapshot
from forge.kernel.validation import first_problem

NAME = "audit_baseline.json"
ACCEPTABLE = (Severity.FAIL, Severity.WARN)
NEVER_ACCEPTED = frozenset({"A1", "A2", "A3", "A5", "A6", "A7", "A8", "W2"})


class Accepted(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    fingerprint: str
    check: str
    rule: str
    path: str | None
    message: str
    since: date
    until: date | None
    reason: str


class BaselineFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str = "Findings accepted for now. Written by `forge audit baseline`."
    findings: list[Accepted]


@dataclass(frozen=True, slots=True)
class Baseline:
    accepted: Mapping[tuple[str, str], Accepted]
    problem: str | None = None
    """Why it cannot be read. Checks that use it are an ERROR then, as the accepted findings are unknown."""

    def find(self, check: str, fingerprint: str, today: date) -> Known | None:
        found = self.accepted.get((check, fingerprint))
        if found is None or check in NEVER_ACCEPTED or (found.until is not None and found.until < today):
            return None
        return Known(since=found.since, until=found.until, reason=escape_path(found.reason))


def baseline_path(governance: Governance) -> str:
    return governance.path("Contracts", NAME)


def read_baseline(snapshot: Snapshot) -> Baseline:
    path = baseline_path(snapshot.governance)
    entry = snapshot.tree.entries.get(path)
    if entry is None:
        return Baseline({})
    if not entry.kind.is_file or entry.size > MAX_BYTES:
        return Baseline({}, f"{path} is not a regular file or is too large")
    try:
        file = BaselineFile.model_validate_json(snapshot.tree.read(path))
    except ValidationError as error:
        return Baseline({}, f"{path} cannot be read: {escape_path(str(first_problem(error)))}")
    return Baseline({(one.check, one.fingerprint): one for one in file.findings})


def create_baseline(
    findings: Iterable[Finding],
    *,
    since: date,
    until: date | None,
    reason: str,
    others: Iterable[Accepted] = (),
) -> BaselineFile:
    """Accept findings. Those accepted before keep their date and reason; `others` are kept unchanged."""
    new = [
        Accepted(
            fingerprint=finding.fingerprint,
            check=finding.check,
            rule=finding.rule,
            path=finding.path,
            message=finding.message,
            since=finding.known.since if finding.known else since,
            until=until,
            reason=finding.known.reason if finding.known else reason,
        )
        for finding in findings
        if finding.check not in NEVER_ACCEPTED and finding.severity in ACCEPTABLE
    ]
    in_order = sorted([*others, *new], key=lambda one: (one.check, one.path or "", one.fingerprint))
    return BaselineFile(findings=in_order)
