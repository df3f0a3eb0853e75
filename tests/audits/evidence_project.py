"""A project with runnable tests in a real repository."""

import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from forge.audits.check import Check, Examination
from forge.audits.checks.w3_routes import CHECK as W3
from forge.audits.engine.check_runner import verdict_of
from forge.audits.evidence.collector import CollectedEvidence, EvidenceRequest, collect
from forge.audits.evidence.signing_keys import SigningKeys
from forge.audits.memory import UncachedAnalyses
from forge.audits.repository import open_snapshot
from forge.audits.snapshot import Snapshot
from forge.sandbox.sandboxes import Sandboxes

GOOD = {
    "app.py": "def double(x):\n    return 2 * x\n",
    "test_app.py": "from app import double\n\n\ndef test_double():\n    assert double(2) == 4\n",
    ".gitignore": ".venv\n",
    "forge.json": '{"backend": {"language": "python", "entry_module": "app"}}',
}


@dataclass
class Project:
    root: Path
    keys: SigningKeys
    sandboxes: Sandboxes
    levels: list[str] = field(default_factory=list)

    def git(self, *words: str) -> str:
        named = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *named, *words], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", "A step")
        return self.git("rev-parse", "HEAD")

    def open(self, **given: Any) -> AbstractContextManager[Snapshot]:
        trust = self.keys.trust(self.root)
        return open_snapshot(
            self.root, trust=trust, analyses=UncachedAnalyses(), today=date(2026, 1, 1), **given
        )

    async def prove(self, summary: str = "Double numbers.", **given: Any) -> CollectedEvidence:
        return await collect(
            self.open,
            self.root,
            self.keys,
            self.sandboxes,
            EvidenceRequest(summary=summary, contracts=[W3], **given),
            on_level=lambda level: self.levels.append(f"{level.name} {level.status}"),
        )

    def judge(self, check: Check, **given: Any) -> tuple[str, list[str]]:
        """Return the verdict and the rules of the findings."""
        found = self.examine(check, **given)
        return verdict_of(check, found).value, sorted({one.rule for one in found.found})

    def examine(self, check: Check, **given: Any) -> Examination:
        with self.open(**given) as snapshot:
            return check.examine(snapshot)


MakeProject = Callable[[dict[str, str]], Project]
