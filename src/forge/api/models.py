"""Models of the server's status."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel

from forge.runs.models import Worker
from forge.sandbox.models import SandboxReport

if TYPE_CHECKING:
    from forge.audits.engine.self_test import Proof


class Database(BaseModel):
    kind: str
    size_bytes: int


class AuditChecks(BaseModel):
    """Self-test results of the audit checks."""

    sound: int
    unsound: dict[str, list[str]]
    """Problems by check code. Audits report ERROR for these checks."""

    @classmethod
    def of(cls, proofs: "Sequence[Proof]") -> "AuditChecks":
        unsound = {proof.code: proof.problems for proof in proofs if not proof.is_sound}
        return cls(sound=len(proofs) - len(unsound), unsound=unsound)


class Status(BaseModel):
    version: str
    started_at: datetime
    uptime_s: int
    time: datetime
    data_dir: str
    database: Database
    workers: list[Worker]
    executing: int
    """Number of runs this process is executing."""
    runs: dict[str, int]
    sandbox: SandboxReport | None
    """The isolation of commands on this machine; null until the sandbox was tested, before the first command at the latest."""
    audit_checks: AuditChecks | None
    """Null until the self-test of the checks has finished, shortly after the start."""
