"""Findings a project has accepted for now: they are shown and do not block, until their day comes.

Only what is true of the code can be accepted. What is about this one change (its scope, its evidence, its ledger) has
no baseline: accepting it would be switching the check off.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from pydantic import BaseModel, ConfigDict, ValidationError

from forge.audits.models import Finding, Known, Severity
from forge.audits.paths import shown
from forge.audits.project import Governance
from forge.audits.snapshot import MAX_BYTES, Snapshot
from forge.kernel.misfit import first_misfit

NAME = "audit_baseline.json"
ACCEPTABLE = (Severity.FAIL, Severity.WARN)
NEVER = frozenset({"A1", "A2", "A3", "A5", "A6", "A7", "A8", "W2"})


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
    """Why it cannot be read. What it might have accepted is unknown then, and that is an ERROR."""

    def find(self, check: str, fingerprint: str, today: date) -> Known | None:
        found = self.accepted.get((check, fingerprint))
        if found is None or check in NEVER or (found.until is not None and found.until < today):
            return None
        return Known(since=found.since, until=found.until, reason=shown(found.reason))


def baseline_path(governance: Governance) -> str:
    return governance.path("Contracts", NAME)


def read_baseline(snapshot: Snapshot) -> Baseline:
    path = baseline_path(snapshot.governance)
    entry = snapshot.tree.entries.get(path)
    if entry is None:
        return Baseline({})
    if not entry.kind.is_file or entry.size > MAX_BYTES:
        return Baseline({}, f"{path} is not a file of a reasonable size")
    try:
        file = BaselineFile.model_validate_json(snapshot.tree.read(path))
    except ValidationError as error:
        return Baseline({}, f"{path} cannot be read: {shown(str(first_misfit(error)))}")
    return Baseline({(one.check, one.fingerprint): one for one in file.findings})


def freeze(
    findings: Iterable[Finding],
    *,
    since: date,
    until: date | None,
    reason: str,
    others: Iterable[Accepted] = (),
) -> BaselineFile:
    """Accept these; one that was accepted before keeps its first day and its reason. `others` stay as they are."""
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
        if finding.check not in NEVER and finding.severity in ACCEPTABLE
    ]
    in_order = sorted([*others, *new], key=lambda one: (one.check, one.path or "", one.fingerprint))
    return BaselineFile(findings=in_order)
