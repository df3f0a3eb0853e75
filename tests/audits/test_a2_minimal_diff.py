"""A2 on real repositories: renames, changes of whitespace and line ends, and the size of a change."""

from datetime import date
from pathlib import Path

import pytest
from tests.support.repositories import Repository, make_repository

from forge.audits.check import Examination, Found
from forge.audits.checks.a2_minimal_diff import CHECK
from forge.audits.claims import read_claims
from forge.audits.engine.check_runner import verdict_of
from forge.audits.engine.self_test import run_self_tests
from forge.audits.memory import UncachedAnalyses
from forge.audits.models import Severity, Verdict
from forge.audits.repository import open_snapshot
from forge.audits.snapshot import Trust

TEXT = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(
        tmp_path / "project", {"user.py": TEXT, "b.py": "if a:\n    b\n", "run.sh": "#!/bin/sh\n"}
    )


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


def verdict(examination: Examination) -> tuple[Verdict, list[tuple[str, str | None]]]:
    return verdict_of(CHECK, examination), [(found.rule, found.path) for found in examination.found]


def test_self_test_passes():
    assert [proof.problems for proof in run_self_tests([CHECK])] == [[]]


class TestOriginalFalseResults:
    """Results of the first version: the first failed, the second passed."""

    def test_new_file_named_rename_passes(self, repository: Repository):
        repository.write({"rename_user.py": "def rename(): ...\n"})
        assert verdict(look(repository)) == (Verdict.PASS, [])
        repository.git("add", "--all")
        assert verdict(look(repository)) == (Verdict.PASS, [])

    def test_unstaged_rename_fails(self, repository: Repository):
        (repository.path / "user.py").rename(repository.path / "person.py")
        assert verdict(look(repository)) == (Verdict.FAIL, [("rename", "person.py")])


class TestRenames:
    def test_staged_rename_fails(self, repository: Repository):
        repository.git("mv", "user.py", "person.py")
        assert look(repository).found == (
            Found(
                "rename",
                Severity.FAIL,
                "user.py was renamed to person.py without a planned rename.",
                'Restore the old name, or claim the rename: --claimed-files "user.py=>person.py".',
                path="person.py",
                subject="user.py",
            ),
        )

    def test_rename_with_edit_fails(self, repository: Repository):
        repository.git("mv", "user.py", "person.py")
        repository.write({"person.py": TEXT.replace("line 3", "line three")})
        assert verdict(look(repository)) == (Verdict.FAIL, [("rename", "person.py")])

    def test_committed_rename_fails_from_base(self, repository: Repository):
        repository.git("mv", "user.py", "person.py")
        repository.commit()
        assert verdict_of(CHECK, look(repository)) == Verdict.SKIP
        assert verdict(look(repository, base="HEAD~1")) == (Verdict.FAIL, [("rename", "person.py")])

    def test_case_rename_fails(self, repository: Repository):
        (repository.path / "user.py").rename(repository.path / "User.py")
        assert verdict(look(repository)) == (Verdict.FAIL, [("rename", "User.py")])

    def test_only_claimed_rename_passes(self, repository: Repository):
        (repository.path / "user.py").rename(repository.path / "person.py")
        assert verdict(look(repository, "user.py=>person.py")) == (Verdict.PASS, [])
        assert verdict(look(repository, "user.py", "person.py")) == (Verdict.FAIL, [("rename", "person.py")])
        assert verdict(look(repository, "person.py=>user.py")) == (Verdict.FAIL, [("rename", "person.py")])

    def test_copies_and_empty_files_are_not_renames(self, repository: Repository):
        repository.commit({"old/__init__.py": ""})
        (repository.path / "old" / "__init__.py").unlink()
        repository.write({"new/__init__.py": "", "copy.py": TEXT})
        assert verdict(look(repository)) == (Verdict.PASS, [])

    def test_replaced_file_is_not_a_rename(self, repository: Repository):
        (repository.path / "user.py").unlink()
        repository.write({"person.py": "class Person: ...\n" * 20})
        assert verdict(look(repository)) == (Verdict.PASS, [])

    def test_rename_of_evidence_is_ignored(self, repository: Repository):
        repository.commit({"Forge/Contracts/phases.md": "p\n", "Forge/evidence/test_runs.md": TEXT})
        repository.git("mv", "Forge/evidence/test_runs.md", "Forge/evidence/test_runs_latest.md")
        assert verdict_of(CHECK, look(repository)) == Verdict.SKIP

    def test_evidence_renamed_into_the_project_fails(self, repository: Repository):
        repository.commit({"Forge/Contracts/phases.md": "p\n", "Forge/evidence/test_runs.md": TEXT})
        repository.git("mv", "Forge/evidence/test_runs.md", "runs.md")
        assert verdict(look(repository)) == (Verdict.FAIL, [("rename", "runs.md")])


class TestChurn:
    def test_whitespace_only_change_is_a_warning(self, repository: Repository):
        repository.write({"b.py": "if a:\n\tb\n\n"})
        assert verdict(look(repository)) == (Verdict.WARN, [("blank-only", "b.py")])

    def test_whitespace_change_with_edit_passes(self, repository: Repository):
        repository.write({"b.py": "if a:\n\tb\n\nc\n"})
        assert verdict(look(repository)) == (Verdict.PASS, [])

    @pytest.mark.parametrize("base", [None, "HEAD", "HEAD^{tree}"])
    def test_line_ending_only_change_has_its_own_rule(self, repository: Repository, base: str | None):
        repository.write({"user.py": TEXT.replace("\n", "\r\n")})
        (found,) = look(repository, base=base).found
        assert (found.rule, found.message) == (
            "line-ends",
            "user.py: only line endings changed, in 20 lines.",
        )

    def test_normalized_line_endings_are_not_a_change(self, repository: Repository):
        repository.commit({".gitattributes": "* text=auto\n"})
        repository.write({"user.py": TEXT.replace("\n", "\r\n")})
        assert verdict_of(CHECK, look(repository)) == Verdict.SKIP

    def test_mode_change_is_reported_without_failing(self, repository: Repository):
        (repository.path / "run.sh").chmod(0o755)
        assert verdict(look(repository)) == (Verdict.PASS, [("mode-only", "run.sh")])

    def test_file_replaced_by_link_passes(self, repository: Repository):
        (repository.path / "run.sh").unlink()
        (repository.path / "run.sh").symlink_to("b.py")
        assert verdict(look(repository)) == (Verdict.PASS, [])


class TestSize:
    def test_too_many_changed_lines_fail(self, repository: Repository):
        repository.commit({"forge.json": '{"audit": {"most_changed_lines": 20}}'})
        (repository.path / "user.py").unlink()
        assert verdict(look(repository)) == (Verdict.PASS, [])
        repository.write({"b.py": "c\n"})
        (found,) = look(repository).found
        assert (found.rule, found.severity, found.message) == (
            "too-large",
            Severity.FAIL,
            "23 lines were added or removed, but only 20 are allowed; most are in user.py.",
        )

    def test_evidence_lines_do_not_count(self, repository: Repository):
        repository.commit(
            {"forge.json": '{"audit": {"most_changed_lines": 1}}', "Forge/Contracts/phases.md": "p\n"}
        )
        repository.write({"Forge/evidence/diff_log.md": TEXT, "new.py": "n\n"})
        assert verdict(look(repository)) == (Verdict.PASS, [])

    def test_invalid_configuration_is_an_error(self, repository: Repository):
        repository.write({"forge.json": '{"audit": {"most_changed_lines": 0}}'})
        assert verdict(look(repository)) == (Verdict.ERROR, [("broken-config", "forge.json")])


class TestPolicyChanges:
    """A change that disables the rules it is judged by is reported."""

    @pytest.fixture
    def governed(self, tmp_path: Path) -> Repository:
        return make_repository(tmp_path / "governed", {"Contracts/boundaries.json": "{}\n", "a.py": "1\n"})

    def test_new_configuration_that_ignores_files_is_a_warning(self, repository: Repository):
        repository.write({"forge.json": '{"audit": {"ignore": ["**"]}}', "b.py": "import requests\n"})
        told = (Verdict.WARN, [("policy-changed", "forge.json")])
        assert verdict(look(repository, "forge.json", "b.py")) == told

    def test_new_configuration_without_audit_settings_passes(self, repository: Repository):
        repository.write({"forge.json": '{"backend": {"language": "python"}}'})
        assert verdict(look(repository)) == (Verdict.PASS, [("policy-changed", "forge.json")])

    def test_configuration_before_first_commit_is_not_reported(self, tmp_path: Path):
        empty = make_repository(tmp_path / "empty")
        empty.write({"forge.json": '{"audit": {"ignore": ["**"]}}'})
        assert verdict(look(empty)) == (Verdict.PASS, [])

    def test_new_baseline_is_a_warning(self, repository: Repository):
        repository.write({"Forge/Contracts/audit_baseline.json": '{"findings": []}', "b.py": "c\n"})
        told = [("policy-changed", "Forge/Contracts/audit_baseline.json")]
        assert verdict(look(repository)) == (Verdict.WARN, told)

    def test_new_boundaries_are_not_reported(self, repository: Repository):
        repository.write(
            {"Forge/Contracts/boundaries.json": "{}", "Forge/Contracts/physics.yaml": "paths: {}"}
        )
        assert verdict(look(repository)) == (Verdict.PASS, [])

    def test_folder_shadowing_contracts_fails(self, governed: Repository):
        governed.write({"Forge/Contracts/notes.md": "n\n"})
        assert [(found.rule, found.severity, found.message) for found in look(governed).found] == [
            (
                "policy-changed",
                Severity.WARN,
                "Forge/Contracts now holds the rules, instead of Contracts.",
            ),
            (
                "policy-removed",
                Severity.FAIL,
                "Contracts/boundaries.json no longer applies: the rules are now read from Forge/Contracts.",
            ),
        ]

    def test_removed_rules_are_reported_when_contracts_folder_changes(self, tmp_path: Path):
        files = {"Forge/Contracts/boundaries.json": "{}\n", "a.py": "1\n"}
        repository = make_repository(tmp_path / "moved", files)
        (repository.path / "Forge/Contracts/boundaries.json").unlink()
        repository.write({"Contracts/notes.md": "n\n"})
        claims = ("Forge/Contracts/boundaries.json", "Contracts/notes.md")
        told = [("policy-removed", "Forge/Contracts/boundaries.json"), ("policy-changed", None)]
        assert verdict(look(repository)) == (Verdict.FAIL, told)
        assert verdict(look(repository, *claims)) == (Verdict.WARN, told)

    def test_claimed_move_of_contracts_is_not_a_removal(self, governed: Repository):
        governed.write({"Contracts/boundaries.json": TEXT})
        governed.commit()
        (governed.path / "Forge").mkdir()
        governed.git("mv", "Contracts", "Forge/Contracts")
        move = "Contracts/boundaries.json=>Forge/Contracts/boundaries.json"
        told = [("policy-changed", "Forge/Contracts/boundaries.json"), ("policy-changed", None)]
        assert verdict(look(governed, move)) == (Verdict.WARN, told)


def test_binary_and_submodule_changes_are_examined(repository: Repository, tmp_path: Path):
    lib = make_repository(tmp_path / "lib", {"l.py": "l\n"})
    repository.git("submodule", "--quiet", "add", str(lib.path), "lib")
    repository.commit({"bin": b"\0a"})
    Repository(repository.path / "lib").commit({"l.py": "m\n"})
    repository.write({"bin": b"\0b"})
    examination = look(repository)
    assert (verdict(examination), examination.examined) == ((Verdict.PASS, [("other-repository", "lib")]), 2)
