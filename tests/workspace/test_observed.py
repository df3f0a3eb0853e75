"""A repository of somebody else is seen as it is, is not touched, and has no say in what git does."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.repositories import Repository, everything_below, make_repository

from forge.errors import Invalid, TooLarge, Unavailable
from forge.workspace import observed_git, observed_nested, observed_objects, observed_stage
from forge.workspace.errors import NoSuchPath
from forge.workspace.observed import Observed, observe
from forge.workspace.observed_errors import (
    BareRepository,
    BrokenRepository,
    CannotBeRead,
    GitTooOld,
    HistoryIsCut,
    NoSuchRevision,
    NotARepository,
    TooManyNested,
    TooMuchToHash,
)

NOBODY = 65534


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "project", {"a.py": "a = 1\n", "src/b.py": "b = 1\n"})


def changed(observed: Observed, base: str | None = None) -> dict[str, str]:
    """The letter git has for each path that changed."""
    start = observed.head if base is None else observed.resolve(base)
    return {each.path: each.status for each in observed.changes(start or observed.empty_tree)}


def see(path: Path) -> dict[str, str]:
    with observe(path) as observed:
        return changed(observed)


def tree_of(path: Path) -> str:
    with observe(path) as observed:
        return observed.tree


def with_submodule(repository: Repository, folder: Path) -> Repository:
    lib = make_repository(folder / "lib", {"lib.py": "l\n", ".gitignore": "*.log\n"})
    repository.git("submodule", "--quiet", "add", str(lib.path), "lib")
    repository.commit()
    return Repository(repository.path / "lib")


def paths(observed: Observed) -> dict[str, str]:
    return {each.path: each.mode for each in observed.entries}


class TestWhereItIs:
    def test_a_path_inside_leads_to_the_top(self, repository: Repository):
        for path in ("", "src", "src/b.py"):
            with observe(repository.path / path) as observed:
                assert observed.root == repository.path

    def test_a_folder_without_a_repository_is_said_to_be_none(self, tmp_path: Path):
        with pytest.raises(NotARepository, match="not in a git repository"), observe(tmp_path):
            pass

    def test_a_path_that_is_not_there_is_said_to_be_none(self, tmp_path: Path):
        loop = tmp_path / "loop"
        loop.symlink_to("loop")
        for path in (tmp_path / "nothing", loop):
            with pytest.raises(NoSuchPath, match="There is no"), observe(path):
                pass

    def test_a_bare_repository_and_the_inside_of_one_have_no_files(
        self, tmp_path: Path, repository: Repository
    ):
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
    def test_a_git_file_that_leads_nowhere_is_broken(self, tmp_path: Path, pointer: bytes):
        (tmp_path / ".git").write_bytes(pointer)
        with pytest.raises(BrokenRepository), observe(tmp_path):
            pass

    def test_a_pipe_for_a_git_file_is_not_waited_for(self, tmp_path: Path):
        os.mkfifo(tmp_path / ".git")
        with pytest.raises(BrokenRepository, match="not a regular file"), observe(tmp_path):
            pass

    def test_a_repository_of_another_user_needs_no_exception(self, repository: Repository):
        if os.getuid() != 0:
            pytest.skip("only root can give files away")
        for path in (repository.path, *repository.path.rglob("*")):
            os.lchown(path, NOBODY, NOBODY)
        assert see(repository.path) == {}

    def test_a_linked_work_tree_has_its_own_head_and_index(self, repository: Repository, tmp_path: Path):
        repository.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
        (tmp_path / "side" / "new.py").write_text("n\n")
        with observe(tmp_path / "side") as observed:
            assert (observed.branch, changed(observed)) == ("side", {"new.py": "A"})
        assert see(repository.path) == {}

    def test_a_work_tree_of_a_bare_repository_is_fine(self, repository: Repository, tmp_path: Path):
        repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
        Repository(tmp_path / "bare.git").git("worktree", "add", "--quiet", str(tmp_path / "tree"), "main")
        assert see(tmp_path / "tree") == {}

    def test_a_history_kept_elsewhere_is_found_where_it_is_said_to_be(
        self, repository: Repository, tmp_path: Path
    ):
        (repository.path / ".git").rename(tmp_path / "history")
        repository.write({"a.py": "a = 2\n"})
        with observe(repository.path, git_dir=tmp_path / "history") as observed:
            assert changed(observed) == {"a.py": "M"}

    def test_objects_borrowed_through_relative_lists_are_found(self, repository: Repository, tmp_path: Path):
        repository.git("clone", "--quiet", "--shared", ".", str(tmp_path / "one"))
        Repository(tmp_path / "one").git("clone", "--quiet", "--shared", ".", str(tmp_path / "two"))
        for name, other in (("one", "project"), ("two", "one")):
            borrowed = tmp_path / name / ".git" / "objects" / "info" / "alternates"
            borrowed.write_text(f"../../../{other}/.git/objects\n")
        assert see(tmp_path / "two") == {}

    def test_a_folder_with_a_line_break_in_its_name_is_fine(self, tmp_path: Path):
        repository = make_repository(tmp_path / 'od"d\nname', {"a.py": "a\n"})
        repository.write({"a.py": "b\n"})
        assert see(repository.path) == {"a.py": "M"}

    def test_the_folder_of_temporary_files_does_not_see_ours(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        repository = make_repository(tmp_path / "project", {"a.py": "a\n"})
        monkeypatch.setattr("tempfile.tempdir", str(repository.path))
        assert see(repository.path) == {}
        assert sorted(path.name for path in repository.path.iterdir()) == [".git", "a.py"]


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


class TestRevisions:
    def test_anything_that_names_a_commit_or_a_tree_is_a_base(self, repository: Repository):
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
    def test_what_names_nothing_is_said_to_be_unknown(self, repository: Repository, name: str):
        with observe(repository.path) as observed, pytest.raises(NoSuchRevision, match="no one commit"):
            observed.resolve(name)

    @pytest.mark.parametrize("name", ["", " ", "HEAD\nHEAD", "HEAD\0"])
    def test_what_cannot_be_a_name_is_refused(self, repository: Repository, name: str):
        with observe(repository.path) as observed, pytest.raises(Invalid):
            observed.resolve(name)

    def test_a_shallow_clone_says_why_a_base_is_unknown(self, repository: Repository, tmp_path: Path):
        repository.commit({"a.py": "a = 2\n"})
        repository.git("clone", "--quiet", "--depth=1", repository.path.as_uri(), str(tmp_path / "shallow"))
        with observe(tmp_path / "shallow") as observed:
            assert (observed.is_shallow, changed(observed)) == (True, {})
            with pytest.raises(NoSuchRevision) as told:
                observed.resolve("HEAD~1")
        assert told.value.hint == "This is a shallow clone, its history is cut: git fetch --unshallow."


class TestHistory:
    def test_commits_are_found_by_the_beginning_of_their_ids_only(self, repository: Repository):
        first = repository.git("rev-parse", "HEAD")
        second = repository.commit({"a.py": "a = 2\n"})
        repository.git("branch", first[:8], second)
        blob = repository.git("rev-parse", "HEAD:a.py")
        with observe(repository.path) as observed:
            find = observed.history.find
            assert [find(first), find(first[:8]), find(second.upper())] == [first, first, second]
            assert [find(name) for name in (blob, "main", "HEAD", "", "fff", "f" * 40, "-x")] == [None] * 7

    def test_what_came_since_is_told_newest_first(self, repository: Repository):
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

    def test_replaced_commits_and_grafts_tell_no_other_history(self, repository: Repository):
        first = repository.git("rev-parse", "HEAD")
        second = repository.commit({"a.py": "a = 2\n"})
        third = repository.commit({"a.py": "a = 3\n"})
        repository.git("replace", "--graft", third, first)
        (repository.path / ".git" / "info").mkdir(exist_ok=True)
        (repository.path / ".git" / "info" / "grafts").write_text(f"{third} {first}\n")
        with observe(repository.path) as observed:
            assert observed.history.since(first) == [third, second]

    def test_a_shallow_clone_does_not_pretend_to_know(self, repository: Repository, tmp_path: Path):
        first = repository.git("rev-parse", "HEAD")
        second = repository.commit({"a.py": "a = 2\n"})
        third = repository.commit({"a.py": "a = 3\n"})
        repository.git("clone", "--quiet", "--depth=2", repository.path.as_uri(), str(tmp_path / "shallow"))
        with observe(tmp_path / "shallow") as observed:
            assert observed.history.since(second) == [third]
            assert observed.history.find(first) is None
            with pytest.raises(HistoryIsCut, match="shallow"):
                observed.history.since(first)

    def test_a_shallow_clone_does_not_take_the_edge_for_news(self, repository: Repository, tmp_path: Path):
        """Behind the edge the old commit may well be an ancestor of the other side."""
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

    def test_a_file_is_read_as_it_was(self, repository: Repository):
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

    def test_before_the_first_commit_there_is_no_history(self, tmp_path: Path):
        repository = make_repository(tmp_path / "project")
        repository.write({"a.py": "a\n"})
        with observe(repository.path) as observed:
            assert (observed.head, observed.branch, changed(observed)) == (None, "main", {"a.py": "A"})
            assert observed.history.since("f" * 40) is None


class TestReading:
    def test_many_threads_may_read_at_once(self, repository: Repository):
        files = {f"f{number}.txt": f"{number}\n" * number * 100 for number in range(40)}
        repository.commit(files)
        with observe(repository.path) as observed, ThreadPoolExecutor(8) as pool:
            blobs = {each.path: each.blob for each in observed.entries if each.path in files}
            contents = dict(zip(blobs, pool.map(observed.read, list(blobs.values())), strict=True))
        assert contents == {name: text.encode() for name, text in files.items()}

    def test_a_git_that_was_killed_is_started_again(self, repository: Repository):
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

    def test_an_object_larger_than_anybody_reads_is_refused(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(observed_objects, "MOST_BYTES", 3)
        with observe(repository.path) as observed, pytest.raises(TooLarge):
            observed.read(repository.git("rev-parse", "HEAD:a.py"))


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


class TestStrangeFiles:
    def test_pipes_and_sockets_are_no_files(self, repository: Repository):
        os.mkfifo(repository.path / "pipe")
        (repository.path / "a.py").unlink()
        os.mkfifo(repository.path / "a.py")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(repository.path / "socket"))
            assert see(repository.path) == {"a.py": "D"}

    def test_links_are_kept_as_links_and_loops_do_not_matter(self, repository: Repository):
        (repository.path / "loop").symlink_to("loop")
        (repository.path / "up").symlink_to("..")
        (repository.path / "out").symlink_to("/etc/passwd")
        with observe(repository.path) as observed:
            modes = paths(observed)
            assert {name: modes[name] for name in ("loop", "up", "out")} == dict.fromkeys(
                ("loop", "up", "out"), "120000"
            )
            assert (
                observed.read(next(each.blob for each in observed.entries if each.path == "out"))
                == b"/etc/passwd"
            )

    @pytest.mark.parametrize("is_ignored", [False, True])
    def test_a_folder_that_became_a_link_has_no_files(
        self, repository: Repository, tmp_path: Path, is_ignored: bool
    ):
        (repository.path / "src").rename(tmp_path / "elsewhere")
        (repository.path / "src").symlink_to(tmp_path / "elsewhere")
        if is_ignored:
            repository.commit({".gitignore": ""})
            repository.git("reset", "--quiet", "--soft", "HEAD~1")
            repository.git("reset", "--quiet", "--mixed")
            repository.write({".gitignore": "src\n"})
            assert see(repository.path) == {".gitignore": "A", "src/b.py": "D"}
        else:
            assert see(repository.path) == {"src": "A", "src/b.py": "D"}

    def test_a_file_and_a_folder_can_change_places(self, repository: Repository):
        (repository.path / "a.py").unlink()
        repository.write({"a.py/inner.py": "i\n"})
        (repository.path / "src" / "b.py").unlink()
        (repository.path / "src").rmdir()
        repository.write({"src": "a file now\n"})
        assert see(repository.path) == {"a.py": "D", "a.py/inner.py": "A", "src": "A", "src/b.py": "D"}

    def test_names_of_any_bytes_are_names(self, repository: Repository):
        names = [
            "new\nline",
            'quo"te',
            "back\\slash",
            "tab\t",
            " blank ",
            "-x",
            ":(top)x",
            "*",
            "naïve",
            "\udcff\udcfe",
        ]
        names += ["git~1", "CON", "a:b", "~", "#x", "!x", "? x", "H 1 2", "nai\u0308ve"]
        for name in names:
            (repository.path / name).write_text("one\ntwo\n")
        with observe(repository.path) as observed:
            found = observed.changes(observed.resolve("HEAD"))
            assert {each.path: (each.status, each.added) for each in found} == dict.fromkeys(names, ("A", 2))
            lines = list(observed.new_lines(observed.resolve("HEAD"), found))
        assert sorted(lines) == sorted(
            (name, n, text) for name in names for n, text in ((1, b"one"), (2, b"two"))
        )

    def test_a_file_nobody_may_read_is_named(self, repository: Repository):
        repository.write({"secret.py": "s\n", "other.py": "o\n"})
        (repository.path / "secret.py").chmod(0)
        if os.access(repository.path / "secret.py", os.R_OK):
            told = _tell_nobody(repository.path)
            assert "CannotBeRead: These files of the project cannot be read: 'secret.py'." in told
        else:
            with pytest.raises(CannotBeRead, match=r"secret\.py"), observe(repository.path) as observed:
                _ = observed.tree

    @pytest.mark.parametrize("name", ["src", "new"])
    def test_a_folder_nobody_may_look_into_is_not_empty(self, repository: Repository, name: str):
        repository.write({"new/evil.py": "e\n"})
        (repository.path / name).chmod(0)
        told = _tell_nobody(repository.path) if os.getuid() == 0 else _tell(repository.path)
        assert "CannotBeRead: " in told
        assert name in told

    def test_repositories_inside_are_one_name_each(self, repository: Repository):
        nested = make_repository(repository.path / "nested", {"n.py": "n\n"})
        empty = make_repository(repository.path / "deep" / "empty")
        empty.write({"evil.py": "e\n"})
        (repository.path / "fake" / ".git").mkdir(parents=True)
        repository.write({"fake/f.py": "f\n"})
        with observe(repository.path) as observed:
            assert changed(observed) == {"nested": "A", "deep/empty": "A", "fake/f.py": "A"}
            found = {each.path: (each.mode, each.blob) for each in observed.entries}
        assert found["nested"] == ("160000", nested.git("rev-parse", "HEAD"))
        assert found["deep/empty"][0] == "160000"
        empty.write({"evil.py": "worse\n"})
        with observe(repository.path) as observed:
            again = {each.path: (each.mode, each.blob) for each in observed.entries}
        assert {path for path in found if found[path] != again[path]} == {"deep/empty"}

    def test_a_submodule_counts_by_its_commit(self, repository: Repository, tmp_path: Path):
        lib = make_repository(tmp_path / "lib", {"lib.py": "l\n"})
        repository.git("submodule", "--quiet", "add", str(lib.path), "lib")
        repository.commit()
        assert see(repository.path) == {}
        inside = Repository(repository.path / "lib")
        inside.commit({"lib.py": "changed\n"})
        assert see(repository.path) == {"lib": "M"}
        repository.git("submodule", "--quiet", "deinit", "--force", "lib")
        assert see(repository.path) == {}
        (repository.path / "lib").rmdir()
        assert see(repository.path) == {"lib": "D"}

    @pytest.mark.parametrize(
        "files",
        [{"lib.py": "changed\n"}, {"new.py": "new\n"}, {"deep/in/new.py": "new\n"}],
        ids=["modified", "new", "deep"],
    )
    def test_what_is_different_in_a_submodule_is_a_change_of_it(
        self, repository: Repository, tmp_path: Path, files: dict[str, str]
    ):
        inside = with_submodule(repository, tmp_path)
        clean = tree_of(repository.path)
        inside.write(files)
        dirty = tree_of(repository.path)
        inside.git("add", "--all")
        assert (see(repository.path), tree_of(repository.path)) == ({"lib": "M"}, dirty)
        inside.write(dict.fromkeys(files, "other\n"))
        assert len({clean, dirty, tree_of(repository.path)}) == 3
        inside.git("reset", "--quiet", "--hard")
        inside.git("clean", "-qfd")
        assert (see(repository.path), tree_of(repository.path)) == ({}, clean)

    def test_a_deleted_file_of_a_submodule_is_a_change_and_an_ignored_one_is_none(
        self, repository: Repository, tmp_path: Path
    ):
        inside = with_submodule(repository, tmp_path)
        inside.write({"x.log": "ignored\n"})
        assert see(repository.path) == {}
        (inside.path / "lib.py").unlink()
        assert see(repository.path) == {"lib": "M"}

    def test_what_is_different_in_a_submodule_of_a_submodule_is_seen(
        self, repository: Repository, tmp_path: Path
    ):
        inside = with_submodule(repository, tmp_path)
        deep = with_submodule(inside, tmp_path / "deeper")
        repository.commit()
        assert see(repository.path) == {}
        deep.write({"lib.py": "changed\n"})
        assert see(repository.path) == {"lib": "M"}

    @pytest.mark.parametrize(
        "text",
        [
            b"gitdir: /nowhere\n",
            b"junk",
            b"",
            b"gitdir: a\0b",
            b"gitdir: " + b"x" * 5000,
            b"gitdir: circle\n",
        ],
        ids=["nowhere", "junk", "empty", "nul", "long", "circle"],
    )
    def test_a_submodule_that_cannot_be_looked_into_is_named(
        self, repository: Repository, tmp_path: Path, text: bytes
    ):
        inside = with_submodule(repository, tmp_path)
        (inside.path / "circle").symlink_to("circle")
        (inside.path / ".git").write_bytes(text)
        with pytest.raises(BrokenRepository, match="'lib' cannot be looked into"):
            see(repository.path)

    @pytest.mark.parametrize("limit", ["MOST_NESTED", "DEEPEST"])
    def test_repositories_in_one_another_have_a_limit(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch, limit: str
    ):
        for name in ("one", "one/two", "one/two/three"):
            make_repository(repository.path / name, {"a.py": "a\n"})
        assert see(repository.path) == {"one": "A"}
        monkeypatch.setattr(observed_nested, limit, 2)
        with pytest.raises(TooManyNested, match=r"'three' is not looked into"):
            see(repository.path)

    def test_a_large_new_file_is_hashed_and_not_copied(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(observed_stage, "LARGE", 1000)
        repository.write({"huge.txt": b"x" * 999 + b"\n", "a.py": b"y" * 5000, "same.py": "s\n"})
        expected = repository.git("hash-object", "huge.txt")
        with observe(repository.path) as observed:
            found = observed.changes(observed.resolve("HEAD"))
            assert {each.path: (each.status, each.is_binary) for each in found} == {
                "a.py": ("M", True),
                "huge.txt": ("A", True),
                "same.py": ("A", False),
            }
            entry = next(each for each in observed.entries if each.path == "huge.txt")
            assert (entry.mode, entry.blob, entry.size) == ("100644", expected, 1000)
            assert list(observed.new_lines(observed.resolve("HEAD"), found)) == [("same.py", 1, b"s")]
            with pytest.raises(TooLarge):
                observed.read(expected)
            repository.git("add", "--all")
            assert observed.tree == repository.git("write-tree")

    def test_a_large_file_that_moved_is_a_rename(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ):
        repository.commit({"huge.txt": b"x" * 2000})
        monkeypatch.setattr(observed_stage, "LARGE", 1000)
        (repository.path / "huge.txt").rename(repository.path / "moved.txt")
        with observe(repository.path) as observed:
            assert changed(observed) == {"moved.txt": "R"}
            entry = next(each for each in observed.entries if each.path == "moved.txt")
            assert observed.read(entry.blob) == b"x" * 2000

    def test_more_than_anybody_can_hash_is_refused(self, repository: Repository):
        with (repository.path / "sparse.bin").open("wb") as file:
            file.truncate(1 << 40)
        with pytest.raises(TooMuchToHash, match=r"sparse\.bin"), observe(repository.path) as observed:
            _ = observed.tree


class TestLikeGit:
    def test_line_ends_are_kept_as_the_repository_keeps_them(self, repository: Repository):
        repository.commit({".gitattributes": "*.txt text=auto eol=crlf\n", "t.txt": "one\ntwo\n"})
        repository.write({"t.txt": "one\r\ntwo\r\n", "a.py": "a = 1\r\n"})
        assert see(repository.path) == {"a.py": "M"}
        repository.git("config", "core.autocrlf", "true")
        assert see(repository.path) == {}

    def test_what_git_ignores_is_not_there(
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

    def test_the_usual_place_of_ignored_names_is_known(
        self, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        (tmp_path / ".config" / "git").mkdir(parents=True)
        (tmp_path / ".config" / "git" / "ignore").write_text("*.swp\n")
        repository.write({"a.swp": ""})
        assert see(repository.path) == {}

    def test_objects_named_by_sha256_are_understood(self, tmp_path: Path):
        repository = make_repository(tmp_path / "project", {"a.py": "a = 1\n"}, "--object-format=sha256")
        repository.write({"a.py": "a = 2\n", "new.py": "n\n"})
        with observe(repository.path) as observed:
            assert changed(observed) == {"a.py": "M", "new.py": "A"}
            assert changed(observed, observed.empty_tree) == {"a.py": "A", "new.py": "A"}
            repository.git("add", "--all")
            assert observed.tree == repository.git("write-tree")

    def test_a_name_that_differs_by_case_is_a_rename(self, repository: Repository):
        (repository.path / "a.py").rename(repository.path / "A.py")
        assert see(repository.path) == {"A.py": "R"}

    def test_conflicts_are_named(self, repository: Repository):
        repository.git("checkout", "--quiet", "-b", "side")
        repository.commit({"a.py": "a = 2\n", "odd\nname": "x\n"})
        repository.git("checkout", "--quiet", "main")
        repository.git("rm", "--quiet", "a.py")
        repository.commit({"odd\nname": "y\n"})
        repository.git("merge", "side", check=False)
        with observe(repository.path) as observed:
            assert observed.unmerged == (b"a.py", b"odd\nname")
            assert "a.py" in paths(observed)

    def test_a_clone_of_half_the_content_says_what_is_missing(self, repository: Repository, tmp_path: Path):
        repository.git("config", "uploadpack.allowFilter", "true")
        repository.commit({"a.py": "a = 2\n"})
        clone = tmp_path / "partial"
        repository.git("clone", "--quiet", "--filter=blob:none", repository.path.as_uri(), str(clone))
        assert see(clone) == {}
        shutil.rmtree(repository.path)
        with pytest.raises(BrokenRepository), observe(clone) as observed:
            observed.changes(observed.resolve("HEAD~1"))

    def test_the_tree_is_the_one_git_would_commit(self, repository: Repository):
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


_TELL = """
import os, pathlib, sys
from forge.workspace.observed import observe
from forge.errors import ForgeError
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    with observe(pathlib.Path(sys.argv[1])) as observed:
        observed.tree
except ForgeError as error:
    print(f"{type(error).__name__}: {error}")
"""


def _tell(project: Path) -> str:
    """What somebody who is not root is told."""
    done = subprocess.run(
        [sys.executable, "-c", _TELL, str(project)],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "HOME": str(project)},
    )
    return done.stdout + done.stderr


def _tell_nobody(project: Path) -> str:
    """The same about a copy that anybody can reach."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        subprocess.run(["cp", "-a", str(project), f"{folder}/copy"], check=True)
        return _tell(Path(folder) / "copy")
