"""Build reported findings: add the source line, a stable fingerprint and the command that reproduces the finding."""

import shlex
from collections import Counter
from functools import cached_property

from forge.audits.check import Check, Found
from forge.audits.claims import write_claims
from forge.audits.display_text import escape_path
from forge.audits.engine.baseline import ACCEPTABLE, Baseline
from forge.audits.models import Finding, Known
from forge.audits.secrets.scanner import mask_secrets, scan
from forge.audits.snapshot import MAX_BYTES, Snapshot
from forge.kernel.hashing import hash_json
from forge.kernel.text import truncate
from forge.workspace.observed.mirror_index import hash_tree

MAX_EXCERPT = 200
FINGERPRINT_LENGTH = 20
_ABOUT_CLAIMS = frozenset({"A1", "A2", "A3", "A5", "A7", "A8"})
_SHA1 = 40
"""Hex digits of a SHA-1 commit id; SHA-256 repositories have longer ids."""


class FindingBuilder:
    """Build the findings of one check. Equal findings of a file get distinct fingerprints by their order."""

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
            path=None if found.path is None else escape_path(found.path),
            line=found.line,
            end_line=found.end_line,
            excerpt=self._excerpt(found),
            message=escape_text(found.message),
            why=found.why or self._check.why,
            fix=escape_text(found.fix),
            reproduce=self._command(found),
            fingerprint=fingerprint,
            known=self._known(found, fingerprint),
        )

    def _known(self, found: Found, fingerprint: str) -> Known | None:
        """Look up the finding in the baseline. Errors cannot be accepted."""
        if found.severity not in ACCEPTABLE:
            return None
        return self.baseline.find(self._check.code, fingerprint, self._snapshot.today)

    def _fingerprint(self, found: Found) -> str:
        about = [
            self._check.code,
            found.rule,
            found.path and escape_path(found.path),
            escape_text(found.subject),
        ]
        same = hash_json(about)
        self._seen[same] += 1
        return hash_json([same, self._seen[same]])[:FINGERPRINT_LENGTH]

    def _excerpt(self, found: Found) -> str | None:
        if found.excerpt is not None or found.path is None or found.line is None:
            return found.excerpt
        lines = self._lines_of(found.path)
        if not 0 < found.line <= len(lines):
            return None
        line = lines[found.line - 1][: MAX_EXCERPT * 4]
        text = mask_secrets(line, scan(line)).strip()
        return escape_text(truncate(text, MAX_EXCERPT))

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
        return escape_path(shlex.join([*words, *self._context_options]))

    @cached_property
    def _context_options(self) -> list[str]:
        """The options that the command needs to report the same finding."""
        claims, base = self._snapshot.claims, _base(self._snapshot)
        is_about_claims = self._check.code in _ABOUT_CLAIMS
        claimed = ["--claimed-files", write_claims(claims)] if claims is not None and is_about_claims else []
        return [*claimed, *(["--base", base] if base else ())]


def _base(snapshot: Snapshot) -> str | None:
    """Return the value of --base, or None if it is the default."""
    if snapshot.head is None or snapshot.base == snapshot.head:
        return None
    return snapshot.base or hash_tree((), "sha1" if len(snapshot.head) == _SHA1 else "sha256")


def escape_text(text: str) -> str:
    """Escape control characters: a check's text may quote untrusted file names and code."""
    return (
        "\n".join(escape_path(line) for line in text.split("\n"))
        if "\\" not in text
        else _keep_backslashes(text)
    )


def _keep_backslashes(text: str) -> str:
    return "\\".join(escape_text(part) for part in text.split("\\"))
