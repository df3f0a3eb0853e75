"""Observing a repository: locations, revisions, history and objects."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.repositories import Repository, make_repository
from tests.workspace.observed_helpers import changed, paths, see

from forge.errors import Invalid, TooLarge
from forge.workspace.filesystem.errors import NoSuchPath
from forge.workspace.observed import git_process
from forge.workspace.observed.errors import (
    BareRepository,
    BrokenRepository,
    HistoryIsCut,
    NoSuchRevision,
    NotARepository,
)
from forge.workspace.observed.observed_repository import observe

NOBODY = 65534


class TestLocation:
    def test_nested_path_resolves_to_repository_root(self, repository: Repository):
        for path in ("", "src", "src/b.py"):
            with observe(repository.path / path) as observed:
                assert observed.root == repository.path

    def test_directory_without_repository_is_refused(self, tmp_path: Path):
        with pytest.raises(NotARepository, match="not in a git repository"), observe(tmp_path):
            pass

    def test_missing_path_is_refused(self, tmp_path: Path):
        loop = tmp_path / "loop"
        loop.symlink_to("loop")
        for path in (tmp_path / "nothing", loop):
            with pytest.raises(NoSuchPath, match="does not exist"), observe(path):
                pass

    def test_bare_repository_is_refused(self, tmp_path: Path, repository: Repository):
        repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
        for path in (
            tmp_path / "bare.git",
            tmp_path / "bare.git" / "objects",
            repository.path / ".git" / "refs",
        ):
            with pytest.raises(BareRepository), observe(path):
                pass
        repository.git("config", "core.bare", "true")
        with pytest.raises(BareRepository), observe(repository.path):
            pass

    @pytest.mark.parametrize("pointer", [b"gitdir: /nowhere\n", b"nonsense", b""])
    def test_git_file_with_invalid_target_is_refused(self, tmp_path: Path, pointer: bytes):
        (tmp_path / ".git").write_bytes(pointer)
        with pytest.raises(BrokenRepository), observe(tmp_path):
            pass

    def test_pipe_named_git_does_not_block(self, tmp_path: Path):
        os.mkfifo(tmp_path / ".git")
        with pytest.raises(BrokenRepository, match="not a regular file"), observe(tmp_path):
            pass

    def test_repository_of_other_user_is_accepted(self, repository: Repository):
        if os.getuid() != 0:
            pytest.skip("only root can give files away")
        for path in (repository.path, *repository.path.rglob("*")):
            os.lchown(path, NOBODY, NOBODY)
        assert see(repository.path) == {}

    def test_linked_work_tree_has_own_head_and_index(self, repository: Repository, tmp_path: Path):
        repository.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
        (tmp_path / "side" / "new.py").write_text("n\n")
        with observe(tmp_path / "side") as observed:
            assert (observed.branch, changed(observed)) == ("side", {"new.py": "A"})
        assert see(repository.path) == {}

    def test_work_tree_of_bare_repository_is_accepted(self, repository: Repository, tmp_path: Path):
        repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
        Repository(tmp_path / "bare.git").git("worktree", "add", "--quiet", str(tmp_path / "tree"), "main")
        assert see(tmp_path / "tree") == {}

    def test_explicit_git_dir_is_used(self, repository: Repository, tmp_path: Path):
        (repository.path / ".git").rename(tmp_path / "history")
        repository.write({"a.py": "a = 2\n"})
        with observe(repository.path, git_dir=tmp_path / "history") as observed:
            assert changed(observed) == {"a.py": "M"}

    def test_relative_alternates_are_resolved(self, repository: Repository, tmp_path: Path):
        repository.git("clone", "--quiet", "--shared", ".", str(tmp_path / "one"))
        Repository(tmp_path / "one").git("clone", "--quiet", "--shared", ".", str(tmp_path / "two"))
        for name, other in (("one", "project"), ("two", "one")):
            borrowed = tmp_path / name / ".git" / "objects" / "info" / "alternates"
            borrowed.write_text(f"../../../{other}/.git/objects\n")
        assert see(tmp_path / "two") == {}

    def test_directory_name_with_line_break_is_supported(self, tmp_path: Path):
        repository = make_repository(tmp_path / 'od"d\nname', {"a.py": "a\n"})
        repository.write({"a.py": "b\n"})
        assert see(repository.path) == {"a.py": "M"}

    def test_own_temporary_directory_is_excluded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        repository = make_repository(tmp_path / "project", {"a.py": "a\n"})
        monkeypatch.setattr("tempfile.tempdir", str(repository.path))
        assert see(repository.path) == {}
        assert sorted(path.name for path in repository.path.iterdir()) == [".git", "a.py"]


class TestRevisions:
    def test_revisions_of_commits_and_trees_are_resolved(self, repository: Repository):
        first = repository.git("rev-parse", "HEAD")
        repository.git("tag", "--annotate", "v1", "--message", "v1")
        repository.git("pack-refs", "--all")
        repository.commit({"a.py": "a = 2\n"})
        with observe(repository.path) as observed:
            for name in (first, first[:10], "v1", "HEAD~1", "main^", "refs/tags/v1"):
                assert observed.resolve(name) == first
            tree = repository.git("rev-parse", "v1^{tree}")
            assert observed.resolve(tree) == tree
            assert observed.resolve(observed.empty_tree) == observed.empty_tree
            assert changed(observed, "v1") == changed(observed, tree) == {"a.py": "M"}
            assert changed(observed, observed.empty_tree) == {"a.py": "A", "src/b.py": "A"}

    @pytest.mark.parametrize(
        "name", ["nothing", "--help", "HEAD~9", "main..main", "a.py", "HEAD:a.py", "f" * 40]
    )
    def test_unknown_revision_is_reported(self, repository: Repository, name: str):
        with (
            observe(repository.path) as observed,
            pytest.raises(NoSuchRevision, match="No commit, branch or tag"),
        ):
            observed.resolve(name)

    @pytest.mark.parametrize("name", ["", " ", "HEAD\nHEAD", "HEAD\0"])
    def test_invalid_revision_is_refused(self, repository: Repository, name: str):
        with observe(repository.path) as observed, pytest.raises(Invalid):
            observed.resolve(name)

    def test_shallow_clone_explains_unknown_revision(self, repository: Repository, tmp_path: Path):
        repository.commit({"a.py": "a = 2\n"})
        repository.git("clone", "--quiet", "--depth=1", repository.path.as_uri(), str(tmp_path / "shallow"))
        with observe(tmp_path / "shallow") as observed:
            assert (observed.is_shallow, changed(observed)) == (True, {})
            with pytest.raises(NoSuchRevision) as told:
                observed.resolve("HEAD~1")
        assert told.value.hint == "This is a shallow clone. Fetch the full history: git fetch --unshallow"


class TestHistory:
    def test_commits_are_found_by_id_prefix_only(self, repository: Repository):
        first = repository.git("rev-parse", "HEAD")
        second = repository.commit({"a.py": "a = 2\n"})
        repository.git("branch", first[:8], second)
        blob = repository.git("rev-parse", "HEAD:a.py")
        with observe(repository.path) as observed:
            find = observed.history.find
            assert [find(first), find(first[:8]), find(second.upper())] == [first, first, second]
            assert [find(name) for name in (blob, "main", "HEAD", "", "fff", "f" * 40, "-x")] == [None] * 7

    def test_commits_since_are_listed_newest_first(self, repository: Repository):
        commits = [repository.git("rev-parse", "HEAD")]
        commits += [repository.commit({"a.py": f"a = {n}\n"}) for n in range(2, 5)]
        repository.git("checkout", "--quiet", "-b", "side", commits[0])
        side = repository.commit({"side.py": "s\n"})
        repository.git("checkout", "--quiet", "main")
        with observe(repository.path) as observed:
            assert observed.history.since(commits[3]) == []
            assert observed.history.since(commits[0]) == [commits[3], commits[2], commits[1]]
            assert observed.history.since(side) is None
            assert observed.history.since("f" * 40) is None

    def test_replace_refs_and_grafts_are_ignored(self, repository: Repository):
        first = repository.git("rev-parse", "HEAD")
        second = repository.commit({"a.py": "a = 2\n"})
        third = repository.commit({"a.py": "a = 3\n"})
        repository.git("replace", "--graft", third, first)
        (repository.path / ".git" / "info").mkdir(exist_ok=True)
        (repository.path / ".git" / "info" / "grafts").write_text(f"{third} {first}\n")
        with observe(repository.path) as observed:
            assert observed.history.since(first) == [third, second]

    def test_shallow_clone_raises_for_cut_history(self, repository: Repository, tmp_path: Path):
        first = repository.git("rev-parse", "HEAD")
        second = repository.commit({"a.py": "a = 2\n"})
        third = repository.commit({"a.py": "a = 3\n"})
        repository.git("clone", "--quiet", "--depth=2", repository.path.as_uri(), str(tmp_path / "shallow"))
        with observe(tmp_path / "shallow") as observed:
            assert observed.history.since(second) == [third]
            assert observed.history.find(first) is None
            with pytest.raises(HistoryIsCut, match="shallow"):
                observed.history.since(first)

    def test_shallow_edge_is_not_reported_as_change(self, repository: Repository, tmp_path: Path):
        """The old commit may be an ancestor of the other side behind the edge."""
        old = repository.git("rev-parse", "HEAD")
        repository.git("checkout", "--quiet", "-b", "side")
        repository.commit({"side.py": "1\n"})
        repository.git("checkout", "--quiet", "main")
        one = repository.commit({"a.py": "a = 2\n"})
        repository.git("merge", "--quiet", "--no-ff", "--message", "Merge", "side")
        repository.git("clone", "--quiet", "--depth=2", repository.path.as_uri(), str(tmp_path / "shallow"))
        with observe(tmp_path / "shallow") as observed:
            assert observed.history.find(old) is None
            with pytest.raises(HistoryIsCut):
                observed.history.since(one)

    def test_file_is_read_from_commit(self, repository: Repository):
        first = repository.commit(
            {"odd\nname": "odd", "naïve.py": "n", b"\xff".decode("utf-8", "surrogateescape"): "x"}
        )
        repository.commit({"a.py": "a = 2\n"})
        with observe(repository.path) as observed:
            read = observed.history.read
            assert read(first, "a.py") == b"a = 1\n"
            assert read(first, "odd\nname") == b"odd"
            assert read(first, "naïve.py") == b"n"
            assert read(first, "\udcff") == b"x"
            assert read(repository.git("rev-parse", "HEAD^{tree}"), "a.py") == b"a = 2\n"
            assert [read(first, name) for name in ("src", "no", "no\n", "", "a\0")] == [None] * 5
            assert read("HEAD", "a.py") is None

    def test_history_is_empty_before_first_commit(self, tmp_path: Path):
        repository = make_repository(tmp_path / "project")
        repository.write({"a.py": "a\n"})
        with observe(repository.path) as observed:
            assert (observed.head, observed.branch, changed(observed)) == (None, "main", {"a.py": "A"})
            assert observed.history.since("f" * 40) is None


class TestReading:
    def test_concurrent_reads_return_correct_content(self, repository: Repository):
        files = {f"f{number}.txt": f"{number}\n" * number * 100 for number in range(40)}
        repository.commit(files)
        with observe(repository.path) as observed, ThreadPoolExecutor(8) as pool:
            blobs = {each.path: each.blob for each in observed.entries if each.path in files}
            contents = dict(zip(blobs, pool.map(observed.read, list(blobs.values())), strict=True))
        assert contents == {name: text.encode() for name, text in files.items()}

    def test_killed_git_process_is_restarted(self, repository: Repository):
        blob = repository.git("rev-parse", "HEAD:a.py")
        with observe(repository.path) as observed:
            assert observed.read(blob) == b"a = 1\n"
            process = observed._objects._process
            assert process is not None
            process.kill()
            process.wait()
            with pytest.raises(BrokenRepository, match="stopped"):
                observed.read(blob)
            assert observed.read(blob) == b"a = 1\n"

    def test_oversized_object_is_refused(self, repository: Repository, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(git_process, "MAX_BYTES", 3)
        with observe(repository.path) as observed, pytest.raises(TooLarge):
            observed.read(repository.git("rev-parse", "HEAD:a.py"))


class TestGitCompatibility:
    def test_line_ends_follow_repository_settings(self, repository: Repository):
        repository.commit({".gitattributes": "*.txt text=auto eol=crlf\n", "t.txt": "one\ntwo\n"})
        repository.write({"t.txt": "one\r\ntwo\r\n", "a.py": "a = 1\r\n"})
        assert see(repository.path) == {"a.py": "M"}
        repository.git("config", "core.autocrlf", "true")
        assert see(repository.path) == {}

    def test_ignored_files_are_left_out(
        self, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (tmp_path / "global").write_text("by-user\n")
        (tmp_path / "gitconfig").write_text(f"[core]\n\texcludesFile = {tmp_path / 'global'}\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
        repository.write(
            {".gitignore": "by-project\n!src/by-user\n", "by-project": "", "by-user": "", "by-clone": ""}
        )
        repository.write({"src/by-user": "kept"})
        (repository.path / ".git" / "info").mkdir(exist_ok=True)
        (repository.path / ".git" / "info" / "exclude").write_text("by-clone\n")
        assert see(repository.path) == {".gitignore": "A", "src/by-user": "A"}

    def test_default_global_ignore_file_is_used(
        self, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        (tmp_path / ".config" / "git").mkdir(parents=True)
        (tmp_path / ".config" / "git" / "ignore").write_text("*.swp\n")
        repository.write({"a.swp": ""})
        assert see(repository.path) == {}

    def test_sha256_repositories_are_supported(self, tmp_path: Path):
        repository = make_repository(tmp_path / "project", {"a.py": "a = 1\n"}, "--object-format=sha256")
        repository.write({"a.py": "a = 2\n", "new.py": "n\n"})
        with observe(repository.path) as observed:
            assert changed(observed) == {"a.py": "M", "new.py": "A"}
            assert changed(observed, observed.empty_tree) == {"a.py": "A", "new.py": "A"}
            repository.git("add", "--all")
            assert observed.tree == repository.git("write-tree")

    def test_case_change_is_reported_as_rename(self, repository: Repository):
        (repository.path / "a.py").rename(repository.path / "A.py")
        assert see(repository.path) == {"A.py": "R"}

    def test_unmerged_paths_are_listed(self, repository: Repository):
        repository.git("checkout", "--quiet", "-b", "side")
        repository.commit({"a.py": "a = 2\n", "odd\nname": "x\n"})
        repository.git("checkout", "--quiet", "main")
        repository.git("rm", "--quiet", "a.py")
        repository.commit({"odd\nname": "y\n"})
        repository.git("merge", "side", check=False)
        with observe(repository.path) as observed:
            assert observed.unmerged == (b"a.py", b"odd\nname")
            assert "a.py" in paths(observed)

    def test_partial_clone_reports_missing_content(self, repository: Repository, tmp_path: Path):
        repository.git("config", "uploadpack.allowFilter", "true")
        repository.commit({"a.py": "a = 2\n"})
        clone = tmp_path / "partial"
        repository.git("clone", "--quiet", "--filter=blob:none", repository.path.as_uri(), str(clone))
        assert see(clone) == {}
        shutil.rmtree(repository.path)
        with pytest.raises(BrokenRepository), observe(clone) as observed:
            observed.changes(observed.resolve("HEAD~1"))

    def test_tree_id_equals_git_commit(self, repository: Repository):
        repository.write({"a.py": "a = 2\n", "new/deep.py": "n\n", "run.sh": "#!/bin/sh\n"})
        (repository.path / "run.sh").chmod(0o755)
        (repository.path / "src" / "b.py").unlink()
        (repository.path / "link").symlink_to("a.py")
        with observe(repository.path) as observed:
            tree, without = observed.tree, observed.tree_without(["a.py", "new/deep.py"])
        repository.git("add", "--all")
        assert tree == repository.git("write-tree")
        repository.git("rm", "--quiet", "--cached", "a.py", "new/deep.py")
        assert without == repository.git("write-tree")
