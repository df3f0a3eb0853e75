"""A2: a change is as small as it can be: no renames nobody planned, no churn of blanks, no more lines than agreed."""

from collections.abc import Iterator, Mapping, Sequence

from forge.audits.check import Check, Examination, Found, examined, skip
from forge.audits.checks.a2_fixtures import FIXTURES
from forge.audits.checks.a2_policy import policy_found
from forge.audits.claims import RENAME, write_claim
from forge.audits.models import Severity
from forge.audits.paths import shown
from forge.audits.project import CONFIG
from forge.audits.snapshot import MAX_BYTES, Change, ChangeKind, Kind, Snapshot

_WHY = (
    "Renames and reformatting drown the few lines that matter, break the history of a file and collide with "
    "everybody else's work."
)
_DOCS = """\
Looks at what differs from the base, committed, staged, changed and new alike; evidence that Forge writes is left out.

| rule | severity | means |
|---|---|---|
| `rename` | fail | git sees a file under another name (the same content, or at least half of it) |
| `too-large` | fail | more lines were added and removed than `audit.most_changed_lines` in `forge.json` allows |
| `blank-only` | warn | nothing but blanks and empty lines differ |
| `line-ends` | warn | nothing but the line ends differ: every line is touched, and none changed |
| `policy-removed` | fail | `boundaries.json`, `physics.yaml`, `forge.json` or the baseline is gone, and nobody claims that; or it is there and counts no more, as the contracts are in another folder now |
| `policy-changed` | warn | one of them changed together with what it judges; the contracts are in another folder now; `forge.json` or the baseline is new. A note when a new `forge.json` says nothing in `audit` |
| `other-repository` | warn | what changed is a repository of its own, so no check sees into it; a note when `.gitmodules` names it |
| `mode-only` | note | a file became executable or stopped being so |
| `broken-config` | error | `forge.json` cannot be read, so nobody knows what it allows |

- **A planned rename** is claimed as one: `--claimed-files "old.py=>new.py"`. Only that exact pair is let through.
- The *word* rename means nothing: a new file called `rename_user.py` is a new file.
- Empty files are never renames of each other.
- Indentation counts as blanks, also where it has a meaning, as in Python: the warning says to look twice.
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
        old, new = shown(change.old_path), shown(change.path)
        yield Found(
            rule="rename",
            severity=Severity.FAIL,
            message=f"{old} was renamed to {new}, and no rename was planned.",
            fix=f'Give it back its name, or claim the rename: --claimed-files "{_pair(change.old_path, change.path)}".',
            path=change.path,
            subject=change.old_path,
        )


def _pair(old: str, new: str) -> str:
    return f"{write_claim(old)}{RENAME}{write_claim(new)}"


def _too_large(snapshot: Snapshot, changes: Sequence[Change]) -> Iterator[Found]:
    if snapshot.project.problem is not None:
        yield Found(
            rule="broken-config",
            severity=Severity.ERROR,
            message=f"{snapshot.project.problem}; how large a change may be is not known.",
            fix=f"Repair {CONFIG}.",
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
            message=f"{lines:,} lines were added or removed, {most:,} are allowed; most of them in {shown(largest.path)}.",
            fix=f"Split the change, or raise audit.most_changed_lines in {CONFIG} with a reason.",
            subject="most_changed_lines",
        )


def _repositories(snapshot: Snapshot, changes: Sequence[Change]) -> Iterator[Found]:
    """Code can hide in a folder that brings its own history."""
    entries = snapshot.tree.entries
    paths = [p for change in changes if (p := change.path) in entries and entries[p].kind is Kind.SUBMODULE]
    named = _submodules(snapshot) if paths else frozenset[str]()
    for path in paths:
        yield Found(
            rule="other-repository",
            severity=Severity.NOTE if path in named else Severity.WARN,
            message=f"{shown(path)} is a repository of its own: what is in it is not examined.",
            fix="Audit it where it is; or make it a submodule that .gitmodules names, or plain files.",
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
            message=f"{shown(change.path)}: only its mode changed.",
            fix="Nothing, if it is meant; otherwise chmod it back.",
            path=change.path,
            subject=change.path,
        )


def _line_ends(change: Change) -> Found:
    return Found(
        rule="line-ends",
        severity=Severity.WARN,
        message=f"{shown(change.path)}: only the line ends changed, of {max(change.added, change.removed):,} lines.",
        fix=f"Take it back (`git checkout -- FILE`), and keep it so: `{shown(change.path)} text=auto` in .gitattributes.",
        path=change.path,
        subject=change.path,
    )


def _blanks(change: Change) -> Found:
    return Found(
        rule="blank-only",
        severity=Severity.WARN,
        message=f"{shown(change.path)}: nothing but blanks changed.",
        fix="Take it back, or make it a change of its own.",
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
    """A file that became a link has not: that is a change like any other."""
    entry = snapshot.tree.entries.get(change.path)
    return entry is not None and entry.kind.is_file and not change.added and not change.removed


CHECK = Check(
    code="A2",
    name="Minimal-diff",
    why=_WHY,
    docs=_DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
