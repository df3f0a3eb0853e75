"""From what a check found to what a person is told: the line itself, a stable name, and the command that shows it alone."""

import shlex
from collections import Counter
from functools import cached_property

from forge.audits.baseline import ACCEPTABLE, Baseline
from forge.audits.check import Check, Found
from forge.audits.claims import write_claims
from forge.audits.models import Finding, Known
from forge.audits.paths import shown
from forge.audits.secrets.masking import masked
from forge.audits.secrets.scanning import scan
from forge.audits.snapshot import MAX_BYTES, Snapshot
from forge.kernel.hashing import hash_json
from forge.kernel.text import cut
from forge.workspace.observed_trees import hash_tree

MAX_EXCERPT = 200
FINGERPRINT = 20
_ABOUT_CLAIMS = frozenset({"A1", "A2", "A3", "A5", "A7", "A8"})
_SHA1 = 40
"""Digits of an id; repositories may be made with longer ones."""


class Describer:
    """For one check of one audit: equal findings of one file are told apart by their order."""

    def __init__(self, check: Check, snapshot: Snapshot, baseline: Baseline, place: str) -> None:
        self.baseline = baseline
        self._check = check
        self._snapshot = snapshot
        self._place = place
        self._seen: Counter[str] = Counter()
        self._lines: dict[str, list[bytes]] = {}

    def __call__(self, found: Found) -> Finding:
        fingerprint = self._fingerprint(found)
        return Finding(
            check=self._check.code,
            rule=found.rule,
            severity=found.severity,
            path=None if found.path is None else shown(found.path),
            line=found.line,
            end_line=found.end_line,
            excerpt=self._excerpt(found),
            message=shown_text(found.message),
            why=found.why or self._check.why,
            fix=shown_text(found.fix),
            reproduce=self._command(found),
            fingerprint=fingerprint,
            known=self._known(found, fingerprint),
        )

    def _known(self, found: Found, fingerprint: str) -> Known | None:
        """What could not be examined cannot be accepted either."""
        if found.severity not in ACCEPTABLE:
            return None
        return self.baseline.find(self._check.code, fingerprint, self._snapshot.today)

    def _fingerprint(self, found: Found) -> str:
        about = [self._check.code, found.rule, found.path and shown(found.path), shown_text(found.subject)]
        same = hash_json(about)
        self._seen[same] += 1
        return hash_json([same, self._seen[same]])[:FINGERPRINT]

    def _excerpt(self, found: Found) -> str | None:
        if found.excerpt is not None or found.path is None or found.line is None:
            return found.excerpt
        lines = self._lines_of(found.path)
        if not 0 < found.line <= len(lines):
            return None
        line = lines[found.line - 1][: MAX_EXCERPT * 4]
        text = masked(line, scan(line)).strip()
        return shown_text(cut(text, MAX_EXCERPT))

    def _lines_of(self, path: str) -> list[bytes]:
        if path not in self._lines:
            entry = self._snapshot.tree.entries.get(path)
            is_readable = entry is not None and entry.kind.is_file and entry.size <= MAX_BYTES
            self._lines[path] = self._snapshot.tree.read(path).split(b"\n") if is_readable else []
        return self._lines[path]

    def _command(self, found: Found) -> str:
        words = ["forge", "audit", *([self._place] if self._place else ()), "--only", self._check.code]
        if found.path is not None:
            words += ["--file", found.path]
        return shown(shlex.join([*words, *self._circumstances]))

    @cached_property
    def _circumstances(self) -> list[str]:
        """What the check was told beside the files: without it, it would find something else, or skip."""
        claims, base = self._snapshot.claims, _base(self._snapshot)
        is_about_claims = self._check.code in _ABOUT_CLAIMS
        told = ["--claimed-files", write_claims(claims)] if claims is not None and is_about_claims else []
        return [*told, *(["--base", base] if base else ())]


def _base(snapshot: Snapshot) -> str | None:
    """None where it is the last commit, as it is unless told, or where there is no commit."""
    if snapshot.head is None or snapshot.base == snapshot.head:
        return None
    return snapshot.base or hash_tree((), "sha1" if len(snapshot.head) == _SHA1 else "sha256")


def shown_text(text: str) -> str:
    """Text of a check may quote names of files and code of strangers."""
    return (
        "\n".join(shown(line) for line in text.split("\n")) if "\\" not in text else _keep_backslashes(text)
    )


def _keep_backslashes(text: str) -> str:
    return "\\".join(shown_text(part) for part in text.split("\\"))
