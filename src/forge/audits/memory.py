"""Build a snapshot from strings, for fixtures and tests, without disk or git."""

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

from forge.audits.claims import read_claims, resolve_claims
from forge.audits.display_text import escape_path
from forge.audits.project import CONFIG, EVIDENCE_FILES, find_governance, read_project
from forge.audits.snapshot import (
    AddedLine,
    Analyzer,
    Change,
    ChangeKind,
    Claims,
    Entry,
    Kind,
    Snapshot,
    Tree,
    Trust,
)
from forge.kernel.hashing import hash_bytes, hash_json

T = TypeVar("T")
Files = Mapping[str, str | bytes]
TODAY = date(2026, 1, 1)
HEAD = "c" * 40


@dataclass(frozen=True)
class MemoryTree:
    contents: Mapping[str, bytes]

    @property
    def entries(self) -> Mapping[str, Entry]:
        return {p: Entry(p, Kind.FILE, hash_bytes(data), len(data)) for p, data in self.contents.items()}

    def read(self, path: str) -> bytes:
        return self.contents[path]


@dataclass(frozen=True)
class MemoryCommits:
    """A history in memory. `log` lists HEAD and its ancestors, newest first."""

    log: Sequence[str] = (HEAD,)
    files: Mapping[tuple[str, str], bytes] = field(default_factory=dict[tuple[str, str], bytes])
    changes: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """Changed paths by commit; by default a commit changes `app.py`."""

    def find(self, commit: str) -> str | None:
        return next((known for known in self.log if known.startswith(commit)), None)

    def since(self, commit: str) -> Sequence[str] | None:
        return self.log[: self.log.index(commit)] if commit in self.log else None

    def changed(self, commits: Sequence[str]) -> Mapping[str, Collection[str]]:
        return {commit: self.changes.get(commit, ("app.py",)) for commit in commits}

    def tree_without(self, commit: str, paths: Collection[str]) -> str:
        return tree_id({p: data for (c, p), data in self.files.items() if c == commit and p not in paths})

    def read(self, commit: str, path: str) -> bytes | None:
        return self.files.get((commit, path))


class UncachedAnalyses:
    """Runs analyzers in this process, without a cache."""

    def analyze(self, analyzer: Analyzer[T], entries: Iterable[Entry], tree: Tree) -> Mapping[str, T]:
        return {entry.path: analyzer(entry.suffix, tree.read(entry.path)) for entry in entries}


def snapshot_of(
    files: Files,
    *,
    base: Files | None = None,
    claims: Iterable[str] | Claims | None = None,
    commits: MemoryCommits | None = None,
    trust: Trust | None = None,
    unmerged: Sequence[str] = (),
    phase: str = "Phase 1",
) -> Snapshot:
    """Build a snapshot. `base` has the previous files; the differences are the changes. Only exact renames are detected."""
    now, before = _contents(files), _contents(base or {})
    governance = find_governance(set(now))
    folder = governance.evidence
    evidence = {name: now[f"{folder}/{name}"] for name in EVIDENCE_FILES if f"{folder}/{name}" in now}
    return Snapshot(
        name="example",
        tree=MemoryTree(now),
        tree_id=tree_id({path: data for path, data in now.items() if not governance.is_evidence(path)}),
        head=HEAD if base is not None else None,
        branch="main",
        base=HEAD if base is not None else None,
        changes=_changes(before, now),
        added_lines=[line for path in sorted(now) for line in _added(path, before.get(path, b""), now[path])],
        unmerged=unmerged,
        commits=commits or MemoryCommits(),
        project=read_project(now.get(CONFIG)),
        governance=governance,
        evidence=evidence,
        trust=trust or Trust(),
        phase=phase,
        claims=resolve_claims(read_claims(claims), before.keys() | now.keys())
        if claims is not None and not isinstance(claims, Claims)
        else claims,
        today=TODAY,
        analyses=UncachedAnalyses(),
    )


def tree_id(contents: Mapping[str, bytes]) -> str:
    return hash_json({escape_path(path): hash_bytes(data) for path, data in contents.items()})


def _contents(files: Files) -> dict[str, bytes]:
    return {p: t.encode("utf-8", "surrogateescape") if isinstance(t, str) else t for p, t in files.items()}


def _changes(before: Mapping[str, bytes], now: Mapping[str, bytes]) -> list[Change]:
    gone = {path: data for path, data in before.items() if path not in now}
    changes: list[Change] = []
    for path in sorted(now):
        if path in before:
            if before[path] != now[path]:
                changes.append(_change(ChangeKind.MODIFIED, path, before[path], now[path]))
            continue
        old = next((old for old, data in gone.items() if data == now[path] and data), None)
        if old is None:
            changes.append(_change(ChangeKind.ADDED, path, b"", now[path]))
        else:
            del gone[old]
            changes.append(Change(ChangeKind.RENAMED, path, old_path=old))
    return changes + [_change(ChangeKind.DELETED, path, data, b"") for path, data in gone.items()]


def _change(kind: ChangeKind, path: str, old: bytes, new: bytes) -> Change:
    added = len(_added(path, old, new))
    removed = len(_added(path, new, old))
    blank_only = kind is ChangeKind.MODIFIED and b"".join(old.split()) == b"".join(new.split())
    return Change(kind, path, added=added, removed=removed, is_binary=b"\0" in new, is_blank_only=blank_only)


def _added(path: str, old: bytes, new: bytes) -> list[AddedLine]:
    if b"\0" in new:
        return []
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [
        AddedLine(path, number + 1, after[number])
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag in ("insert", "replace")
        for number in range(start, end)
    ]
