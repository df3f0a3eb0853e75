"""`known_violations` of boundaries.json: what is wrong and was accepted, for a while or until somebody repairs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from forge.audits.boundaries.config import KnownViolation
from forge.audits.boundaries.layering import plain
from forge.audits.boundaries.rules import Violation
from forge.workspace.pattern import Glob


@dataclass
class KnownOnes:
    """ValueError when a `file` is a glob that cannot be read."""

    entries: Sequence[KnownViolation]
    today: date

    def __post_init__(self) -> None:
        self._globs = [Glob(entry.file.removeprefix("./")) for entry in self.entries]
        self._met: set[int] = set()

    def find(self, violation: Violation) -> KnownViolation | None:
        """The entry that accepts it; of several, one that has not expired."""
        found = [i for i, entry in enumerate(self.entries) if self._is_about(i, entry, violation)]
        self._met.update(found)
        entries = [self.entries[i] for i in found]
        return next((e for e in entries if not self.is_over(e)), entries[0] if entries else None)

    def _is_about(self, index: int, entry: KnownViolation, violation: Violation) -> bool:
        if entry.layer != violation.layer or entry.pattern not in (violation.text, violation.what):
            return False
        return entry.file == violation.path or self._globs[index].matches(plain(violation.path))

    def is_over(self, entry: KnownViolation) -> bool:
        return entry.expires is not None and entry.expires < self.today

    @property
    def stale(self) -> list[int]:
        """Those that are about nothing any more."""
        return [index for index in range(len(self.entries)) if index not in self._met]
