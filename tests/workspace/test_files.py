import hashlib
import os
import socket
import stat
from pathlib import Path

import pytest
from tests.workspace.conftest import SECRET

from forge.errors import Conflict, DiskFull, Unavailable
from forge.workspace.filesystem.entries import TEMPORARY, Bounds, Entry, EntryKind
from forge.workspace.filesystem.errors import (
    Changed,
    FileTooLarge,
    NoSuchPath,
    NotAFile,
    PathRefused,
    QuotaExceeded,
)
from forge.workspace.filesystem.files import FileContent, Files, Written
from forge.workspace.filesystem.quota import Quota


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if ".git" not in path.parts)


def test_read_returns_hash_of_whole_file(files: Files):
    assert files.read("src/app.py", limit=100) == FileContent(
        b"print('hello')\n", 15, sha(b"print('hello')\n")
    )


@pytest.mark.parametrize("limit", [0, 1, 14])
def test_truncated_read_has_no_hash(files: Files, limit: int):
    assert files.read("src/app.py", limit=limit) == FileContent(b"print('hello')\n"[:limit], 15, None)


def test_large_file_is_read_completely(files: Files, root: Path):
    data = os.urandom(3 << 20)
    (root / "large").write_bytes(data)
    assert files.read("large", limit=1 << 30) == FileContent(data, len(data), sha(data))


def test_listing_is_sorted_and_omits_protected_and_temporary_names(files: Files, root: Path):
    (root / "link").symlink_to("src")
    (root / f"{TEMPORARY}0123").write_text("half")
    os.mkfifo(root / "pipe")
    assert files.list() == [
        Entry("README.md", EntryKind.FILE, 10),
        Entry("link", EntryKind.LINK, 3),
        Entry("pipe", EntryKind.OTHER, 0),
        Entry("src", EntryKind.DIR, (root / "src").stat().st_size),
    ]
    assert files.list("src") == files.list("./src//") == [Entry("src/app.py", EntryKind.FILE, 15)]


def test_invalid_names_are_listed_as_other(files: Files, root: Path):
    for name in (b"new\nline", b"back\\slash", b"latin\xe9"):
        (root / os.fsdecode(name)).write_text("x")
    odd = [entry for entry in files.list() if entry.kind is EntryKind.OTHER]
    assert [entry.path for entry in odd] == ["back\\slash", "latin\\udce9", "new\nline"]


def test_walk_is_ordered_bounded_and_skips_generated_directories(files: Files, root: Path):
    for path in ("node_modules/x/index.js", "src/b/c.txt", "src/__pycache__/a.pyc", "dist/out"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    (root / "src" / "up").symlink_to("..")
    everything = ["README.md", "src", "src/app.py", "src/b", "src/b/c.txt", "src/up"]
    assert [entry.path for entry in files.walk()] == everything
    assert [entry.path for entry in files.walk(bounds=Bounds(entries=3))] == everything[:3]
    assert [entry.path for entry in files.walk(bounds=Bounds(depth=1))] == ["README.md", "src"]
    assert [entry.path for entry in files.walk("src/b")] == ["src/b/c.txt"]
    assert [entry.path for entry in files.walk("node_modules")] == [
        "node_modules/x",
        "node_modules/x/index.js",
    ]


def test_stat_does_not_follow_the_last_link(files: Files, root: Path):
    (root / "link").symlink_to("src/app.py")
    assert files.stat("src/app.py") == Entry("src/app.py", EntryKind.FILE, 15)
    assert files.stat("link") == Entry("link", EntryKind.LINK, 10)
    assert files.stat(".").kind is EntryKind.DIR
    with pytest.raises(NoSuchPath):
        files.stat("nothing")


def test_write_creates_directories_and_reports_result(files: Files, root: Path):
    assert files.write("a/b/c.txt", b"one") == Written(
        created=True, unchanged=False, size=3, hash=sha(b"one")
    )
    assert files.write("a/b/c.txt", b"two") == Written(
        created=False, unchanged=False, size=3, hash=sha(b"two")
    )
    before = (root / "a/b/c.txt").stat().st_ino
    assert files.write("a/b/c.txt", b"two") == Written(
        created=False, unchanged=True, size=3, hash=sha(b"two")
    )
    assert (root / "a/b/c.txt").stat().st_ino == before
    assert names(root) == ["README.md", "a", "a/b", "a/b/c.txt", "src", "src/app.py"]


def test_write_keeps_mode_and_breaks_hard_links(files: Files, root: Path, outside: Path):
    (root / "run.sh").hardlink_to(outside / "secret.txt")
    (root / "run.sh").chmod(0o750)
    files.write("run.sh", b"changed")
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o750
    assert (outside / "secret.txt").read_bytes() == SECRET


def test_write_with_unexpected_hash_is_refused(files: Files, root: Path):
    seen = files.read("README.md", limit=100).hash
    assert seen
    files.write("README.md", b"mine", expect=seen)
    with pytest.raises(Changed, match="has changed"):
        files.write("README.md", b"again", expect=seen)
    with pytest.raises(Changed, match="already exists"):
        files.write("README.md", b"again", expect="")
    with pytest.raises(Changed, match="no longer exists"):
        files.write("other.md", b"again", expect=seen)
    assert files.write("other.md", b"new", expect="").created
    assert (root / "README.md").read_bytes() == b"mine"


def test_failed_write_leaves_no_files(files: Files, root: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        files.write("README.md", b"new")
    assert (root / "README.md").read_text() == "# Project\n"
    assert names(root) == ["README.md", "src", "src/app.py"]


def test_files_links_and_empty_directories_are_deleted(files: Files, root: Path, outside: Path):
    (root / "link").symlink_to(outside / "secret.txt")
    (root / "empty").mkdir()
    for path in ("link", "empty", "README.md"):
        files.delete(path)
    assert names(root) == ["src", "src/app.py"]
    assert (outside / "secret.txt").read_bytes() == SECRET
    with pytest.raises(Conflict, match="is not empty"):
        files.delete("src")
    with pytest.raises(NoSuchPath):
        files.delete("README.md")


def test_links_inside_are_followed_for_reading(files: Files, root: Path):
    (root / "a").symlink_to("src")
    (root / "src" / "b").symlink_to("../a/app.py")
    assert files.read("a/app.py", limit=99).data == files.read("a/b", limit=99).data == b"print('hello')\n"
    assert [entry.path for entry in files.list("a")] == ["a/app.py", "a/b"]


@pytest.mark.parametrize(
    "target", ["../outside", "../../../../etc", "/etc", "src/../../outside", "/proc/self/root"]
)
def test_links_out_of_the_root_are_refused(files: Files, root: Path, target: str):
    (root / "out").symlink_to(target)
    for attempt in (
        lambda: files.read("out/secret.txt", limit=99),
        lambda: files.list("out"),
        lambda: files.stat("out/secret.txt"),
        lambda: files.write("out/new.txt", b"x"),
        lambda: files.delete("out/secret.txt"),
        lambda: list(files.walk("out")),
    ):
        with pytest.raises(PathRefused):
            attempt()


def test_link_loops_are_refused(files: Files, root: Path):
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "deep").symlink_to("deep/" + "x/" * 60)
    for path in ("one", "one/x", "deep", "deep/x"):
        with pytest.raises((PathRefused, NoSuchPath)):
            files.read(path, limit=9)


def test_write_through_link_is_refused(files: Files, root: Path):
    (root / "dir").symlink_to("src")
    (root / "file").symlink_to("README.md")
    for path in ("dir/new.py", "dir/sub/new.py", "file"):
        with pytest.raises(PathRefused, match="is a link"):
            files.write(path, b"x")
    assert names(root) == ["README.md", "dir", "file", "src", "src/app.py"]


SPELLINGS = (
    ".git|.git/config|src/.git/hooks/x|.GIT/config|.Git/|.git./config|GIT~1/config|git~2|.git /x|.git. ./x|"
    ".git::$INDEX_ALLOCATION/x|.g\u200cit/config|\uff0egit/config|\uff27\uff29\uff34~1/x"
)


@pytest.mark.parametrize("path", SPELLINGS.split("|"))
def test_git_directory_is_protected_in_every_spelling(files: Files, path: str):
    for attempt in (
        lambda: files.read(path, limit=9),
        lambda: files.write(path, b"x"),
        lambda: files.list(path),
        lambda: files.delete(path),
    ):
        with pytest.raises(PathRefused):
            attempt()


def test_link_does_not_open_protected_name(files: Files, root: Path):
    (root / "g").symlink_to(".git")
    (root / "h").symlink_to("g/config")
    (root / "src" / "i").symlink_to("../g")
    for path in ("g/config", "h", "src/i/config"):
        with pytest.raises(PathRefused, match="protected"):
            files.read(path, limit=9)
    with pytest.raises(PathRefused):
        files.write("g/config", b"x")
    with pytest.raises(PathRefused):
        files.list("g")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("//etc", "absolute"),
        ("..", "'..'"),
        ("src/../../x", "'..'"),
        ("a\0b", "control"),
        ("a\nb", "control"),
        ("a\x7f", "control"),
        ("a\x85b", "control"),
        ("a\u2028b", "line break"),
        ("a\udcffb", "Unicode"),
        ("..\\..\\x", "backslash"),
        ("x" * 256, "255"),
        ("é" * 128, "255"),
        ("x/" * 2500, "4096"),
        ("x/" * 200 + "y", "levels"),
    ],
)
def test_invalid_paths_are_refused_with_reason(files: Files, path: str, reason: str):
    with pytest.raises(PathRefused, match=reason):
        files.read(path, limit=9)
    with pytest.raises(PathRefused, match=reason):
        files.write(path, b"x")


def test_special_files_are_refused_without_blocking(files: Files, root: Path, monkeypatch):
    os.mkfifo(root / "pipe")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for path in ("pipe", "socket", "src"):
            with pytest.raises(NotAFile):
                files.read(path, limit=9)
            with pytest.raises(NotAFile):
                files.write(path, b"x")
    with pytest.raises(NotAFile):
        files.read(".", limit=9)
    with pytest.raises(NotAFile):
        files.write(".", b"x")
    with pytest.raises(NoSuchPath):
        files.list("README.md")
    with pytest.raises(NoSuchPath):
        files.read("README.md/x", limit=9)


def test_closed_workspace_is_unavailable(root: Path):
    files = Files(root)
    files.close()
    with pytest.raises(Unavailable, match="closed"):
        files.read("README.md", limit=9)


def test_missing_root_is_refused(tmp_path: Path):
    with pytest.raises(NoSuchPath):
        Files(tmp_path / "nothing")


def test_file_and_workspace_limits_are_enforced(root: Path):
    quota = Quota(files=4, total_bytes=1000, file_bytes=600)
    with Files(root, quota=quota) as files:
        with pytest.raises(FileTooLarge):
            files.write("a", b"x" * 601)
        files.write("a", b"x" * 600)
        with pytest.raises(QuotaExceeded):
            files.write("b", b"x" * 600)
        files.write("b", b"x" * 100)
        with pytest.raises(QuotaExceeded):
            files.write("c", b"")
        files.write("a", b"y" * 10)
        files.delete("b")
        files.write("c", b"x" * 600)
    assert not (root / "d").exists()


def test_refused_write_creates_no_directory(root: Path):
    with Files(root, quota=Quota(files=2)) as files, pytest.raises(QuotaExceeded):
        files.write("new/deep/file", b"x")
    assert names(root) == ["README.md", "src", "src/app.py"]


@pytest.mark.parametrize("path", ["link", "linked/app.py"])
def test_read_without_follow_refuses_links(files: Files, root: Path, path: str):
    (root / "link").symlink_to("README.md")
    (root / "linked").symlink_to("src")
    assert files.read(path, limit=100).data
    with pytest.raises(PathRefused, match="is a link"):
        files.read(path, limit=100, follow=False)
    assert files.read("src/app.py", limit=100, follow=False).data == b"print('hello')\n"


def test_private_files_are_readable_by_owner_only(root: Path):
    with Files(root, private=True) as files:
        files.write("new/deep/file", b"x")
        files.write("README.md", b"y")
    made = [root / "new", root / "new" / "deep", root / "new" / "deep" / "file"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, 0o700, 0o600]
    assert stat.S_IMODE((root / "README.md").stat().st_mode) != 0o600


def test_concurrent_change_during_write_is_not_overwritten(
    files: Files, root: Path, monkeypatch: pytest.MonkeyPatch
):
    sync = os.fsync

    def change_meanwhile(descriptor: int) -> None:
        (root / "README.md").write_text("somebody else's")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", change_meanwhile)
    with pytest.raises(Changed):
        files.write("README.md", b"mine", expect=sha(b"# Project\n"))
    assert (root / "README.md").read_text() == "somebody else's"
    assert not list(root.glob(f"{TEMPORARY}*"))
