"""Observing a repository with unusual files: submodules, links, pipes, large files."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.support.repositories import Repository, make_repository
from tests.workspace.observed_helpers import changed, paths, see, tree_of, with_submodule

from forge.errors import TooLarge
from forge.workspace.observed import mirror_index, observed_repository
from forge.workspace.observed.errors import (
    BrokenRepository,
    CannotBeRead,
    TooManyNested,
    TooMuchToHash,
)
from forge.workspace.observed.observed_repository import observe


class TestUnusualFiles:
    def test_pipes_and_sockets_are_left_out(self, repository: Repository):
        os.mkfifo(repository.path / "pipe")
        (repository.path / "a.py").unlink()
        os.mkfifo(repository.path / "a.py")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(repository.path / "socket"))
            assert see(repository.path) == {"a.py": "D"}

    def test_links_are_not_followed_in_loops(self, repository: Repository):
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
    def test_directory_replaced_by_link_has_no_files(
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

    def test_file_and_directory_can_swap_names(self, repository: Repository):
        (repository.path / "a.py").unlink()
        repository.write({"a.py/inner.py": "i\n"})
        (repository.path / "src" / "b.py").unlink()
        (repository.path / "src").rmdir()
        repository.write({"src": "a file now\n"})
        assert see(repository.path) == {"a.py": "D", "a.py/inner.py": "A", "src": "A", "src/b.py": "D"}

    def test_file_names_may_contain_any_bytes(self, repository: Repository):
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

    def test_unreadable_file_is_named_in_error(self, repository: Repository):
        repository.write({"secret.py": "s\n", "other.py": "o\n"})
        (repository.path / "secret.py").chmod(0)
        if os.access(repository.path / "secret.py", os.R_OK):
            told = _run_as_nobody(repository.path)
            assert "CannotBeRead: These files of the project cannot be read: 'secret.py'." in told
        else:
            with pytest.raises(CannotBeRead, match=r"secret\.py"), observe(repository.path) as observed:
                _ = observed.tree

    @pytest.mark.parametrize("name", ["src", "new"])
    def test_unreadable_directory_is_reported(self, repository: Repository, name: str):
        repository.write({"new/evil.py": "e\n"})
        (repository.path / name).chmod(0)
        told = _run_as_nobody(repository.path) if os.getuid() == 0 else _run_check(repository.path)
        assert "CannotBeRead: " in told
        assert name in told

    def test_nested_repository_is_one_entry(self, repository: Repository):
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

    def test_submodule_is_compared_by_commit(self, repository: Repository, tmp_path: Path):
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
    def test_dirty_submodule_is_a_change(self, repository: Repository, tmp_path: Path, files: dict[str, str]):
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

    def test_deleted_submodule_file_is_a_change_and_ignored_one_is_not(
        self, repository: Repository, tmp_path: Path
    ):
        inside = with_submodule(repository, tmp_path)
        inside.write({"x.log": "ignored\n"})
        assert see(repository.path) == {}
        (inside.path / "lib.py").unlink()
        assert see(repository.path) == {"lib": "M"}

    def test_change_in_nested_submodule_is_detected(self, repository: Repository, tmp_path: Path):
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
    def test_broken_submodule_is_named_in_error(self, repository: Repository, tmp_path: Path, text: bytes):
        inside = with_submodule(repository, tmp_path)
        (inside.path / "circle").symlink_to("circle")
        (inside.path / ".git").write_bytes(text)
        with pytest.raises(BrokenRepository, match="'lib' cannot be inspected"):
            see(repository.path)

    @pytest.mark.parametrize("limit", ["MAX_NESTED", "MAX_NESTING_DEPTH"])
    def test_nested_repositories_are_limited(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch, limit: str
    ):
        for name in ("one", "one/two", "one/two/three"):
            make_repository(repository.path / name, {"a.py": "a\n"})
        assert see(repository.path) == {"one": "A"}
        monkeypatch.setattr(observed_repository, limit, 2)
        with pytest.raises(TooManyNested, match=r"'three' is not inspected"):
            see(repository.path)

    def test_large_new_file_is_hashed_but_not_copied(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(mirror_index, "LARGE_FILE_BYTES", 1000)
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

    def test_moved_large_file_is_a_rename(self, repository: Repository, monkeypatch: pytest.MonkeyPatch):
        repository.commit({"huge.txt": b"x" * 2000})
        monkeypatch.setattr(mirror_index, "LARGE_FILE_BYTES", 1000)
        (repository.path / "huge.txt").rename(repository.path / "moved.txt")
        with observe(repository.path) as observed:
            assert changed(observed) == {"moved.txt": "R"}
            entry = next(each for each in observed.entries if each.path == "moved.txt")
            assert observed.read(entry.blob) == b"x" * 2000

    def test_too_large_new_files_are_refused(self, repository: Repository):
        with (repository.path / "sparse.bin").open("wb") as file:
            file.truncate(1 << 40)
        with pytest.raises(TooMuchToHash, match=r"sparse\.bin"), observe(repository.path) as observed:
            _ = observed.tree


_CHECK = """
import os, pathlib, sys
from forge.workspace.observed.observed_repository import observe
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


def _run_check(project: Path) -> str:
    """Run the check as a user without root privileges and return its error."""
    done = subprocess.run(
        [sys.executable, "-c", _CHECK, str(project)],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "HOME": str(project)},
    )
    return done.stdout + done.stderr


def _run_as_nobody(project: Path) -> str:
    """Run the check on a copy that other users can read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        subprocess.run(["cp", "-a", str(project), f"{folder}/copy"], check=True)
        return _run_check(Path(folder) / "copy")
