"""A1: compare the claimed files with the files that changed."""

import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.display_text import escape_path, join_names
from forge.audits.files.folders import folders_of
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot

_WHY = (
    "A change that touches more files than it claims is hard to review, and one that touches fewer is not finished. "
    "This check compares the claim with the changes that git reports."
)


_DOCS = """\
Compares the claimed files with the files that differ from the base: committed since then, staged, unstaged and
untracked. A rename changes two files: the old name and the new name.

| rule | means |
|---|---|
| `unclaimed-change` | a file changed and was not claimed |
| `phantom-claim` | a claimed file did not change, or does not exist |
| `unfinished-merge` | merge conflicts are not resolved, so the final change is unknown |

- **Evidence files** that Forge writes (`Forge/evidence/audit_ledger.md` and the files beside it) may change without a
  claim. The plan, `Forge/Contracts/phases.md`, may not.
- **A claim names files**, not folders: list each file. A submodule or nested repository counts as one file. It changed if
  it is at a different commit, or if its files differ from that commit (modified, untracked or deleted).
- **Ignored files** are not part of the project; claiming one is a phantom claim.
- The index flags assume-unchanged and skip-worktree do not hide a change.
- **Unusual names** are claimed the way reports show them: `caf\\xe9.py` (a byte that is not UTF-8), `a\\x0ab.py` (a line
  break), `a\\x2cb.py` (a comma in a comma-separated list), `\\\\` (a backslash). To claim any name:
  `git diff --name-only --no-renames -z HEAD | forge audit --claimed-files @-`.
- Names are compared exactly, except that composed and decomposed forms of a letter such as `é` are equal.

Without a claim the check is skipped.
"""


UNCLAIMED, PHANTOM, MERGE = "unclaimed-change", "phantom-claim", "unfinished-merge"
MAX_NAMED = 10
_UNSAID = "no files were claimed; pass --claimed-files"


def examine(snapshot: Snapshot) -> Examination:
    merging = list(_merging(snapshot.unmerged))
    if snapshot.claims is None:
        return examined(merging, len(merging), "files") if merging else skip(_UNSAID)
    is_free = snapshot.governance.is_evidence
    changed = {path for change in snapshot.changes for path in change.paths if not is_free(path)}
    claimed = {path for path in snapshot.claims.files if not is_free(path)}
    unclaimed, phantom = _without_twins(changed - claimed, claimed - changed, snapshot.tree.entries)
    claim_meant, file_meant = _by_letters(phantom), _by_letters(unclaimed)
    paths = frozenset(snapshot.tree.entries)
    folders = folders_of(paths | changed) if phantom else set[str]()
    found = [
        *merging,
        *(_unclaimed(path, claim_meant.get(_letters(path))) for path in sorted(unclaimed)),
        *(
            _phantom(path, path in paths, _explain(path, snapshot.base, paths, folders, file_meant))
            for path in sorted(phantom)
        ),
    ]
    return examined(
        found,
        len(changed | claimed),
        "files",
        detail=_detail(len(changed), sorted(unclaimed), sorted(phantom), snapshot.unmerged),
        nothing="nothing changed, and only evidence files were claimed",
    )


def _without_twins(
    unclaimed: set[str], phantom: set[str], there: Container[str]
) -> tuple[set[str], set[str]]:
    """Remove pairs of a claim and a change that differ only in Unicode normalization.

    A claim that is the exact name of an existing, unchanged file is kept: it means that file."""
    waiting = {_composed(path): path for path in phantom if path not in there}
    twins = {path: waiting.pop(name) for path in sorted(unclaimed) if (name := _composed(path)) in waiting}
    return unclaimed - twins.keys(), phantom - set(twins.values())


def _composed(path: str) -> str:
    return unicodedata.normalize("NFC", path)


def _merging(paths: Sequence[str]) -> Iterator[Found]:
    for path in paths:
        yield Found(
            rule=MERGE,
            severity=Severity.ERROR,
            message=f"{escape_path(path)} has unresolved merge conflicts.",
            fix="Resolve the conflicts and `git add` the file, or run `git merge --abort`; then audit again.",
            path=path,
            subject=path,
        )


def _unclaimed(path: str, meant: str | None) -> Found:
    return Found(
        rule=UNCLAIMED,
        severity=Severity.FAIL,
        message=f"{escape_path(path)} changed but was not claimed.",
        fix=f"The claim says {escape_path(meant)}: use the exact file name."
        if meant
        else "Claim it if it belongs to this change; otherwise revert it.",
        path=path,
        subject=path,
    )


def _phantom(path: str, is_there: bool, explanation: tuple[str, str]) -> Found:
    message, fix = explanation
    return Found(
        rule=PHANTOM,
        severity=Severity.FAIL,
        message=f"{escape_path(path)} was claimed, but {message}.",
        fix=fix,
        path=path if is_there else None,
        subject=path,
    )


def _explain(
    path: str, base: str | None, paths: frozenset[str], folders: set[str], meant: Mapping[str, str]
) -> tuple[str, str]:
    if path in paths:
        since = f"since {base[:10]}" if base else "at all"
        return (
            f"it did not change {since}",
            "Make the change, or claim only what changed. "
            "If it is already committed, pass the commit before it as --base.",
        )
    if name := meant.get(_letters(path)):
        return f"the file that changed is called {escape_path(name)}", f"Claim {escape_path(name)}."
    if path in folders:
        return "it is a folder, and claims name files", "Claim the files in it that changed."
    return (
        "the project has no such file, and none was deleted",
        "Create it, or remove it from the claim. If it exists, git ignores it: `git check-ignore -v` shows why.",
    )


def _by_letters(paths: set[str]) -> dict[str, str]:
    return {_letters(path): path for path in sorted(paths)}


def _letters(path: str) -> str:
    """Return a key that is equal for names that differ only in case or normalization."""
    return _composed(path).casefold()


def _detail(changed: int, unclaimed: Sequence[str], phantom: Sequence[str], unmerged: Sequence[str]) -> str:
    parts = [
        f"{title}: {_names(paths)}"
        for title, paths in (
            ("Unclaimed in diff", unclaimed),
            ("Claimed but not in diff", phantom),
            ("In an unfinished merge", unmerged),
        )
        if paths
    ]
    if parts:
        return "; ".join(parts)
    return "1 file changed, and it was claimed" if changed == 1 else f"{changed:,} files changed, all claimed"


def _names(paths: Sequence[str]) -> str:
    return join_names([escape_path(path)[:200] for path in paths], MAX_NAMED)


_BEFORE = {"app/a.py": "a = 1\n", "app/b.py": "b = 1\n"}
_AFTER = {**_BEFORE, "app/a.py": "a = 2\n"}
_LEDGER = {"Forge/Contracts/phases.md": "# Phases\n", "Forge/evidence/audit_ledger.md": "# Ledger\n"}
CHECK = Check(
    code="A1",
    name="Scope compliance",
    why=_WHY,
    docs=_DOCS,
    examine=examine,
    fixtures=(
        Fixture(
            "all that changed is claimed",
            lambda: snapshot_of(
                {**_AFTER, "app/new.py": "n\n"}, base=_BEFORE, claims=["app/a.py", "app/new.py"]
            ),
            "PASS",
        ),
        Fixture(
            "a deleted file and both names of a rename are claimed",
            lambda: snapshot_of(
                {"app/c.py": "a = 1\n"}, base=_BEFORE, claims=["app/a.py=>app/c.py", "app/b.py"]
            ),
            "PASS",
        ),
        Fixture(
            "evidence is free to change",
            lambda: snapshot_of(
                {**_AFTER, **_LEDGER},
                base={**_BEFORE, **_LEDGER, "Forge/evidence/audit_ledger.md": ""},
                claims=["app/a.py"],
            ),
            "PASS",
        ),
        Fixture(
            "an unclaimed file",
            lambda: snapshot_of({**_AFTER, "app/evil.py": "e\n"}, base=_BEFORE, claims=["app/a.py"]),
            "FAIL",
            (UNCLAIMED,),
        ),
        Fixture(
            "the plan changed without a claim",
            lambda: snapshot_of(
                {**_AFTER, **_LEDGER}, base=_BEFORE | {"Forge/Contracts/phases.md": ""}, claims=["app/a.py"]
            ),
            "FAIL",
            (UNCLAIMED,),
        ),
        Fixture(
            "a claimed file that did not change",
            lambda: snapshot_of(_AFTER, base=_BEFORE, claims=["app/a.py", "app/b.py"]),
            "FAIL",
            (PHANTOM,),
        ),
        Fixture(
            "a claimed file that is not there",
            lambda: snapshot_of(_AFTER, base=_BEFORE, claims=["app/a.py", "app/no.py"]),
            "FAIL",
            (PHANTOM,),
        ),
        Fixture(
            "a claimed folder",
            lambda: snapshot_of(_AFTER, base=_BEFORE, claims=["app/"]),
            "FAIL",
            (PHANTOM, UNCLAIMED),
        ),
        Fixture(
            "a merge that is not finished",
            lambda: snapshot_of(_AFTER, base=_BEFORE, claims=["app/a.py"], unmerged=["app/a.py"]),
            "ERROR",
            (MERGE,),
        ),
        Fixture("no claim", lambda: snapshot_of(_AFTER, base=_BEFORE), "SKIP"),
    ),
)
