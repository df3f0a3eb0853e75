"""The auditor of a server: made in the background of its start, and every check proven before the first audit."""

import asyncio
import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forge.audits.check import Check, Examination, unexamined
from forge.audits.models import AuditRequest
from forge.audits.registry import choose, load_checks
from forge.audits.snapshot import Snapshot

if TYPE_CHECKING:
    from forge.audits.auditor import Auditor
    from forge.audits.selftest import Proof

log = logging.getLogger(__name__)

SETTLE_S = 5.0


@dataclass(frozen=True)
class Proven:
    auditor: "Auditor"
    checks: tuple[Check, ...]

    def codes(self, request: AuditRequest) -> list[str]:
        """Of the checks that are asked for; Invalid when there is no such check."""
        return [check.code for check in choose(self.checks, request.only)]


class ProvenAuditor:
    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._making: asyncio.Task[Proven] | None = None
        self.proofs: list[Proof] | None = None
        """None until the checks are proven, a moment after the start."""

    async def prepare(self) -> None:
        """Not in the first moments of a start, when runs are taken up again and people come back."""
        await asyncio.sleep(SETTLE_S)
        await self.get()

    async def get(self) -> Proven:
        """Whoever comes first makes it; all wait for the same one."""
        if self._making is None:
            self._making = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._making)

    def _make(self) -> Proven:
        # With its parsers and rules: the server's start does not wait for them.
        from forge.audits.auditor import Auditor
        from forge.audits.selftest import prove

        checks = load_checks()
        self.proofs = prove(checks)
        for proof in self.proofs:
            if not proof.is_sound:
                log.warning("the check %s is unsound: %s", proof.code, "; ".join(proof.problems))
        sound = tuple(doubt(*pair) for pair in zip(checks, self.proofs, strict=True))
        return Proven(Auditor(self._data_dir, sound), sound)


def doubt(check: Check, proof: "Proof") -> Check:
    """A check that fails its own examples says nothing of a project, but that."""
    if proof.is_sound:
        return check
    message = f"{check.code} fails its own examples: {proof.problems[0][:300]}"
    told = unexamined("unsound-check", message, "Repair or uninstall it: forge audit --self-test tells more.")

    def examine(_: Snapshot) -> Examination:
        return told

    return replace(check, examine=examine)
