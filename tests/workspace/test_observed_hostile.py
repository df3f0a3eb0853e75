"""Observing a broken or hostile repository: it is refused or cannot influence git."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.repositories import Repository, make_repository, snapshot_tree
from tests.workspace.observed_helpers import changed, paths, see

from forge.errors import TooLarge, Unavailable
from forge.workspace.observed import git_process
from forge.workspace.observed.errors import (
    BrokenRepository,
    GitTooOld,
    NoSuchRevision,
)
from forge.workspace.observed.observed_repository import observe


class TestBrokenRepositories:
    def test_head_with_missing_commit_is_broken(self, repository: Repository):
        head = repository.git("rev-parse", "HEAD")
        (repository.path / ".git" / "objects" / head[:2] / head[2:]).unlink()
        with observe(repository.path) as observed, pytest.raises(BrokenRepository, match="HEAD"):
            _ = observed.head

    @pytest.mark.parametrize("text", ["", "nonsense\n", "ref: \n", "0" * 40 + "\n"])
    def test_invalid_head_is_broken(self, repository: Repository, text: str):
        (repository.path / ".git" / "HEAD").write_text(text)
        with pytest.raises(BrokenRepository), observe(repository.path) as observed:
            _ = observed.head

    def test_invalid_branch_is_broken(self, repository: Repository):
        (repository.path / ".git" / "refs" / "heads" / "main").write_text("nonsense\n")
        with pytest.raises(BrokenRepository), observe(repository.path) as observed:
            _ = observed.head

    def test_invalid_index_is_broken(self, repository: Repository):
        (repository.path / ".git" / "index").write_bytes(b"DIRC nonsense")
        with pytest.raises(BrokenRepository, match="index"), observe(repository.path) as observed:
            _ = observed.tree

    def test_invalid_configuration_is_broken(self, repository: Repository):
        (repository.path / ".git" / "config").write_text("[core\nnonsense")
        with pytest.raises(BrokenRepository, match="bad config"), observe(repository.path):
            pass

    @pytest.mark.parametrize("name", ["config", "HEAD", "index", "shallow", "info/exclude", "packed-refs"])
    def test_directory_or_pipe_instead_of_git_file_is_broken(self, repository: Repository, name: str):
        path = repository.path / ".git" / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.mkdir()
        with pytest.raises(BrokenRepository), observe(repository.path) as observed:
            changed(observed)
        path.rmdir()
        os.mkfifo(path)
        with pytest.raises(BrokenRepository), observe(repository.path) as observed:
            changed(observed)

    def test_missing_content_is_reported_on_read(self, repository: Repository):
        blob = repository.git("rev-parse", "HEAD:a.py")
        (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        with observe(repository.path) as observed:
            assert paths(observed) == {"a.py": "100644", "src/b.py": "100644"}
            with pytest.raises(BrokenRepository, match="missing"):
                observed.read(blob)

    def test_newer_repository_format_is_refused(self, repository: Repository):
        repository.git("config", "core.repositoryFormatVersion", "2")
        with pytest.raises(GitTooOld), observe(repository.path):
            pass

    def test_reftable_format_is_refused(self, repository: Repository):
        (repository.path / ".git" / "config").write_text("[extensions]\n\trefStorage = reftable\n")
        with pytest.raises(GitTooOld, match="refs"), observe(repository.path):
            pass

    def test_missing_git_is_reported(self, repository: Repository, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(Unavailable, match="not installed"), observe(repository.path):
            pass

    def test_unsupported_option_means_git_is_too_old(self, repository: Repository):
        with observe(repository.path) as observed, pytest.raises(GitTooOld, match="does not support"):
            observed._mirror.git.run("ls-tree", "--no-such-option")

    def test_slow_git_is_killed(self, repository: Repository, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(git_process, "TIMEOUT_S", 0.5)
        os.mkfifo(repository.path / ".gitignore")
        with pytest.raises(Unavailable, match="took more than"), observe(repository.path) as observed:
            _ = observed.tree

    def test_git_with_too_much_output_is_killed(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(git_process, "MAX_OUTPUT", 10)
        with pytest.raises(TooLarge), observe(repository.path) as observed:
            _ = observed.tree


class TestHostileConfiguration:
    @pytest.fixture
    def trap(self, tmp_path: Path) -> Iterator[Path]:
        """Create a program that leaves a mark when it is run."""
        trace = tmp_path / "executed"
        trap = tmp_path / "trap.sh"
        trap.write_text(f"#!/bin/sh\necho $0 $* >> {trace}\ncat 2>/dev/null\n")
        trap.chmod(0o755)
        yield trap
        assert not trace.exists(), trace.read_text()

    def arm(self, git_dir: Path, trap: Path) -> None:
        (git_dir / "hooks").mkdir(exist_ok=True)
        for hook in (
            "post-index-change",
            "pre-commit",
            "reference-transaction",
            "fsmonitor-watchman",
            "post-checkout",
        ):
            shutil.copy(trap, git_dir / "hooks" / hook)
        included = git_dir / "included"
        included.write_text(f"[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n")
        with (git_dir / "config").open("a") as config:
            config.write(
                f"[include]\n\tpath = {included}\n"
                f'[filter "evil"]\n\tclean = {trap}\n\tsmudge = {trap}\n\tprocess = {trap}\n\trequired = true\n'
                f'[diff "evil"]\n\tcommand = {trap}\n\ttextconv = {trap}\n[diff]\n\texternal = {trap}\n'
                f'[merge "evil"]\n\tdriver = {trap}\n'
                f"[core]\n\tfsmonitor = {trap}\n\tsshCommand = {trap}\n\teditor = {trap}\n\tpager = {trap}\n"
                f"\thooksPath = {git_dir / 'hooks'}\n\taskPass = {trap}\n\tgitProxy = {trap}\n"
                f"\talternateRefsCommand = {trap}\n"
                f"[credential]\n\thelper = {trap}\n[gpg]\n\tprogram = {trap}\n[sequence]\n\teditor = {trap}\n"
                f'[alias]\n\tls-files = !{trap}\n\tdiff-tree = !{trap}\n[remote "origin"]\n\turl = ext::{trap}\n'
                f"\tuploadpack = {trap}\n\tpromisor = true\n\tpartialclonefilter = blob:none\n"
                f'[submodule "lib"]\n\tupdate = !{trap}\n\tignore = none\n[trailer "x"]\n\tcommand = {trap}\n'
            )

    def test_repository_configuration_executes_nothing(
        self, repository: Repository, trap: Path, tmp_path: Path
    ):
        lib = make_repository(tmp_path / "lib", {"lib.py": "l\n"})
        repository.git("submodule", "--quiet", "add", str(lib.path), "lib")
        repository.commit({"old.py": "a\nb\nc\n", "c.txt": "c\n"})
        repository.write(
            {".gitattributes": "* filter=evil diff=evil merge=evil ident text\n", "a.py": "a = 2\n"}
        )
        repository.write({"lib/lib.py": "changed\n", "new.py": "n\n", "sub/deep/new.bin": b"\0"})
        (repository.path / "old.py").rename(repository.path / "renamed.py")
        make_repository(repository.path / "nested", {"n.py": "n\n"})
        for git_dir in (".git", ".git/modules/lib", "nested/.git"):
            self.arm(repository.path / git_dir, trap)
        with observe(repository.path) as observed:
            found = observed.changes(observed.resolve("HEAD"))
            assert {each.path: each.status for each in found} == {
                ".gitattributes": "A",
                "a.py": "M",
                "new.py": "A",
                "sub/deep/new.bin": "A",
                "renamed.py": "R",
                "nested": "A",
                "lib": "M",
            }
            assert len(list(observed.new_lines(observed.resolve("HEAD"), found))) == 3
            for entry in observed.entries:
                if entry.mode != "160000":
                    observed.read(entry.blob)
            assert observed.history.since(observed.resolve("HEAD~1")) == [observed.head]
            with pytest.raises(NoSuchRevision):
                observed.resolve("f" * 40)

    def test_repository_is_not_modified(self, repository: Repository):
        repository.commit({"x.py": "x\n"})
        repository.git("update-index", "--split-index", "--untracked-cache", check=False)
        repository.write({"a.py": "a = 2\n", "new.py": "n\n"})
        repository.git("add", "new.py")
        os.utime(repository.path / "src" / "b.py")
        before = snapshot_tree(repository.path)
        with observe(repository.path) as observed:
            assert changed(observed) == {"a.py": "M", "new.py": "A"}
            observed.tree_without(["a.py"])
            list(observed.new_lines(observed.resolve("HEAD"), observed.changes(observed.resolve("HEAD"))))
            observed.history.since(observed.resolve("HEAD~1"))
        assert snapshot_tree(repository.path) == before

    @pytest.mark.parametrize("is_packed", [False, True])
    def test_object_times_do_not_change(self, repository: Repository, is_packed: bool):
        """git updates the time when it writes an object that exists: the same content under another name, an older
        state."""
        repository.commit({"a.py": "a = 2\n"})
        if is_packed:
            repository.git("gc", "--quiet")
        repository.write({"a.py": "a = 1\n", "copy.py": "b = 1\n", "other/b.py": "b = 1\n"})
        before = snapshot_tree(repository.path)
        with observe(repository.path) as observed:
            assert changed(observed) == {"a.py": "M", "copy.py": "A", "other/b.py": "A"}
            assert changed(observed, "HEAD~1") == {"copy.py": "A", "other/b.py": "A"}
            observed.tree_without(["copy.py", "other/b.py"])
        assert snapshot_tree(repository.path) == before

    def test_temporary_files_and_processes_are_cleaned_up(
        self, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (tmp_path / "tmp").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        blob = repository.git("rev-parse", "HEAD:a.py")
        processes: list[subprocess.Popen[bytes] | None] = []
        with pytest.raises(RuntimeError, match="in between"), observe(repository.path) as observed:
            assert observed.read(blob) == b"a = 1\n"
            processes.append(observed._objects._process)
            raise RuntimeError("in between")
        assert list((tmp_path / "tmp").iterdir()) == []
        assert [process and process.returncode for process in processes] == [-9]
        with pytest.raises(Unavailable):
            observed.history.find(blob)

    def test_attributes_do_not_make_text_binary(self, repository: Repository):
        repository.write({".gitattributes": "*.py binary -diff\n", "a.py": "a = 2\n"})
        with observe(repository.path) as observed:
            change = next(each for each in observed.changes(observed.resolve("HEAD")) if each.path == "a.py")
        assert (change.added, change.removed, change.is_binary) == (1, 1, False)

    def test_working_tree_encoding_is_ignored(self, repository: Repository):
        repository.write({".gitattributes": "*.py working-tree-encoding=UTF-16\n", "a.py": "a = 2\n"})
        assert see(repository.path) == {".gitattributes": "A", "a.py": "M"}


class TestIndexFeatures:
    """Index features that can keep git from looking at files."""

    @pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
    def test_index_flags_do_not_hide_changes(self, repository: Repository, mark: str):
        repository.git("update-index", mark, "a.py", "src/b.py")
        repository.write({"a.py": "evil\n"})
        (repository.path / "src" / "b.py").unlink()
        assert repository.git("status", "--porcelain") == ""
        assert see(repository.path) == {"a.py": "M", "src/b.py": "D"}

    @pytest.mark.parametrize("options", [(), ("--sparse-index",)])
    def test_sparse_checkout_does_not_report_missing_files(
        self, repository: Repository, options: tuple[str, ...]
    ):
        repository.commit({"docs/d.md": "d\n", "docs/deep/e.md": "e\n"})
        repository.git("sparse-checkout", "set", "--cone", *options, "src")
        assert not (repository.path / "docs").exists()
        assert see(repository.path) == {}
        repository.write({"docs/d.md": "evil\n", "docs/new.md": "n\n"})
        assert see(repository.path) == {"docs/d.md": "M", "docs/new.md": "A"}
        with observe(repository.path) as observed:
            assert set(paths(observed)) == {"a.py", "src/b.py", "docs/d.md", "docs/deep/e.md", "docs/new.md"}

    def test_fsmonitor_is_ignored(self, repository: Repository, tmp_path: Path):
        monitor = tmp_path / "monitor"
        monitor.write_text("#!/bin/sh\nprintf 'token\\0'\n")  # the state never changes
        monitor.chmod(0o755)
        repository.git("config", "core.fsmonitor", str(monitor))
        repository.git("update-index", "--fsmonitor")
        repository.git("status")
        repository.git("update-index", "--fsmonitor-valid", "a.py")
        repository.write({"a.py": "a = 2\n", "new.py": "n\n"})
        assert repository.git("diff", "--name-only") == ""
        assert see(repository.path) == {"a.py": "M", "new.py": "A"}

    def test_untracked_cache_is_ignored(self, repository: Repository):
        repository.git("update-index", "--untracked-cache", check=False)
        repository.git("status")
        repository.write({"src/new.py": "n\n"})
        assert see(repository.path) == {"src/new.py": "A"}

    def test_split_index_is_supported(self, repository: Repository):
        repository.git("config", "core.splitIndex", "true")
        repository.git("update-index", "--split-index")
        repository.commit({"c.py": "c\n"})
        assert list((repository.path / ".git").glob("sharedindex.*"))
        assert see(repository.path) == {}

    def test_racy_change_of_same_size_is_detected(self, repository: Repository):
        """The copy of the index must not appear newer than the file."""
        for number in range(5):
            repository.write({"a.py": f"a = {number}\n"})
            repository.git("add", "a.py")
            repository.write({"a.py": "a = 9\n"})
            assert see(repository.path) == {"a.py": "M"}
            with observe(repository.path) as observed:
                blob = next(each.blob for each in observed.entries if each.path == "a.py")
                assert observed.read(blob) == b"a = 9\n"

    def test_ignorecase_setting_is_not_trusted(self, repository: Repository):
        if (repository.path / "A.PY").exists():
            pytest.skip("case does not matter on this disk")
        repository.git("config", "core.ignoreCase", "true")
        repository.write({"A.py": "evil\n"})
        assert see(repository.path) == {"A.py": "A"}

    def test_intent_to_add_file_is_reported(self, repository: Repository):
        repository.write({"new.py": "n\n", "gone.py": "g\n"})
        repository.git("add", "--intent-to-add", "new.py", "gone.py")
        (repository.path / "gone.py").unlink()
        with observe(repository.path) as observed:
            assert changed(observed) == {"new.py": "A"}
            blob = next(each.blob for each in observed.entries if each.path == "new.py")
            assert observed.read(blob) == b"n\n"
