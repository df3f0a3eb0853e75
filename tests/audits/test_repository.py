"""The snapshot of a real repository: everything a check may read, in every state of a repository."""

import hashlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.repositories import Repository, make_repository

from forge.audits.claims import read_claims
from forge.audits.memory import UncachedAnalyses
from forge.audits.project import ForgeJson, Governance, Project
from forge.audits.repository import EvidenceRefused, open_snapshot
from forge.audits.snapshot import AddedLine, Change, ChangeKind, Entry, Kind, Snapshot, Trust
from forge.workspace.observed.errors import BrokenRepository, NotARepository

TODAY = date(2026, 1, 2)
Open = Callable[..., Snapshot]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "project", {"a.py": "a = 1\n", "src/b.py": "b = 1\nc = 2\n"})


@pytest.fixture
def look() -> Iterator[Open]:
    with ExitStack() as opened:

        def look(path: Path, **options: Any) -> Snapshot:
            analyses = UncachedAnalyses()
            return opened.enter_context(
                open_snapshot(path, trust=Trust(), analyses=analyses, today=TODAY, **options)
            )

        yield look


def test_a_snapshot_holds_everything_a_check_may_ask(repository: Repository, look: Open):
    head = repository.git("rev-parse", "HEAD")
    repository.write({"a.py": "a = 2\n", "new.py": "one\ntwo", "forge.json": '{"project_name": "P"}'})
    claims = read_claims(["a.py", "new.py"])
    snapshot = look(repository.path / "src", claims=claims, phase="Phase 3")
    assert (snapshot.name, snapshot.head, snapshot.base, snapshot.branch) == ("project", head, head, "main")
    assert (snapshot.phase, snapshot.claims, snapshot.today, snapshot.trust) == (
        "Phase 3",
        claims,
        TODAY,
        Trust(),
    )
    assert snapshot.changes == [
        Change(ChangeKind.MODIFIED, "a.py", added=1, removed=1),
        Change(ChangeKind.ADDED, "forge.json", added=1),
        Change(ChangeKind.ADDED, "new.py", added=2),
    ]
    assert list(snapshot.added_lines) == [
        AddedLine("a.py", 1, b"a = 2"),
        AddedLine("forge.json", 1, b'{"project_name": "P"}'),
        AddedLine("new.py", 1, b"one"),
        AddedLine("new.py", 2, b"two"),
    ]
    assert snapshot.tree.entries["new.py"] == Entry(
        "new.py", Kind.FILE, repository.git("hash-object", "new.py"), 7
    )
    assert snapshot.tree.read("new.py") == b"one\ntwo"
    assert snapshot.project == Project(ForgeJson(project_name="P"), is_configured=True, problem=None)
    assert snapshot.governance == Governance("Forge", exists=False)
    assert (snapshot.unmerged, snapshot.evidence) == ([], {})
    assert snapshot.commits.since(head) == []
    repository.git("add", "--all")
    assert snapshot.tree_id == repository.git("write-tree")
    with pytest.raises(KeyError):
        snapshot.tree.read("no.py")


def test_a_base_makes_committed_changes_count(repository: Repository, look: Open):
    first = repository.git("rev-parse", "HEAD")
    repository.commit({"a.py": "a = 2\n"})
    repository.write({"new.py": "n\n"})
    snapshot = look(repository.path, base="HEAD~1")
    assert (snapshot.base, [change.path for change in snapshot.changes]) == (first, ["a.py", "new.py"])


def test_before_the_first_commit_everything_is_new(tmp_path: Path, look: Open):
    repository = make_repository(tmp_path / "project")
    repository.write({"a.py": "a\n"})
    snapshot = look(repository.path)
    assert (snapshot.head, snapshot.base, snapshot.branch) == (None, None, "main")
    assert snapshot.changes == [Change(ChangeKind.ADDED, "a.py", added=1)]


def test_without_any_file_there_is_a_snapshot_too(tmp_path: Path, look: Open):
    snapshot = look(make_repository(tmp_path / "project").path)
    assert (snapshot.changes, dict(snapshot.tree.entries), list(snapshot.added_lines)) == ([], {}, [])


def test_from_the_empty_tree_everything_is_new(repository: Repository, look: Open):
    snapshot = look(repository.path, base="4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    assert snapshot.base is None
    assert [(change.kind, change.path) for change in snapshot.changes] == [
        (ChangeKind.ADDED, "a.py"),
        (ChangeKind.ADDED, "src/b.py"),
    ]


def test_a_detached_head_has_no_branch(repository: Repository, look: Open):
    repository.git("checkout", "--quiet", "--detach")
    snapshot = look(repository.path)
    assert (snapshot.branch, snapshot.head) == (None, repository.git("rev-parse", "HEAD"))


def test_folder_without_repository_is_an_error(tmp_path: Path, look: Open):
    with pytest.raises(NotARepository):
        look(tmp_path)


def test_entry_kinds_are_distinguished(repository: Repository, look: Open):
    repository.write({"run.sh": "#!/bin/sh\n"})
    (repository.path / "run.sh").chmod(0o755)
    (repository.path / "link").symlink_to("a.py")
    make_repository(repository.path / "nested", {"n.py": "n\n"})
    snapshot = look(repository.path)
    kinds = {path: entry.kind for path, entry in snapshot.tree.entries.items()}
    assert kinds == {
        "a.py": Kind.FILE,
        "src/b.py": Kind.FILE,
        "run.sh": Kind.EXECUTABLE,
        "link": Kind.LINK,
        "nested": Kind.SUBMODULE,
    }
    assert snapshot.tree.read("link") == b"a.py"
    with pytest.raises(KeyError):
        snapshot.tree.read("nested")
    assert [each.path for each in snapshot.added_lines] == ["run.sh"]


def test_change_kinds_are_distinguished(repository: Repository, look: Open):
    same = "".join(f"line {number}\n" for number in range(20))
    repository.commit(
        {"old.txt": same, "mode.sh": "m\n", "typed": "t\n", "gone": "g\n", "bin": b"\0a", "e": ""}
    )
    repository.commit({"tabs.py": "if a:\n    b\n", "dos.txt": "1\n2\n", "end": "no newline"})
    repository.git("mv", "old.txt", "new.txt")
    repository.write(
        {"new.txt": same.replace("line 7", "line seven"), "bin": b"\0b", "src/b.py": "b = 1\nd\n"}
    )
    repository.write({"tabs.py": "if a:\n\tb\n\n", "dos.txt": "1\r\n2\r\n", "end": "no newline\n"})
    (repository.path / "mode.sh").chmod(0o755)
    for name in ("typed", "gone", "e"):
        (repository.path / name).unlink()
    (repository.path / "typed").symlink_to("a.py")
    repository.write({"e2": ""})
    assert look(repository.path).changes == [
        Change(ChangeKind.MODIFIED, "bin", is_binary=True),
        Change(ChangeKind.MODIFIED, "dos.txt", added=2, removed=2, is_blank_only=True),
        Change(ChangeKind.DELETED, "e"),
        Change(ChangeKind.ADDED, "e2"),
        Change(ChangeKind.MODIFIED, "end", added=1, removed=1, is_blank_only=True),
        Change(ChangeKind.DELETED, "gone", removed=1),
        Change(ChangeKind.RETYPED, "mode.sh"),
        Change(ChangeKind.RENAMED, "new.txt", old_path="old.txt", added=1, removed=1),
        Change(ChangeKind.MODIFIED, "src/b.py", added=1, removed=1),
        Change(ChangeKind.MODIFIED, "tabs.py", added=2, removed=1, is_blank_only=True),
        Change(ChangeKind.RETYPED, "typed", added=1, removed=1),
    ]


def test_a_file_that_contains_a_patch_is_no_patch(repository: Repository, look: Open):
    patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n\\ No newline at end of file\n"
    repository.write({"a.py": patch, "z.txt": "after\n"})
    repository.write({"src/b.py": "++ c\n-- d\nb = 1"})
    lines = [(each.path, each.line, each.text) for each in look(repository.path).added_lines]
    assert lines == [
        *(("a.py", number, text.encode()) for number, text in enumerate(patch.splitlines(), 1)),
        *(("src/b.py", number, text) for number, text in ((1, b"++ c"), (2, b"-- d"), (3, b"b = 1"))),
        ("z.txt", 1, b"after"),
    ]


def test_lines_of_a_file_that_became_a_link_or_a_file_again_are_its_own(repository: Repository, look: Open):
    (repository.path / "z").symlink_to("a.py")
    repository.commit()
    (repository.path / "z").unlink()
    (repository.path / "a.py").unlink()
    (repository.path / "a.py").symlink_to("z")
    repository.write({"z": "now a file\n", "zz": "last\n"})
    assert list(look(repository.path).added_lines) == [
        AddedLine("z", 1, b"now a file"),
        AddedLine("zz", 1, b"last"),
    ]


class TestEvidence:
    def test_it_is_read_where_it_lies_also_when_git_ignores_it(self, repository: Repository, look: Open):
        repository.write({".gitignore": "Forge/\n", "Forge/evidence/diff_log.md": "# Log\n"})
        repository.write({"Forge/evidence/notes.md": "not evidence\n"})
        snapshot = look(repository.path)
        assert snapshot.evidence == {"diff_log.md": b"# Log\n"}
        assert snapshot.governance == Governance("Forge", exists=True)

    def test_it_lies_beside_the_contracts(self, repository: Repository, look: Open):
        repository.write({"Contracts/phases.md": "# Phases\n", "evidence/test_runs.md": "# Runs\n"})
        snapshot = look(repository.path)
        assert snapshot.evidence == {"test_runs.md": b"# Runs\n"}
        assert snapshot.governance == Governance("", exists=True)

    def test_it_is_no_part_of_the_tree_that_it_is_about(self, repository: Repository, look: Open):
        repository.commit({"Forge/Contracts/phases.md": "# Phases\n"})
        before = look(repository.path).tree_id
        assert before == repository.git("rev-parse", "HEAD^{tree}")
        repository.write({"Forge/evidence/test_runs_latest.md": "Status: PASS\n"})
        assert look(repository.path).tree_id == before
        repository.commit()
        after = look(repository.path)
        assert (after.tree_id, "Forge/evidence/test_runs_latest.md" in after.tree.entries) == (before, True)
        repository.write({"Forge/evidence/mine.md": "not evidence\n"})
        assert look(repository.path).tree_id != before

    @pytest.mark.parametrize("name", ["Forge", "Forge/evidence", "Forge/evidence/diff_log.md"])
    def test_a_link_is_not_followed(self, repository: Repository, tmp_path: Path, look: Open, name: str):
        real = repository.path / "Forge" / "evidence" / "diff_log.md"
        real.parent.mkdir(parents=True)
        real.write_text("forged\n")
        (repository.path / name).rename(tmp_path / "elsewhere")
        (repository.path / name).symlink_to(tmp_path / "elsewhere")
        with pytest.raises(EvidenceRefused, match="cannot be read as evidence"):
            look(repository.path)

    def test_directory_is_rejected_as_evidence(self, repository: Repository, look: Open):
        (repository.path / "Forge" / "evidence" / "diff_log.md").mkdir(parents=True)
        with pytest.raises(EvidenceRefused, match="not a regular file"):
            look(repository.path)

    def test_too_large_evidence_is_rejected(self, repository: Repository, look: Open):
        repository.write({"Forge/evidence/diff_log.md": "x"})
        with (repository.path / "Forge/evidence/diff_log.md").open("wb") as file:
            file.truncate((64 << 20) + 1)
        with pytest.raises(EvidenceRefused, match="larger than 64 MB"):
            look(repository.path)


class TestConfiguration:
    def test_a_link_or_a_huge_file_is_a_problem_and_not_an_absence(self, repository: Repository, look: Open):
        (repository.path / "forge.json").symlink_to("a.py")
        assert look(repository.path).project.problem == "forge.json is a link, not a file"
        (repository.path / "forge.json").unlink()
        repository.write({"forge.json": " " * (2 << 20) + "{}"})
        assert look(repository.path).project.problem == "forge.json is larger than 2,097,152 bytes"

    def test_nonsense_is_a_problem(self, repository: Repository, look: Open):
        repository.write({"forge.json": "{"})
        assert "forge.json" in (look(repository.path).project.problem or "")


_TEXT = st.lists(
    st.sampled_from(
        [b"a", b"b", b"", b"@@ -1 +1 @@", b"diff --git a/x b/x", b"-", b"+", b"\\ x", b"\r", b" a"]
    )
)


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    return b"\n".join(draw(_TEXT)) + (b"\n" if draw(st.booleans()) else b"")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.dictionaries(st.sampled_from(["a", "b\n", 'c"', "\udcff", "d/e"]), contents(), max_size=5),
    after=st.dictionaries(st.sampled_from(["a", "b\n", 'c"', "\udcff", "d/e", "f"]), contents(), max_size=6),
)
def test_added_lines_are_lines_of_their_files(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, bytes], after: dict[str, bytes]
):
    repository = make_repository(tmp_path_factory.mktemp("fuzz") / "project", before)
    for name in before:
        (repository.path / name).unlink()
    repository.write(after)
    with open_snapshot(repository.path, trust=Trust(), analyses=UncachedAnalyses(), today=TODAY) as snapshot:
        assert {path: snapshot.tree.read(path) for path in snapshot.tree.entries} == after
        for change in snapshot.changes:
            lines = [each for each in snapshot.added_lines if each.path == change.path]
            assert len(lines) == change.added
            content = after.get(change.path, b"").split(b"\n")
            assert [each.text for each in lines] == [
                content[each.line - 1].removesuffix(b"\r") for each in lines
            ]
        untouched = {path for path in after if before.get(path) == after[path]}
        assert {path for change in snapshot.changes for path in change.paths} == (
            before.keys() | after.keys()
        ) - untouched


def test_object_that_does_not_match_its_id_is_rejected(repository: Repository, look: Open):
    bad = b"import evil\n"
    blob = hashlib.sha1(b"blob %d\0" % len(bad) + bad).hexdigest()
    forged = repository.path / ".git/objects" / blob[:2] / blob[2:]
    forged.parent.mkdir(exist_ok=True)
    forged.write_bytes(zlib.compress(b"blob 10\0import os\n"))
    repository.write({"bad.py": bad})
    snapshot = look(repository.path)
    with pytest.raises(BrokenRepository, match="does not match its id"):
        snapshot.tree.read("bad.py")


def test_attributes_cannot_hide_what_a_line_says(repository: Repository, look: Open):
    repository.write({".gitattributes": "*.py ident\n", "a.py": 'x = "$Id: "; import evil; y = " $"\n'})
    assert look(repository.path).tree.read("a.py") == b'x = "$Id: "; import evil; y = " $"\n'


def test_a_repository_does_not_name_the_file_of_its_attributes(repository: Repository, look: Open):
    repository.git("config", "core.attributesFile", "/dev/zero")
    assert [change.path for change in look(repository.path).changes] == []
