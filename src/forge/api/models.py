"""What the server says of itself."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel

from forge.runs.models import Worker
from forge.sandbox.models import SandboxReport

if TYPE_CHECKING:
    from forge.audits.selftest import Proof


class Database(BaseModel):
    kind: str
    size_bytes: int


class AuditChecks(BaseModel):
    """How the checks of audits did on their own examples."""

    sound: int
    unsound: dict[str, list[str]]
    """What is wrong, by the code of the check. Audits say ERROR for each of these."""

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
    """Runs that this process executes at the moment."""
    runs: dict[str, int]
    sandbox: SandboxReport | None
    """How well commands are locked in here; null until it was tried out, which is before the first command."""
    audit_checks: AuditChecks | None
    """Null until they have proven themselves, a moment after the start."""
