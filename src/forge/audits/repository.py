"""Build a snapshot from a git repository."""

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TypeVar, overload

from forge.audits.claims import resolve_claims
from forge.audits.display_text import escape_path
from forge.audits.project import (
    CONFIG,
    EVIDENCE_FILES,
    ForgeJson,
    Governance,
    Project,
    find_governance,
    read_project,
)
from forge.audits.snapshot import (
    MAX_BYTES,
    AddedLine,
    Analyses,
    Change,
    ChangeKind,
    Claims,
    Entry,
    Kind,
    Snapshot,
    Trust,
)
from forge.errors import Invalid
from forge.workspace.filesystem.beneath import READ, Beneath
from forge.workspace.filesystem.paths import ProtectedNames
from forge.workspace.observed.git_process import name_of
from forge.workspace.observed.observed_repository import ObservedRepository, observe
from forge.workspace.observed.tree_changes import NewLine, ObservedChange

T = TypeVar("T")

MAX_EVIDENCE = 64 << 20
_GOVERNED = ("Forge/", "Contracts/")
_KINDS = {
    "100644": Kind.FILE,
    "100755": Kind.EXECUTABLE,
    "120000": Kind.LINK,
    "160000": Kind.SUBMODULE,
}
_CHANGES = {
    "A": ChangeKind.ADDED,
    "D": ChangeKind.DELETED,
    "M": ChangeKind.MODIFIED,
    "R": ChangeKind.RENAMED,
    "T": ChangeKind.RETYPED,
}


class EvidenceRefused(Invalid):
    """An evidence file that is not a regular file. Treating it as missing would hide the problem."""


@contextmanager
def open_snapshot(  # noqa: PLR0913
    path: Path,
    *,
    trust: Trust,
    analyses: Analyses,
    today: date,
    base: str | None = None,
    claims: Claims | None = None,
    phase: str = "unknown",
    git_dir: Path | None = None,
) -> Generator[Snapshot]:
    """Open the snapshot of the project that contains a path.

    Changes are counted from `base` or else from HEAD; before the first commit everything is new. `git_dir` is the git
    directory, if it is outside the project."""
    with observe(path, git_dir=git_dir) as observed:
        start = observed.head if base is None else observed.resolve(base)
        changes = observed.changes(start or observed.empty_tree)
        tree = RepositoryTree(observed)
        governance = _find_governance(observed.root, tree.entries)
        evidence = {governance.path("evidence", name) for name in EVIDENCE_FILES}
        yield Snapshot(
            name=escape_path(observed.root.name) or "/",
            tree=tree,
            tree_id=observed.tree_without(evidence & tree.entries.keys()),
            head=observed.head,
            branch=observed.branch,
            base=None if start == observed.empty_tree else start,
            changes=[_change(each) for each in changes],
            added_lines=_Lazy(
                lambda: _added_lines(observed.new_lines(start or observed.empty_tree, changes))
            ),
            ignored=_Lazy(lambda: observed.ignored),
            unmerged=[name_of(path) for path in observed.unmerged],
            commits=observed.history,
            project=_read_project(tree),
            governance=governance,
            evidence=_read_evidence(observed.root, governance),
            trust=trust,
            phase=phase,
            claims=claims
            and resolve_claims(claims, {name for one in changes for name in one.paths}, tree.entries),
            today=today,
            analyses=analyses,
        )


class RepositoryTree:
    def __init__(self, observed: ObservedRepository) -> None:
        self._observed = observed

    @property
    def entries(self) -> Mapping[str, Entry]:
        return self._entries

    @cached_property
    def _entries(self) -> Mapping[str, Entry]:
        return {
            each.path: Entry(each.path, _KINDS.get(each.mode, Kind.FILE), each.blob, each.size)
            for each in self._observed.entries
        }

    def read(self, path: str) -> bytes:
        entry = self.entries[path]
        if entry.kind is Kind.SUBMODULE:
            raise KeyError(path)
        return self._observed.read(entry.blob)


class _Lazy(Sequence[T]):
    """A sequence computed on first use, as most checks do not need it."""

    def __init__(self, make: Callable[[], Iterable[T]]) -> None:
        self._make = make

    @cached_property
    def _items(self) -> list[T]:
        return list(self._make())

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._items[index]


def _added_lines(lines: Iterable[NewLine]) -> Iterator[AddedLine]:
    return (AddedLine(path, line, text) for path, line, text in lines)


def _change(each: ObservedChange) -> Change:
    kind = _CHANGES[each.status]
    if kind is ChangeKind.MODIFIED and not each.has_other_content:
        kind = ChangeKind.RETYPED
    return Change(
        kind,
        each.path,
        old_path=each.old_path,
        added=each.added,
        removed=each.removed,
        is_binary=each.is_binary,
        is_blank_only=each.is_blank_only,
    )


def _find_governance(root: Path, entries: Mapping[str, Entry]) -> Governance:
    """Find the governance folder; an evidence folder counts even if git ignores it."""
    governance = find_governance({path for path in entries if path.startswith(_GOVERNED)})
    if governance.exists or not _is_folder(root / governance.evidence):
        return governance
    return Governance(governance.folder, exists=True)


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _read_project(tree: RepositoryTree) -> Project:
    entry = tree.entries.get(CONFIG)
    if entry is None:
        return read_project(None)
    if not entry.kind.is_file or entry.size > MAX_BYTES:
        what = f"larger than {MAX_BYTES:,} bytes" if entry.kind.is_file else f"a {entry.kind}, not a file"
        return Project(ForgeJson(), is_configured=True, problem=f"{CONFIG} is {what}")
    return read_project(tree.read(CONFIG))


def _read_evidence(root: Path, governance: Governance) -> dict[str, bytes]:
    beneath = Beneath(root, ProtectedNames())
    found: dict[str, bytes] = {}
    for name in EVIDENCE_FILES:
        path = governance.path("evidence", name)
        try:
            descriptor = beneath.open(tuple(path.split("/")), READ)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise EvidenceRefused(
                f"{path} cannot be read as evidence: {error.strerror}.",
                hint="Evidence must be a regular file in a regular folder; links are not followed.",
            ) from error
        found[name] = _read_regular(descriptor, path)
    return found


def _read_regular(descriptor: int, path: str) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise EvidenceRefused(f"{path} is not a regular file.", hint="Remove it and audit again.")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MAX_EVIDENCE + 1)
    if len(data) > MAX_EVIDENCE:
        raise EvidenceRefused(
            f"{path} is larger than {MAX_EVIDENCE >> 20} MB.",
            hint="Move the file elsewhere and start a new one.",
        )
    return data
