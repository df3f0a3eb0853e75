"""What A2 says of the files a project is judged by: whoever changes them in the same breath may be doing so to pass."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from forge.audits.baseline import baseline_path
from forge.audits.check import Found
from forge.audits.models import Severity
from forge.audits.project import CONFIG, AuditSettings, Governance, find_governance
from forge.audits.snapshot import Change, ChangeKind, Snapshot


def policy_found(snapshot: Snapshot, changes: Sequence[Change]) -> Iterator[Found]:
    """What counted before and what counts now: a folder of contracts that takes the place of another decides, too."""
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
        what = "is gone: what it forbade is allowed now"
        return None if is_moved else _found("policy-removed", severity, path, what)
    if change.kind is not ChangeKind.ADDED:
        return _found("policy-changed", Severity.WARN, path, "changed together with what it judges")
    return _of_new(snapshot, path)


def _of_new(snapshot: Snapshot, path: str) -> Found | None:
    """New contracts only forbid more. The others can take something back: a forge.json that says nothing to the checks
    is how everybody begins, so that is worth a note and no more."""
    if path == CONFIG and snapshot.project.problem is None:
        says_something = snapshot.project.config.audit != AuditSettings()
        severity = Severity.WARN if says_something else Severity.NOTE
        return _found("policy-changed", severity, path, "is new, and this change is already judged by it")
    if path == baseline_path(snapshot.governance):
        what = "is new, and what it accepts may have come with this change"
        return _found("policy-changed", Severity.WARN, path, what)
    return None


def _of_folder(snapshot: Snapshot, before: Governance) -> Iterator[Found]:
    """Nothing has to be deleted to get rid of rules: those of the other folder are not read any more."""
    now = snapshot.governance.path("Contracts")
    what = f"is where the rules are read from now, instead of {before.path('Contracts')}"
    yield replace(_found("policy-changed", Severity.WARN, now, what), path=None)
    fix = f"Keep all of it in one folder: move this to {now}, or take {now} away."
    for path in sorted({*_policy(before)} - {CONFIG}):
        if path in snapshot.tree.entries:
            what = f"counts no more: the rules are read from {now} now"
            yield replace(_found("policy-removed", Severity.FAIL, path, what), fix=fix)


def _found(rule: str, severity: Severity, path: str, what: str) -> Found:
    return Found(
        rule=rule,
        severity=severity,
        message=f"{path} {what}.",
        fix="Change the rules in a change of their own, which somebody reads.",
        path=path,
        subject=path,
        why="A change that rewrites the rules it is judged by passes whatever it does.",
    )
