"""A1: what changed is what was claimed, nothing more and nothing less."""

import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.counting import first_of
from forge.audits.imports.folders import folders_of
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.paths import shown
from forge.audits.snapshot import Snapshot

UNCLAIMED, PHANTOM, MERGE = "unclaimed-change", "phantom-claim", "unfinished-merge"
MAX_NAMED = 10
_UNSAID = "nobody said which files this change is about; give --claimed-files"

_WHY = (
    "A change that touches more than it says cannot be reviewed, and one that touches less is not done. "
    "Both are found by comparing the claim with what git sees."
)
_DOCS = """\
Compares the files that were claimed with the files that differ from the base: committed since then, staged, changed
and new alike, under any name. A rename changes two files, the old name and the new.

| rule | means |
|---|---|
| `unclaimed-change` | a file changed and nobody claimed it |
| `phantom-claim` | a file was claimed and did not change, or is not there at all |
| `unfinished-merge` | conflicts are not resolved, so nobody can tell what the change will be |

- **Free to change**, claimed or not: the evidence that Forge itself writes (`Forge/evidence/audit_ledger.md` and its
  siblings). The plan, `Forge/Contracts/phases.md`, is not: changing it is a change.
- **A claim names files.** A folder is not a claim on all that is in it: name the files. A submodule, and a folder with a
  repository of its own, is one name; it changed when it is at another commit, or when its files are not those of its
  commit (changed, new and not ignored, deleted).
- **Ignored files** are no part of the project; claiming one is a phantom.
- Marks in the index that tell git not to look at a file (assume-unchanged, skip-worktree) hide nothing.
- **Odd names** are claimed as reports show them: `caf\\xe9.py` (a byte that is no UTF-8), `a\\x0ab.py` (a line break),
  `a\\x2cb.py` (a comma in a list with commas), `\\\\` (a backslash); `git diff --name-only --no-renames -z HEAD | forge
  audit --claimed-files @-` claims any name.
- Names are compared exactly, except that `é` written as one character or as two is the same letter.

Without a claim there is nothing to compare, and the check is skipped.
"""


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
        nothing="nothing changed, and only evidence was claimed",
    )


def _without_twins(
    unclaimed: set[str], phantom: set[str], there: Container[str]
) -> tuple[set[str], set[str]]:
    """A claim and a change whose names look the same and are, letter by letter, are each other's: unless the claim is the
    name of another file, which is there and did not change."""
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
            message=f"{shown(path)} has conflicts of a merge that is not finished.",
            fix="Resolve the conflicts and `git add` the file, or `git merge --abort`; then audit again.",
            path=path,
            subject=path,
        )


def _unclaimed(path: str, meant: str | None) -> Found:
    return Found(
        rule=UNCLAIMED,
        severity=Severity.FAIL,
        message=f"{shown(path)} changed and was not claimed.",
        fix=f"The claim says {shown(meant)}: write it as the file is called."
        if meant
        else "Claim it if it belongs to this change; otherwise take the change back.",
        path=path,
        subject=path,
    )


def _phantom(path: str, is_there: bool, explanation: tuple[str, str]) -> Found:
    message, fix = explanation
    return Found(
        rule=PHANTOM,
        severity=Severity.FAIL,
        message=f"{shown(path)} was claimed, but {message}.",
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
            "If it is committed already, give the commit before it as --base.",
        )
    if name := meant.get(_letters(path)):
        return f"the file that changed is called {shown(name)}", f"Claim {shown(name)}."
    if path in folders:
        return "it is a folder, and a claim names files", "Claim the files in it that changed."
    return (
        "there is no such file in the project, and none was deleted",
        "Create it, or take it out of the claim. If it exists, git ignores it: `git check-ignore -v` says why.",
    )


def _by_letters(paths: set[str]) -> dict[str, str]:
    return {_letters(path): path for path in sorted(paths)}


def _letters(path: str) -> str:
    """The same for names that differ by large and small letters only."""
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
    return first_of([shown(path)[:200] for path in paths], MAX_NAMED)


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
            "a file nobody claimed",
            lambda: snapshot_of({**_AFTER, "app/evil.py": "e\n"}, base=_BEFORE, claims=["app/a.py"]),
            "FAIL",
            (UNCLAIMED,),
        ),
        Fixture(
            "the plan is changed silently",
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
        Fixture("nobody claimed anything", lambda: snapshot_of(_AFTER, base=_BEFORE), "SKIP"),
    ),
)
