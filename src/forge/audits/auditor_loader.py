"""Load the server's auditor in the background and self-test its checks before the first audit."""

import asyncio
import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forge.audits.check import Check, Examination, error_examination
from forge.audits.engine.registry import load_checks, select_checks
from forge.audits.models import AuditRequest
from forge.audits.snapshot import Snapshot

if TYPE_CHECKING:
    from forge.audits.auditor import Auditor
    from forge.audits.engine.self_test import Proof

log = logging.getLogger(__name__)

STARTUP_DELAY_S = 5.0


@dataclass(frozen=True)
class LoadedAuditor:
    auditor: "Auditor"
    checks: tuple[Check, ...]

    def codes(self, request: AuditRequest) -> list[str]:
        """Return the codes of the requested checks. Raises Invalid for an unknown code."""
        return [check.code for check in select_checks(self.checks, request.only)]


class AuditorLoader:
    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._making: asyncio.Task[LoadedAuditor] | None = None
        self.proofs: list[Proof] | None = None
        """The results of the self-tests; None until they have run."""

    async def prepare(self) -> None:
        """Load the auditor after a delay, when the server has resumed its runs."""
        await asyncio.sleep(STARTUP_DELAY_S)
        await self.get()

    async def get(self) -> LoadedAuditor:
        """Return the auditor; the first call loads it, concurrent calls wait for the same one."""
        if self._making is None:
            self._making = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._making)

    def _make(self) -> LoadedAuditor:
        # Imported here because the parsers are slow to load and would delay the server's start.
        from forge.audits.auditor import Auditor
        from forge.audits.engine.self_test import run_self_tests

        checks = load_checks()
        self.proofs = run_self_tests(checks)
        for proof in self.proofs:
            if not proof.is_sound:
                log.warning("check %s failed its self-test: %s", proof.code, "; ".join(proof.problems))
        sound = tuple(replace_unsound_check(*pair) for pair in zip(checks, self.proofs, strict=True))
        return LoadedAuditor(Auditor(self._data_dir, sound), sound)


def replace_unsound_check(check: Check, proof: "Proof") -> Check:
    """Replace a check that failed its self-test by one that always reports an ERROR."""
    if proof.is_sound:
        return check
    message = f"{check.code} fails its own examples: {proof.problems[0][:300]}"
    examination = error_examination(
        "unsound-check", message, "Fix or uninstall it; forge audit --self-test shows the details."
    )

    def examine(_: Snapshot) -> Examination:
        return examination

    return replace(check, examine=examine)
