"""A2: keep changes small: no unplanned renames, no whitespace churn, no more lines than the project allows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.claims import RENAME_SEPARATOR, write_claim
from forge.audits.display_text import escape_path
from forge.audits.engine.baseline import baseline_path
from forge.audits.memory import HEAD, MemoryCommits, snapshot_of
from forge.audits.models import Severity
from forge.audits.project import CONFIG, AuditSettings, Governance, find_governance
from forge.audits.snapshot import MAX_BYTES, Change, ChangeKind, Entry, Kind, Snapshot, Tree

_WHY = (
    "Renames and reformatting hide the few lines that matter, break the history of a file and cause merge conflicts "
    "with other people's work."
)


_DOCS = """\
Checks everything that differs from the base: committed, staged, unstaged and untracked. Evidence files are left out.

| rule | severity | means |
|---|---|---|
| `rename` | fail | git detects a rename (the same content, or at least half of it) |
| `too-large` | fail | more lines were added and removed than `audit.most_changed_lines` in `forge.json` allows |
| `blank-only` | warn | only whitespace and blank lines differ |
| `line-ends` | warn | only the line endings differ: every line is touched, but no text changed |
| `policy-removed` | fail | `boundaries.json`, `physics.yaml`, `forge.json` or the baseline was deleted without a claim; or it no longer applies because the contracts folder moved |
| `policy-changed` | warn | one of these files changed together with the code it applies to; the contracts folder moved; `forge.json` or the baseline is new. A note if a new `forge.json` has no `audit` settings |
| `other-repository` | warn | the changed path is a nested repository, whose contents are not checked; a note if `.gitmodules` lists it |
| `mode-only` | note | only the executable bit changed |
| `broken-config` | error | `forge.json` cannot be read, so the allowed size is unknown |

- **A planned rename** is claimed as a pair: `--claimed-files "old.py=>new.py"`. Only that exact pair is allowed.
- The *word* rename has no meaning: a new file called `rename_user.py` is a new file.
- Empty files are never treated as renames of each other.
- Indentation counts as whitespace even where it is significant, as in Python; review such a warning.
"""


def examine(snapshot: Snapshot) -> Examination:
    changes = [
        change for change in snapshot.changes if not all(map(snapshot.governance.is_evidence, change.paths))
    ]
    if not changes:
        return skip("nothing changed")
    found = [
        *_renames(snapshot, changes),
        *_too_large(snapshot, changes),
        *policy_found(snapshot, changes),
        *_repositories(snapshot, changes),
        *(one for change in changes for one in _churn(snapshot, change)),
    ]
    return examined(found, len(changes), "changed files")


def _renames(snapshot: Snapshot, changes: Sequence[Change]) -> Iterator[Found]:
    planned: Mapping[str, str] = snapshot.claims.renames if snapshot.claims else {}
    for change in changes:
        if change.old_path is None or planned.get(change.old_path) == change.path:
            continue
        old, new = escape_path(change.old_path), escape_path(change.path)
        yield Found(
            rule="rename",
            severity=Severity.FAIL,
            message=f"{old} was renamed to {new} without a planned rename.",
            fix=f'Restore the old name, or claim the rename: --claimed-files "{_pair(change.old_path, change.path)}".',
            path=change.path,
            subject=change.old_path,
        )


def _pair(old: str, new: str) -> str:
    return f"{write_claim(old)}{RENAME_SEPARATOR}{write_claim(new)}"


def _too_large(snapshot: Snapshot, changes: Sequence[Change]) -> Iterator[Found]:
    if snapshot.project.problem is not None:
        yield Found(
            rule="broken-config",
            severity=Severity.ERROR,
            message=f"{snapshot.project.problem}; the allowed size of a change is unknown.",
            fix=f"Fix {CONFIG}.",
            path=CONFIG,
        )
        return
    most = snapshot.project.config.audit.most_changed_lines
    lines = sum(change.added + change.removed for change in changes)
    if most is not None and lines > most:
        largest = max(changes, key=lambda change: change.added + change.removed)
        yield Found(
            rule="too-large",
            severity=Severity.FAIL,
            message=f"{lines:,} lines were added or removed, but only {most:,} are allowed; most are in {escape_path(largest.path)}.",
            fix=f"Split the change, or raise audit.most_changed_lines in {CONFIG}.",
            subject="most_changed_lines",
        )


def _repositories(snapshot: Snapshot, changes: Sequence[Change]) -> Iterator[Found]:
    """Report changed submodules and nested repositories: checks do not see the code inside them."""
    entries = snapshot.tree.entries
    paths = [p for change in changes if (p := change.path) in entries and entries[p].kind is Kind.SUBMODULE]
    named = _submodules(snapshot) if paths else frozenset[str]()
    for path in paths:
        yield Found(
            rule="other-repository",
            severity=Severity.NOTE if path in named else Severity.WARN,
            message=f"{escape_path(path)} is a nested repository: its contents are not examined.",
            fix="Audit it separately, add it to .gitmodules as a submodule, or turn it into regular files.",
            path=path,
            subject=path,
        )


def _submodules(snapshot: Snapshot) -> frozenset[str]:
    entry = snapshot.tree.entries.get(".gitmodules")
    if entry is None or not entry.kind.is_file or entry.size > MAX_BYTES:
        return frozenset()
    lines = snapshot.tree.read(entry.path).decode("utf-8", "surrogateescape").splitlines()
    pairs = (line.partition("=") for line in lines)
    return frozenset(value.strip() for key, _, value in pairs if key.strip().lower() == "path")


def _churn(snapshot: Snapshot, change: Change) -> Iterator[Found]:
    if change.is_blank_only:
        yield _line_ends(change) if _differs_by_line_ends(snapshot, change) else _blanks(change)
    elif change.kind is ChangeKind.RETYPED and _has_same_content(snapshot, change):
        yield Found(
            rule="mode-only",
            severity=Severity.NOTE,
            message=f"{escape_path(change.path)}: only the file mode changed.",
            fix="Nothing if this is intended; otherwise restore the mode with chmod.",
            path=change.path,
            subject=change.path,
        )


def _line_ends(change: Change) -> Found:
    return Found(
        rule="line-ends",
        severity=Severity.WARN,
        message=f"{escape_path(change.path)}: only line endings changed, in {max(change.added, change.removed):,} lines.",
        fix=f"Revert it (`git checkout -- FILE`) and add `{escape_path(change.path)} text=auto` to .gitattributes.",
        path=change.path,
        subject=change.path,
    )


def _blanks(change: Change) -> Found:
    return Found(
        rule="blank-only",
        severity=Severity.WARN,
        message=f"{escape_path(change.path)}: only whitespace changed.",
        fix="Revert it, or make it a separate change.",
        path=change.path,
        subject=change.path,
    )


def _differs_by_line_ends(snapshot: Snapshot, change: Change) -> bool:
    if snapshot.base is None:
        return False
    before = snapshot.commits.read(snapshot.base, change.old_path or change.path)
    return before is not None and _unified(before) == _unified(snapshot.tree.read(change.path))


def _unified(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _has_same_content(snapshot: Snapshot, change: Change) -> bool:
    """Return whether a regular file kept its content. A file that became a link did not."""
    entry = snapshot.tree.entries.get(change.path)
    return entry is not None and entry.kind.is_file and not change.added and not change.removed


def policy_found(snapshot: Snapshot, changes: Sequence[Change]) -> Iterator[Found]:
    """Report changed and removed policy files, including those replaced by a different contracts folder."""
    if snapshot.base is None:
        return
    before = _governance_before(snapshot)
    policy = {*_policy(before), *_policy(snapshot.governance)}
    for change in changes:
        for path in sorted(policy & set(change.paths)):
            found = _of_change(snapshot, change, path, is_moved=change.path in policy - {path})
            if found is not None:
                yield found
    if before.exists and before.folder != snapshot.governance.folder:
        yield from _of_folder(snapshot, before)


def _policy(governance: Governance) -> tuple[str, ...]:
    return (CONFIG, governance.boundaries, governance.physics, baseline_path(governance))


def _governance_before(snapshot: Snapshot) -> Governance:
    new = {c.path for c in snapshot.changes if c.kind in (ChangeKind.ADDED, ChangeKind.RENAMED)}
    gone = {c.path for c in snapshot.changes if c.kind is ChangeKind.DELETED}
    renamed = {c.old_path for c in snapshot.changes if c.old_path is not None}
    return find_governance((snapshot.tree.entries.keys() - new) | gone | renamed)


def _of_change(snapshot: Snapshot, change: Change, path: str, *, is_moved: bool) -> Found | None:
    if path not in snapshot.tree.entries:
        is_claimed = snapshot.claims is not None and path in snapshot.claims.files
        severity = Severity.WARN if is_claimed else Severity.FAIL
        what = "was removed: what it forbade is now allowed"
        return None if is_moved else _found("policy-removed", severity, path, what)
    if change.kind is not ChangeKind.ADDED:
        return _found("policy-changed", Severity.WARN, path, "changed together with the code it applies to")
    return _of_new(snapshot, path)


def _of_new(snapshot: Snapshot, path: str) -> Found | None:
    """Report a new forge.json or baseline, which can relax the rules; new contracts can only add rules.

    A new forge.json without audit settings is only a note: every project starts with one."""
    if path == CONFIG and snapshot.project.problem is None:
        says_something = snapshot.project.config.audit != AuditSettings()
        severity = Severity.WARN if says_something else Severity.NOTE
        return _found("policy-changed", severity, path, "is new, and already applies to this change")
    if path == baseline_path(snapshot.governance):
        what = "is new, and may accept findings of this change"
        return _found("policy-changed", Severity.WARN, path, what)
    return None


def _of_folder(snapshot: Snapshot, before: Governance) -> Iterator[Found]:
    """Report a moved contracts folder: the rules in the old one no longer apply, although nothing was deleted."""
    now = snapshot.governance.path("Contracts")
    what = f"now holds the rules, instead of {before.path('Contracts')}"
    yield replace(_found("policy-changed", Severity.WARN, now, what), path=None)
    fix = f"Keep all rules in one folder: move this file to {now}, or remove {now}."
    for path in sorted({*_policy(before)} - {CONFIG}):
        if path in snapshot.tree.entries:
            what = f"no longer applies: the rules are now read from {now}"
            yield replace(_found("policy-removed", Severity.FAIL, path, what), fix=fix)


def _found(rule: str, severity: Severity, path: str, what: str) -> Found:
    return Found(
        rule=rule,
        severity=severity,
        message=f"{path} {what}.",
        fix="Change the rules in a separate change that is reviewed.",
        path=path,
        subject=path,
        why="A change that rewrites its own rules always passes.",
    )


_OLD = "def greet(name):\n    return name\n"
_IGNORE = '{"audit": {"ignore": ["**"]}}'
_LIMIT = '{"audit": {"most_changed_lines": 3}}'


def _line_end_change() -> Snapshot:
    commits = MemoryCommits(files={(HEAD, "a.py"): _OLD.encode()})
    return snapshot_of({"a.py": _OLD.replace("\n", "\r\n")}, base={"a.py": _OLD}, commits=commits)


def _mode() -> Snapshot:
    snapshot = snapshot_of({"run.sh": "#!/bin/sh\n"}, base={"run.sh": "#!/bin/sh\n"})
    return replace(snapshot, changes=[Change(ChangeKind.RETYPED, "run.sh")])


@dataclass(frozen=True)
class _WithLibrary:
    """A tree in which the folder `lib` is a nested repository."""

    files: Tree

    @property
    def entries(self) -> Mapping[str, Entry]:
        return {**self.files.entries, "lib": Entry("lib", Kind.SUBMODULE, "d" * 40, 0)}

    def read(self, path: str) -> bytes:
        return self.files.read(path)


def _nested(modules: str) -> Snapshot:
    files = {".gitmodules": modules, "a.py": "1\n"}
    snapshot = snapshot_of(files, base=files)
    changes = [Change(ChangeKind.ADDED, "lib")]
    return replace(snapshot, tree=_WithLibrary(snapshot.tree), changes=changes)


FIXTURES = (
    Fixture(
        "an edit and a new file",
        lambda: snapshot_of({"a.py": "a = 2\n", "rename_user.py": "r = 1\n"}, base={"a.py": "a = 1\n"}),
        "PASS",
    ),
    Fixture(
        "a rename that was planned",
        lambda: snapshot_of({"new.py": _OLD}, base={"old.py": _OLD}, claims=["old.py=>new.py"]),
        "PASS",
    ),
    Fixture("a mode", _mode, "PASS", ("mode-only",)),
    Fixture(
        "a change as large as is allowed",
        lambda: snapshot_of({"forge.json": _LIMIT, "a.py": "1\n2\n3\n"}, base={"forge.json": _LIMIT}),
        "PASS",
    ),
    Fixture(
        "an unplanned rename",
        lambda: snapshot_of({"new.py": _OLD}, base={"old.py": _OLD}, claims=["old.py", "new.py"]),
        "FAIL",
        ("rename",),
    ),
    Fixture(
        "a rename to another name than planned",
        lambda: snapshot_of({"other.py": _OLD}, base={"old.py": _OLD}, claims=["old.py=>new.py"]),
        "FAIL",
        ("rename",),
    ),
    Fixture(
        "more lines than allowed",
        lambda: snapshot_of({"forge.json": _LIMIT, "a.py": "1\n2\n3\n4\n"}, base={"forge.json": _LIMIT}),
        "FAIL",
        ("too-large",),
    ),
    Fixture(
        "only whitespace",
        lambda: snapshot_of({"a.py": _OLD.replace("    ", "\t") + "\n"}, base={"a.py": _OLD}),
        "WARN",
        ("blank-only",),
    ),
    Fixture("only line endings", _line_end_change, "WARN", ("line-ends",)),
    Fixture(
        "an unreadable configuration",
        lambda: snapshot_of({"forge.json": "{", "a.py": "1\n"}, base={"a.py": "2\n"}),
        "ERROR",
        ("broken-config",),
    ),
    Fixture(
        "rules changed together with code",
        lambda: snapshot_of({"forge.json": "{}", "a.py": "2\n"}, base={"forge.json": "{ }", "a.py": "1\n"}),
        "WARN",
        ("blank-only", "policy-changed"),
    ),
    Fixture(
        "deleted rules",
        lambda: snapshot_of({"a.py": "2\n"}, base={"Forge/Contracts/boundaries.json": "{}", "a.py": "1\n"}),
        "FAIL",
        ("policy-removed",),
    ),
    Fixture(
        "rules that a change adds for itself",
        lambda: snapshot_of({"forge.json": _IGNORE, "a.py": "2\n"}, base={"a.py": "1\n"}),
        "WARN",
        ("policy-changed",),
    ),
    Fixture(
        "a new forge.json without audit settings",
        lambda: snapshot_of({"forge.json": '{"project_name": "shop"}', "a.py": "1\n"}, base={"a.py": "1\n"}),
        "PASS",
        ("policy-changed",),
    ),
    Fixture(
        "rules replaced by another folder",
        lambda: snapshot_of(
            {"Contracts/boundaries.json": "{}", "Forge/Contracts/notes.md": "n\n"},
            base={"Contracts/boundaries.json": "{}"},
        ),
        "FAIL",
        ("policy-changed", "policy-removed"),
    ),
    Fixture("a repository in the project", lambda: _nested(""), "WARN", ("other-repository",)),
    Fixture(
        "a submodule", lambda: _nested('[submodule "lib"]\n\tpath = lib\n'), "PASS", ("other-repository",)
    ),
    Fixture("nothing changed", lambda: snapshot_of({"a.py": "1\n"}, base={"a.py": "1\n"}), "SKIP"),
)


CHECK = Check(
    code="A2",
    name="Minimal-diff",
    why=_WHY,
    docs=_DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
