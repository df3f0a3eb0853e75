"""A1 on real repositories: scenarios that the first version of this check got wrong, and those it got right."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.repositories import Repository, make_repository

from forge.audits.check import Examination, Found
from forge.audits.checks.a1_scope import CHECK
from forge.audits.claims import read_claims
from forge.audits.engine.check_runner import verdict_of
from forge.audits.engine.self_test import run_self_tests
from forge.audits.memory import UncachedAnalyses, snapshot_of
from forge.audits.models import Severity, Verdict
from forge.audits.repository import open_snapshot
from forge.audits.snapshot import Claims, Trust

FILES = {
    "app/a.py": "a = 1\nb = 2\nc = 3\n",
    "app/b.py": "b = 1\n",
    "Forge/Contracts/phases.md": "# Phases\n",
    "Forge/evidence/audit_ledger.md": "# Ledger\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "project", FILES)


def look(repository: Repository, *claims: str, base: str | None = None) -> Examination:
    with open_snapshot(
        repository.path,
        claims=read_claims(claims) if claims else None,
        base=base,
        trust=Trust(),
        analyses=UncachedAnalyses(),
        today=date(2026, 1, 1),
    ) as snapshot:
        return CHECK.examine(snapshot)


def verdict(examination: Examination) -> tuple[Verdict, list[tuple[str, str]]]:
    return verdict_of(CHECK, examination), sorted((found.rule, found.subject) for found in examination.found)


PASS: tuple[Verdict, list[tuple[str, str]]] = (Verdict.PASS, [])


def fail(*found: tuple[str, str]) -> tuple[Verdict, list[tuple[str, str]]]:
    return Verdict.FAIL, sorted(found)


def test_self_test_passes():
    assert [proof.problems for proof in run_self_tests([CHECK])] == [[]]


class TestOriginalFalseResults:
    """Results of the first version: both failed."""

    def test_claimed_untracked_file_passes(self, repository: Repository):
        repository.write({"app/new.py": "n\n"})
        assert verdict(look(repository, "app/new.py")) == PASS

    def test_claimed_staged_file_with_accent_passes(self, repository: Repository):
        repository.write({"naïve.py": "n\n"})
        repository.git("add", "naïve.py")
        assert verdict(look(repository, "naïve.py")) == PASS


def edit(repository: Repository) -> None:
    repository.write({"app/a.py": "a = 2\nb = 2\nc = 3\n"})


def edit_and_stage(repository: Repository) -> None:
    edit(repository)
    repository.git("add", "--all")


def edit_and_add_evil(repository: Repository) -> None:
    edit(repository)
    repository.write({"app/evil.py": "e\n"})


def stage_evil(repository: Repository) -> None:
    edit_and_add_evil(repository)
    repository.git("add", "--all")


def delete(repository: Repository) -> None:
    (repository.path / "app/b.py").unlink()


def move_unstaged(repository: Repository) -> None:
    (repository.path / "app/a.py").rename(repository.path / "app/c.py")


def move_staged(repository: Repository) -> None:
    repository.git("mv", "app/a.py", "app/c.py")


def change_plan(repository: Repository) -> None:
    edit(repository)
    repository.write({"Forge/Contracts/phases.md": "# Fewer phases\n"})


def change_evidence(repository: Repository) -> None:
    edit(repository)
    repository.write(
        {"Forge/evidence/audit_ledger.md": "# More\n", "Forge/evidence/test_runs_latest.md": "Status: PASS\n"}
    )


def add_stray_evidence(repository: Repository) -> None:
    edit(repository)
    repository.write({"Forge/evidence/notes.md": "mine\n", "docs/audit_ledger.md": "not the ledger\n"})


def hide_by_mark(repository: Repository) -> None:
    repository.git("update-index", "--assume-unchanged", "app/b.py")
    repository.write({"app/b.py": "evil\n"})
    edit(repository)


def hide_by_ignoring(repository: Repository) -> None:
    edit(repository)
    repository.write({".gitignore": "evil.py\n", "app/evil.py": "e\n"})


def stage_and_revert_on_disk(repository: Repository) -> None:
    repository.write({"app/b.py": "b = 2\n"})
    repository.git("add", "app/b.py")
    repository.write({"app/b.py": "b = 1\n"})
    edit(repository)


def touch_only(repository: Repository) -> None:
    edit(repository)
    (repository.path / "app/b.py").touch()


def make_executable(repository: Repository) -> None:
    edit(repository)
    (repository.path / "app/b.py").chmod(0o755)


def nest(repository: Repository) -> None:
    edit(repository)
    make_repository(repository.path / "vendor", {"evil.py": "e\n"})


def odd_names(repository: Repository) -> None:
    for name in ("new\nline.py", "\udcff.py", 'quo"te.py', "a,b.py"):
        (repository.path / name).write_text("x\n")


def decompose(repository: Repository) -> None:
    repository.write({"nai\u0308ve.py": "n\n"})


UNCLAIMED, PHANTOM = "unclaimed-change", "phantom-claim"
SCENARIOS: list[
    tuple[str, Callable[[Repository], None], list[str], tuple[Verdict, list[tuple[str, str]]]]
] = [
    ("an edit", edit, ["app/a.py"], PASS),
    ("a staged edit", edit_and_stage, ["app/a.py"], PASS),
    ("claims written another way", edit, ["./app//a.py", " app\\a.py "], PASS),
    ("an unclaimed new file", edit_and_add_evil, ["app/a.py"], fail((UNCLAIMED, "app/evil.py"))),
    ("an unclaimed staged file", stage_evil, ["app/a.py"], fail((UNCLAIMED, "app/evil.py"))),
    ("a deletion", delete, ["app/b.py"], PASS),
    ("an unclaimed deletion", delete, ["app/a.py"], fail((UNCLAIMED, "app/b.py"), (PHANTOM, "app/a.py"))),
    ("a rename with both names", move_unstaged, ["app/a.py", "app/c.py"], PASS),
    ("a staged rename with both names", move_staged, ["app/a.py=>app/c.py"], PASS),
    ("a rename with the new name only", move_unstaged, ["app/c.py"], fail((UNCLAIMED, "app/a.py"))),
    ("a rename with the old name only", move_staged, ["app/a.py"], fail((UNCLAIMED, "app/c.py"))),
    ("the plan", change_plan, ["app/a.py"], fail((UNCLAIMED, "Forge/Contracts/phases.md"))),
    ("the plan, claimed", change_plan, ["app/a.py", "Forge/Contracts/phases.md"], PASS),
    ("evidence", change_evidence, ["app/a.py"], PASS),
    ("evidence, claimed", change_evidence, ["app/a.py", "Forge/evidence/audit_ledger.md"], PASS),
    ("evidence claimed and unchanged", edit, ["app/a.py", "Forge/evidence/diff_log.md"], PASS),
    (
        "what only looks like evidence",
        add_stray_evidence,
        ["app/a.py"],
        fail((UNCLAIMED, "Forge/evidence/notes.md"), (UNCLAIMED, "docs/audit_ledger.md")),
    ),
    ("a change hidden by a mark", hide_by_mark, ["app/a.py"], fail((UNCLAIMED, "app/b.py"))),
    ("a file hidden by .gitignore", hide_by_ignoring, ["app/a.py"], fail((UNCLAIMED, ".gitignore"))),
    (
        "an ignored file, claimed",
        hide_by_ignoring,
        ["app/a.py", ".gitignore", "app/evil.py"],
        fail((PHANTOM, "app/evil.py")),
    ),
    ("staged and taken back on disk", stage_and_revert_on_disk, ["app/a.py"], PASS),
    ("a file that was only touched", touch_only, ["app/a.py"], PASS),
    ("a mode", make_executable, ["app/a.py"], fail((UNCLAIMED, "app/b.py"))),
    ("a repository inside", nest, ["app/a.py"], fail((UNCLAIMED, "vendor"))),
    ("a repository inside, claimed", nest, ["app/a.py", "vendor/"], PASS),
    ("odd names", odd_names, ["new\nline.py", "\udcff.py", 'quo"te.py', "a,b.py"], PASS),
    (
        "odd names as reports show them",
        odd_names,
        ["new\\x0aline.py", "\\xff.py", 'quo"te.py', "a\\x2cb.py"],
        PASS,
    ),
    ("an accent as two characters", decompose, ["na\u00efve.py"], PASS),
    ("an unchanged file", edit, ["app/a.py", "app/b.py"], fail((PHANTOM, "app/b.py"))),
    ("a missing file", edit, ["app/a.py", "app/no.py"], fail((PHANTOM, "app/no.py"))),
    ("a folder", edit, ["app"], fail((PHANTOM, "app"), (UNCLAIMED, "app/a.py"))),
    ("other letters", edit, ["APP/A.py"], fail((PHANTOM, "APP/A.py"), (UNCLAIMED, "app/a.py"))),
    ("nothing changed", lambda _: None, ["app/a.py"], fail((PHANTOM, "app/a.py"))),
    (
        "prose of a log taken for a claim",
        edit,
        ["- app/a.py"],
        fail((PHANTOM, "- app/a.py"), (UNCLAIMED, "app/a.py")),
    ),
]


@pytest.mark.parametrize(
    ("act", "claims", "expected"), [row[1:] for row in SCENARIOS], ids=[row[0] for row in SCENARIOS]
)
def test_scenario_has_expected_verdict(
    repository: Repository,
    act: Callable[[Repository], None],
    claims: list[str],
    expected: tuple[Verdict, list[tuple[str, str]]],
):
    act(repository)
    assert verdict(look(repository, *claims)) == expected


def test_submodule_change_can_be_claimed(repository: Repository, tmp_path: Path):
    lib = make_repository(tmp_path / "lib", {"lib.py": "l\n"})
    repository.git("submodule", "--quiet", "add", str(lib.path), "lib")
    repository.commit()
    repository.write({"lib/lib.py": "evil\n"})
    edit(repository)
    assert verdict(look(repository, "app/a.py")) == fail((UNCLAIMED, "lib"))
    assert verdict(look(repository, "app/a.py", "lib")) == PASS


def test_committed_changes_count_from_base(repository: Repository):
    edit(repository)
    repository.commit()
    assert verdict(look(repository, "app/a.py")) == fail((PHANTOM, "app/a.py"))
    assert verdict(look(repository, "app/a.py", base="HEAD~1")) == PASS
    repository.write({"app/evil.py": "e\n"})
    assert verdict(look(repository, "app/a.py", base="HEAD~1")) == fail((UNCLAIMED, "app/evil.py"))


def test_reverted_commit_is_not_a_change(repository: Repository):
    edit(repository)
    repository.commit()
    repository.commit({"app/a.py": FILES["app/a.py"], "app/b.py": "b = 2\n"})
    assert verdict(look(repository, "app/b.py", base="HEAD~2")) == PASS


def test_every_file_is_a_change_before_first_commit(tmp_path: Path):
    repository = make_repository(tmp_path / "project")
    repository.write({"a.py": "a\n", "b.py": "b\n"})
    assert verdict(look(repository, "a.py")) == fail((UNCLAIMED, "b.py"))
    assert verdict(look(repository, "a.py", "b.py")) == PASS


def test_unfinished_merge_is_an_error(repository: Repository):
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({"app/b.py": "b = 2\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"app/b.py": "b = 3\n"})
    repository.git("merge", "side", check=False)
    examination = look(repository, "app/b.py")
    assert verdict(examination) == (Verdict.ERROR, [("unfinished-merge", "app/b.py")])
    assert examination.detail == "In an unfinished merge: app/b.py"
    assert verdict(look(repository)) == (Verdict.ERROR, [("unfinished-merge", "app/b.py")])


def test_check_without_claims_is_skipped_with_reason(repository: Repository):
    edit(repository)
    examination = look(repository)
    assert verdict_of(CHECK, examination) == Verdict.SKIP
    assert examination.skipped == "no files were claimed; pass --claimed-files"


def test_claim_of_unchanged_evidence_is_skipped(repository: Repository):
    assert verdict_of(CHECK, look(repository, "Forge/evidence/diff_log.md")) == Verdict.SKIP


def test_detail_lists_both_kinds_and_is_bounded():
    before = {f"f{number:02}.py": "1\n" for number in range(12)}
    after = {name: "2\n" for name in before}
    examination = CHECK.examine(snapshot_of(after, base=before, claims=["x\ny.py"]))
    names = ", ".join(f"f{number:02}.py" for number in range(10))
    assert examination.detail == f"Unclaimed in diff: {names} and 2 more; Claimed but not in diff: x\\x0ay.py"
    assert (
        CHECK.examine(snapshot_of(after, base=before, claims=after)).detail == "12 files changed, all claimed"
    )


def test_each_finding_has_a_fix():
    snapshot = snapshot_of(
        {"A.py": "2\n", "b.py": "1\n", "c/d.py": "1\n"}, base={"b.py": "1\n", "c/d.py": "1\n"}
    )
    claims = read_claims(["a.py", "b.py", "c", "no.py"])
    found = CHECK.examine(replace(snapshot, claims=claims)).found
    assert found == (
        Found(
            UNCLAIMED,
            Severity.FAIL,
            "A.py changed but was not claimed.",
            "The claim says a.py: use the exact file name.",
            path="A.py",
            subject="A.py",
        ),
        Found(
            PHANTOM,
            Severity.FAIL,
            "a.py was claimed, but the file that changed is called A.py.",
            "Claim A.py.",
            subject="a.py",
        ),
        Found(
            PHANTOM,
            Severity.FAIL,
            "b.py was claimed, but it did not change since cccccccccc.",
            "Make the change, or claim only what changed. "
            "If it is already committed, pass the commit before it as --base.",
            path="b.py",
            subject="b.py",
        ),
        Found(
            PHANTOM,
            Severity.FAIL,
            "c was claimed, but it is a folder, and claims name files.",
            "Claim the files in it that changed.",
            subject="c",
        ),
        Found(
            PHANTOM,
            Severity.FAIL,
            "no.py was claimed, but the project has no such file, and none was deleted.",
            "Create it, or remove it from the claim. If it exists, git ignores it: `git check-ignore -v` shows why.",
            subject="no.py",
        ),
    )


def test_claim_covers_only_one_of_two_lookalike_names():
    both = {"na\u00efve.py": "1\n", "nai\u0308ve.py": "2\n"}
    examination = CHECK.examine(snapshot_of(both, base={}, claims=["na\u00efve.py"]))
    assert [(found.rule, found.subject) for found in examination.found] == [(UNCLAIMED, "nai\u0308ve.py")]


_NAMES = st.text(st.characters(blacklist_characters="/\0"), min_size=1, max_size=5)


@given(changed=st.sets(_NAMES, max_size=6), claimed=st.sets(_NAMES, min_size=1, max_size=6))
def test_check_passes_only_if_claims_equal_changes(changed: set[str], claimed: set[str]):
    claims = Claims(frozenset(claimed), {})
    examination = CHECK.examine(snapshot_of({name: b"x" for name in changed}, claims=claims))
    if changed == claimed:
        assert verdict_of(CHECK, examination) == Verdict.PASS
    elif len(changed) != len(claimed):
        assert verdict_of(CHECK, examination) == Verdict.FAIL


def test_claim_of_unchanged_file_does_not_cover_new_lookalike() -> None:
    composed, decomposed = "caf\u00e9.py", "cafe\u0301.py"
    snapshot = snapshot_of(
        {composed: "a = 1\n", decomposed: "b = 1\n"}, base={composed: "a = 1\n"}, claims=[composed]
    )
    assert {found.rule for found in CHECK.examine(snapshot).found} == {"unclaimed-change", "phantom-claim"}
