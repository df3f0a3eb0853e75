"""A repository that is broken or hostile is refused, and has no say in what git does."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.repositories import Repository, everything_below, make_repository
from tests.workspace.observing import changed, paths, see

from forge.errors import TooLarge, Unavailable
from forge.workspace import observed_git
from forge.workspace.observed import observe
from forge.workspace.observed_errors import (
    BrokenRepository,
    GitTooOld,
    NoSuchRevision,
)


class TestWhatIsBroken:
    def test_a_head_without_its_commit_is_broken_and_not_a_beginning(self, repository: Repository):
        head = repository.git("rev-parse", "HEAD")
        (repository.path / ".git" / "objects" / head[:2] / head[2:]).unlink()
        with observe(repository.path) as observed, pytest.raises(BrokenRepository, match="HEAD"):
            _ = observed.head

    @pytest.mark.parametrize("text", ["", "nonsense\n", "ref: \n", "0" * 40 + "\n"])
    def test_a_head_that_says_nothing_is_broken(self, repository: Repository, text: str):
        (repository.path / ".git" / "HEAD").write_text(text)
        with pytest.raises(BrokenRepository), observe(repository.path) as observed:
            _ = observed.head

    def test_a_branch_with_nonsense_in_it_is_broken(self, repository: Repository):
        (repository.path / ".git" / "refs" / "heads" / "main").write_text("nonsense\n")
        with pytest.raises(BrokenRepository), observe(repository.path) as observed:
            _ = observed.head

    def test_an_index_with_nonsense_in_it_is_broken(self, repository: Repository):
        (repository.path / ".git" / "index").write_bytes(b"DIRC nonsense")
        with pytest.raises(BrokenRepository, match="index"), observe(repository.path) as observed:
            _ = observed.tree

    def test_a_configuration_with_nonsense_in_it_is_broken(self, repository: Repository):
        (repository.path / ".git" / "config").write_text("[core\nnonsense")
        with pytest.raises(BrokenRepository, match="bad config"), observe(repository.path):
            pass

    @pytest.mark.parametrize("name", ["config", "HEAD", "index", "shallow", "info/exclude", "packed-refs"])
    def test_a_folder_or_a_pipe_for_a_file_of_git_is_broken(self, repository: Repository, name: str):
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

    def test_a_missing_content_is_said_when_it_is_needed(self, repository: Repository):
        blob = repository.git("rev-parse", "HEAD:a.py")
        (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        with observe(repository.path) as observed:
            assert paths(observed) == {"a.py": "100644", "src/b.py": "100644"}
            with pytest.raises(BrokenRepository, match="missing"):
                observed.read(blob)

    def test_formats_of_tomorrow_are_refused(self, repository: Repository):
        repository.git("config", "core.repositoryFormatVersion", "2")
        with pytest.raises(GitTooOld), observe(repository.path):
            pass

    def test_refs_in_another_format_are_refused(self, repository: Repository):
        (repository.path / ".git" / "config").write_text("[extensions]\n\trefStorage = reftable\n")
        with pytest.raises(GitTooOld, match="refs"), observe(repository.path):
            pass

    def test_without_git_it_is_said(self, repository: Repository, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(Unavailable, match="not installed"), observe(repository.path):
            pass

    def test_a_git_that_knows_less_is_called_too_old(self, repository: Repository):
        with observe(repository.path) as observed, pytest.raises(GitTooOld, match="does not know"):
            observed._mirror.git.run("ls-tree", "--no-such-option")

    def test_a_git_that_takes_too_long_is_ended(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(observed_git, "TIMEOUT_S", 0.5)
        os.mkfifo(repository.path / ".gitignore")
        with pytest.raises(Unavailable, match="took more than"), observe(repository.path) as observed:
            _ = observed.tree

    def test_a_git_that_says_too_much_is_ended(self, repository: Repository, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(observed_git, "MAX_OUTPUT", 10)
        with pytest.raises(TooLarge), observe(repository.path) as observed:
            _ = observed.tree


class TestHostility:
    @pytest.fixture
    def trap(self, tmp_path: Path) -> Iterator[Path]:
        """A program that leaves a trace when it is run."""
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

    def test_nothing_that_a_repository_configures_is_executed(
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

    def test_nothing_of_a_repository_is_written(self, repository: Repository):
        repository.commit({"x.py": "x\n"})
        repository.git("update-index", "--split-index", "--untracked-cache", check=False)
        repository.write({"a.py": "a = 2\n", "new.py": "n\n"})
        repository.git("add", "new.py")
        os.utime(repository.path / "src" / "b.py")
        before = everything_below(repository.path)
        with observe(repository.path) as observed:
            assert changed(observed) == {"a.py": "M", "new.py": "A"}
            observed.tree_without(["a.py"])
            list(observed.new_lines(observed.resolve("HEAD"), observed.changes(observed.resolve("HEAD"))))
            observed.history.since(observed.resolve("HEAD~1"))
        assert everything_below(repository.path) == before

    @pytest.mark.parametrize("is_packed", [False, True])
    def test_not_even_the_time_of_an_object_changes(self, repository: Repository, is_packed: bool):
        """git sets it when it writes what is there already: the same content under another name, an older state."""
        repository.commit({"a.py": "a = 2\n"})
        if is_packed:
            repository.git("gc", "--quiet")
        repository.write({"a.py": "a = 1\n", "copy.py": "b = 1\n", "other/b.py": "b = 1\n"})
        before = everything_below(repository.path)
        with observe(repository.path) as observed:
            assert changed(observed) == {"a.py": "M", "copy.py": "A", "other/b.py": "A"}
            assert changed(observed, "HEAD~1") == {"copy.py": "A", "other/b.py": "A"}
            observed.tree_without(["copy.py", "other/b.py"])
        assert everything_below(repository.path) == before

    def test_nothing_of_ours_is_left_behind(
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

    def test_attributes_do_not_make_a_text_binary(self, repository: Repository):
        repository.write({".gitattributes": "*.py binary -diff\n", "a.py": "a = 2\n"})
        with observe(repository.path) as observed:
            change = next(each for each in observed.changes(observed.resolve("HEAD")) if each.path == "a.py")
        assert (change.added, change.removed, change.is_binary) == (1, 1, False)

    def test_another_encoding_is_not_believed(self, repository: Repository):
        repository.write({".gitattributes": "*.py working-tree-encoding=UTF-16\n", "a.py": "a = 2\n"})
        assert see(repository.path) == {".gitattributes": "A", "a.py": "M"}


class TestMarks:
    """What an index can say to keep git from looking."""

    @pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
    def test_a_mark_does_not_hide_a_change_or_a_deletion(self, repository: Repository, mark: str):
        repository.git("update-index", mark, "a.py", "src/b.py")
        repository.write({"a.py": "evil\n"})
        (repository.path / "src" / "b.py").unlink()
        assert repository.git("status", "--porcelain") == ""
        assert see(repository.path) == {"a.py": "M", "src/b.py": "D"}

    @pytest.mark.parametrize("options", [(), ("--sparse-index",)])
    def test_a_sparse_checkout_leaves_out_what_it_means_to(
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

    def test_a_monitor_of_files_is_not_believed(self, repository: Repository, tmp_path: Path):
        monitor = tmp_path / "monitor"
        monitor.write_text("#!/bin/sh\nprintf 'token\\0'\n")  # nothing ever changes
        monitor.chmod(0o755)
        repository.git("config", "core.fsmonitor", str(monitor))
        repository.git("update-index", "--fsmonitor")
        repository.git("status")
        repository.git("update-index", "--fsmonitor-valid", "a.py")
        repository.write({"a.py": "a = 2\n", "new.py": "n\n"})
        assert repository.git("diff", "--name-only") == ""
        assert see(repository.path) == {"a.py": "M", "new.py": "A"}

    def test_a_cache_of_untracked_files_is_not_believed(self, repository: Repository):
        repository.git("update-index", "--untracked-cache", check=False)
        repository.git("status")
        repository.write({"src/new.py": "n\n"})
        assert see(repository.path) == {"src/new.py": "A"}

    def test_a_split_index_is_read_whole(self, repository: Repository):
        repository.git("config", "core.splitIndex", "true")
        repository.git("update-index", "--split-index")
        repository.commit({"c.py": "c\n"})
        assert list((repository.path / ".git").glob("sharedindex.*"))
        assert see(repository.path) == {}

    def test_a_change_of_the_same_size_in_the_same_moment_is_seen(self, repository: Repository):
        """The copy of the index must not look younger than the file."""
        for number in range(5):
            repository.write({"a.py": f"a = {number}\n"})
            repository.git("add", "a.py")
            repository.write({"a.py": "a = 9\n"})
            assert see(repository.path) == {"a.py": "M"}
            with observe(repository.path) as observed:
                blob = next(each.blob for each in observed.entries if each.path == "a.py")
                assert observed.read(blob) == b"a = 9\n"

    def test_a_claim_that_case_does_not_matter_is_not_believed(self, repository: Repository):
        if (repository.path / "A.PY").exists():
            pytest.skip("case does not matter on this disk")
        repository.git("config", "core.ignoreCase", "true")
        repository.write({"A.py": "evil\n"})
        assert see(repository.path) == {"A.py": "A"}

    def test_a_file_that_is_only_intended_is_seen_as_it_is(self, repository: Repository):
        repository.write({"new.py": "n\n", "gone.py": "g\n"})
        repository.git("add", "--intent-to-add", "new.py", "gone.py")
        (repository.path / "gone.py").unlink()
        with observe(repository.path) as observed:
            assert changed(observed) == {"new.py": "A"}
            blob = next(each.blob for each in observed.entries if each.path == "new.py")
            assert observed.read(blob) == b"n\n"
