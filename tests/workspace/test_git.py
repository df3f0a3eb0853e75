import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvloop
from tests.support.unprivileged_user import unprivileged_user

from forge.errors import Conflict, Invalid, NotFound, TooLarge, Unavailable
from forge.workspace.filesystem.errors import NoSuchPath, PathRefused
from forge.workspace.git import git_runner
from forge.workspace.git.git_directory import GitDirectory
from forge.workspace.git.git_runner import GitRunner
from forge.workspace.git.workspace_history import Author, Change, ChangeKind, Commit, WorkspaceHistory

ADA = Author("Ada", "ada@example.com")


@pytest.fixture
def git_dir(tmp_path: Path) -> Path:
    return tmp_path / "git"


@pytest.fixture
async def git(root: Path, git_dir: Path) -> WorkspaceHistory:
    git = WorkspaceHistory(root, git_dir)
    await git.init()
    return git


async def commit(git: WorkspaceHistory, message: str = "a change") -> Commit:
    made = await git.snapshot(message, ADA)
    assert made is not None
    return made


def is_there(path: Path) -> bool:
    return path.exists()


def hold(descriptor: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sleep", "60"], pass_fds=(descriptor,))


def plain_git(folder: Path, *arguments: str) -> None:
    """Run git without protections, as a user would."""
    who = ("-c", "user.name=a", "-c", "user.email=b")
    subprocess.run(["git", *who, "-C", str(folder), *arguments], check=False, capture_output=True)


def contents(root: Path) -> dict[str, bytes | str]:
    """Return every file and link outside of .git by path."""
    return {
        str(path.relative_to(root)): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if ".git" not in path.parts and (path.is_symlink() or path.is_file())
    }


def tree_of(git: WorkspaceHistory, commit_id: str) -> str:
    """Return the tree as computed by git itself."""
    asked = ["git", "--git-dir", str(git._dir.path), "rev-parse", f"{commit_id}^{{tree}}"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


async def test_snapshot_commits_all_files_once(git: WorkspaceHistory, root: Path):
    assert await git.head() is None
    assert await git.log() == []
    first = await commit(git, "Begin\n\nWith a body")
    assert first == Commit(first.id, tree_of(git, first.id), None, ADA, first.at, "Begin\n\nWith a body")
    assert await git.head() == first.id
    assert await git.snapshot("again", ADA) is None
    (root / "new.txt").write_text("new")
    second = await commit(git, "More\0")
    assert (second.parent, second.message) == (first.id, "More")
    assert await git.log() == [second, first]
    assert await git.log(1) == [second]


async def test_status_and_diff_compare_with_head(git: WorkspaceHistory, root: Path):
    first = await commit(git)
    (root / "README.md").unlink()
    (root / "src" / "app.py").write_text("print('changed')\n")
    (root / "src" / "new.py").write_text("x = 1\n")
    assert await git.status() == [
        Change("README.md", ChangeKind.DELETED),
        Change("src/app.py", ChangeKind.MODIFIED),
        Change("src/new.py", ChangeKind.ADDED),
    ]
    diff = await git.diff()
    assert "-print('hello')\n+print('changed')\n" in diff and "+x = 1" in diff
    await commit(git)
    assert await git.status() == []
    assert await git.diff() == ""
    assert await git.diff(first.id) == diff


async def test_long_diff_is_truncated_with_note(git: WorkspaceHistory, root: Path):
    await commit(git)
    (root / "long.txt").write_text("line\n" * 500_000)
    diff = await git.diff(limit=1000)
    assert len(diff) < 1100 and diff.endswith("longer than 1,000 bytes\n")


ODD_NAMES = [
    "new\nline",
    'qu"ote',
    "tab\there",
    "-rf",
    "--help",
    ":(top)x",
    "a\\b",
    "ünï/cödé",
    "sp ace ",
    "*",
    "$(id)",
]


async def test_snapshot_supports_any_file_name(git: WorkspaceHistory, root: Path):
    for name in ODD_NAMES:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(name)
    (root / os.fsdecode(b"latin\xe9")).write_text("latin")
    assert {change.path for change in await git.status()} >= set(ODD_NAMES)
    made = await commit(git)
    before = contents(root)
    for name in ODD_NAMES:
        assert await git.show(made.id, name) == name.encode()
        (root / name).unlink()
    (root / os.fsdecode(b"latin\xe9")).unlink()
    await git.restore(made.id)
    assert contents(root) == before


async def test_commit_is_restored_after_any_changes(git: WorkspaceHistory, root: Path, outside: Path):
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (root / "link").symlink_to("src/app.py")
    (root / "was-file").write_text("x")
    (root / "was-dir").mkdir()
    (root / "was-dir" / "inner").write_text("x")
    before = contents(root)
    first = await commit(git)
    (root / "tool").chmod(0o644)
    (root / "link").unlink()
    (root / "link").write_text("no link any more")
    (root / "was-file").unlink()
    (root / "was-file").mkdir()
    (root / "was-file" / "deep").write_text("y")
    (root / "was-dir" / "inner").unlink()
    (root / "was-dir").rmdir()
    (root / "was-dir").symlink_to("../outside")
    (root / "README.md").unlink()
    second = await commit(git)
    after = contents(root)
    await git.restore(first.id)
    assert contents(root) == before
    assert os.access(root / "tool", os.X_OK)
    await git.restore(second.id)
    assert contents(root) == after
    assert await git.status() == []
    assert list(contents(outside)) == ["secret.txt"]


async def test_commit_with_large_files_is_restored(git: WorkspaceHistory, root: Path):
    for number in range(70):
        (root / f"{number}.bin").write_bytes(bytes([number]) * (1 << 20))
    (root / "largest.bin").write_bytes(b"x" * (64 << 20))
    first = await commit(git)
    for name in ("largest.bin", *(f"{number}.bin" for number in range(70))):
        (root / name).unlink()
    (root / "other.txt").write_text("other")
    await git.restore(first.id)
    assert await git.status() == []
    assert not is_there(root / "other.txt")


async def test_failed_restore_deletes_nothing(git: WorkspaceHistory, root: Path):
    (root / ".gitignore").write_text("ignored\n")
    (root / "was-file").write_text("x")
    first = await commit(git)
    (root / "was-file").unlink()
    (root / "was-file").mkdir()
    (root / "was-file" / "ignored").write_text("x")
    (root / "new.txt").write_text("new")
    with pytest.raises(Conflict):
        await git.restore(first.id)
    assert is_there(root / "new.txt")


async def test_unreadable_file_is_not_treated_as_deleted():
    with unprivileged_user() as home:
        (home / "tree").mkdir()
        git = WorkspaceHistory(home / "tree", home / "git")
        await git.init()
        (home / "tree" / "a.txt").write_text("a")
        made = await commit(git)
        (home / "tree" / "a.txt").chmod(0)
        with pytest.raises(PathRefused, match=r"'a\.txt' cannot be used: Permission denied"):
            await git.snapshot("a change", ADA)
        assert await git.head() == made.id


async def test_ignored_files_are_neither_stored_nor_changed(git: WorkspaceHistory, root: Path):
    (root / ".gitignore").write_text("*.log\n/out/\n")
    for name in ("a.log", "out/x", "node_modules/m/i.js", "src/__pycache__/a.pyc", ".forge-writing-1"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("ignored")
    made = await commit(git)
    assert await git.status() == []
    with pytest.raises(NoSuchPath):
        await git.show(made.id, "a.log")
    await git.restore(made.id)
    assert (root / "out" / "x").read_text() == "ignored"


async def test_existing_repository_is_not_changed(git: WorkspaceHistory, root: Path):
    (root / ".git" / "config").unlink()
    plain_git(root, "init", "-q")
    plain_git(root, "commit", "-q", "--allow-empty", "-m", "theirs")
    before = {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")}
    made = await commit(git)
    await git.restore(made.id)
    assert {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")} == before
    assert not any(change.path.startswith(".git/") for change in await git.status())


async def test_files_of_nested_repository_are_stored(git: WorkspaceHistory, root: Path):
    nested = root / "packages" / "one"
    nested.mkdir(parents=True)
    plain_git(nested, "init", "-q")
    (nested / "code.py").write_text("one")
    made = await commit(git)
    assert await git.show(made.id, "packages/one/code.py") == b"one"
    (nested / "code.py").write_text("two")
    (nested / "more.py").write_text("more")
    assert [change.path for change in await git.status()] == ["packages/one/code.py", "packages/one/more.py"]


ATTRIBUTES = """\
* filter=evil diff=evil merge=evil text eol=crlf ident working-tree-encoding=UTF-16
*.bin binary
"""
CONFIG = """\
[core]
	fsmonitor = touch {mark}
	hooksPath = {hooks}
	sshCommand = touch {mark}
	pager = touch {mark}
	editor = touch {mark}
[filter "evil"]
	clean = touch {mark}; cat
	smudge = touch {mark}; cat
	process = touch {mark}
	required = true
[diff]
	external = touch {mark}
[diff "evil"]
	command = touch {mark}
	textconv = touch {mark}; cat
[merge "evil"]
	driver = touch {mark}
[credential]
	helper = !touch {mark}
[alias]
	ls-files = !touch {mark}
[include]
	path = evil.inc
[gpg]
	program = touch {mark}
[uploadpack]
	packObjectsHook = touch {mark}
"""


@pytest.fixture
def mark(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Configure everything in a project that makes git execute something; each leaves a mark if it is executed."""
    mark, hooks = tmp_path / "mark", tmp_path / "hooks"
    config = CONFIG.format(mark=mark, hooks=hooks)
    hooks.mkdir()
    for name in ("pre-commit", "post-commit", "post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    for place in (root, root / "nested", home):
        subprocess.run(["git", "init", "-q", str(place)], check=True)
        (place / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n" + config)
        (place / ".gitconfig").write_text(config)
        (place / ".gitattributes").write_text(ATTRIBUTES)
    (root / ".gitmodules").write_text(
        '[submodule "x"]\n\tpath = nested\n\turl = ext::touch mark\n\tupdate = !touch mark\n'
    )
    (root / "nested" / "file").write_text("nested")
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(home / ".git"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {mark}")
    monkeypatch.setenv("HOME", str(home))
    return mark


async def test_project_configuration_executes_nothing(git: WorkspaceHistory, root: Path, mark: Path):
    first = await commit(git)
    (root / "src" / "app.py").write_text("changed $Id$\n")
    (root / "nested" / "file").write_text("changed")
    await git.status()
    await git.diff()
    await git.diff(first.id)
    await commit(git)
    await git.restore(first.id)
    await git.log()
    assert await git.show(first.id, "nested/file") == b"nested"
    assert not is_there(mark)


async def test_configuration_of_another_common_directory_is_not_read(
    git: WorkspaceHistory, git_dir: Path, root: Path, tmp_path: Path
):
    """A restored backup can contain any file of the git directory; `commondir` names a directory with another config."""
    await commit(git)
    mark, other = tmp_path / "mark", tmp_path / "other"
    shutil.copytree(git_dir, other)
    (other / "config").write_text(f"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch {mark}\n")
    (git_dir / "commondir").write_text(str(other))
    plain_git(root, f"--git-dir={git_dir}", f"--work-tree={root}", "status")
    assert is_there(mark)
    mark.unlink()
    (root / "src" / "app.py").write_text("changed")
    await commit(git)
    assert not is_there(mark)


@pytest.mark.parametrize("command", ["status", "add ."])
def test_project_configuration_is_executed_by_plain_git(
    root: Path, mark: Path, monkeypatch: pytest.MonkeyPatch, command: str
):
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.delenv(name)
    plain_git(root, *command.split())
    assert is_there(mark)


async def test_attributes_do_not_change_stored_content(git: WorkspaceHistory, root: Path, mark: Path):
    texts = {
        "crlf": b"a\r\nb\r\n",
        "mixed": b"a\r\nb\n",
        "ident": b"$Id: x $\n",
        "utf16": "é".encode("utf-16"),
    }
    for name, data in texts.items():
        (root / name).write_bytes(data)
    made = await commit(git)
    for name, data in texts.items():
        assert await git.show(made.id, name) == data
        (root / name).unlink()
    await git.restore(made.id)
    assert {name: (root / name).read_bytes() for name in texts} == texts
    assert not is_there(mark)


async def test_special_files_are_left_out_of_history(git: WorkspaceHistory, root: Path, outside: Path):
    os.mkfifo(root / "pipe")
    (root / "out").symlink_to("../outside")
    (root / ".GIT").mkdir()
    (root / ".GIT" / "config").write_text("x")
    made = await commit(git)
    assert await git.show(made.id, "out") == b"../outside"
    for path in ("pipe", "out/secret.txt", ".GIT/config"):
        with pytest.raises(NoSuchPath):
            await git.show(made.id, path)


@pytest.mark.usefixtures("exchanged")
async def test_concurrently_swapped_link_adds_no_outside_file_to_history(git: WorkspaceHistory, root: Path):
    for number in range(5):
        (root / "src" / "app.py").write_text(str(number))
        made = await commit(git)
        for path in ("swap/secret.txt", "other/secret.txt"):
            with suppress(NoSuchPath):
                assert await git.show(made.id, path) == b"inside"


async def test_very_large_files_are_left_out(
    git: WorkspaceHistory, root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("forge.workspace.git.work_tree_files.MAX_FILE_BYTES", 1000)
    (root / "large").write_bytes(b"x" * 1001)
    made = await commit(git)
    with pytest.raises(NoSuchPath):
        await git.show(made.id, "large")


@pytest.mark.parametrize("name", ["HEAD", "main", "--help", "0" * 39, "HEAD~1", ""])
async def test_commits_are_accepted_by_full_id_only(git: WorkspaceHistory, name: str):
    for ask in (git.restore, git.diff, lambda name: git.show(name, "x")):
        if not (name == "" and ask == git.diff):
            with pytest.raises(Invalid):
                await ask(name)


async def test_missing_commit_or_file_is_reported(git: WorkspaceHistory, root: Path, tmp_path: Path):
    with pytest.raises(NotFound):
        await git.restore("1" * 40)
    with pytest.raises(Conflict, match="no history yet"):
        await WorkspaceHistory(root, tmp_path / "other").head()
    with pytest.raises(Invalid):
        await git.init("../evil")
    made = await commit(git)
    for path in ("nothing", "src", "a\0b", "../x"):
        with pytest.raises(NoSuchPath):
            await git.show(made.id, path)


async def test_git_commands_are_serialized(git: WorkspaceHistory, root: Path):
    await commit(git)

    async def change(number: int) -> None:
        (root / f"{number}.txt").write_text(str(number))
        await git.snapshot(f"{number}", ADA)

    other = WorkspaceHistory(root, git._dir.path)
    await asyncio.gather(*(change(number) for number in range(4)), other.status(), other.log())
    assert await git.status() == []


async def test_stale_lock_files_are_removed(git: WorkspaceHistory, git_dir: Path):
    for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
        (git_dir / name).write_text("")
    made = await commit(git)
    assert await git.head() == made.id


async def test_surviving_git_process_is_waited_for(
    git: WorkspaceHistory, git_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("forge.workspace.git.git_directory.LOCK_TIMEOUT_S", 0.2)
    async with GitDirectory(git_dir).exclusive() as lock:
        survivor = hold(lock)
    (git_dir / "index.lock").write_text("the survivor's")
    with pytest.raises(Unavailable, match="in use"):
        await git.head()
    assert (git_dir / "index.lock").exists()
    survivor.kill()
    survivor.wait()
    assert await git.head() is None
    assert not (git_dir / "index.lock").exists()


@pytest.fixture
def each_command(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Stop before the n-th git command, as if the process were killed."""
    started = GitRunner._start
    state = {"left": 10**6}

    async def start(self: GitRunner, *arguments: Any, **options: Any) -> object:
        state["left"] -= 1
        if state["left"] < 0:
            raise KilledHere
        return await started(self, *arguments, **options)

    monkeypatch.setattr(GitRunner, "_start", start)
    yield lambda count: state.update(left=count)


class KilledHere(BaseException):
    pass


async def test_kill_between_commands_leaves_old_or_new_head(
    git: WorkspaceHistory, root: Path, git_dir: Path, each_command: Callable[[int], None]
):
    old = (await commit(git)).id
    (root / "src" / "app.py").write_text("new\n")
    heads: set[str | None] = set()
    for count in range(40):
        each_command(count)
        try:
            await WorkspaceHistory(root, git_dir).snapshot("new", ADA)
            each_command(10**6)
            break
        except KilledHere:
            each_command(10**6)
            (git_dir / "index.lock").write_text("left behind")
            heads.add(await WorkspaceHistory(root, git_dir).head())
    new = await git.head()
    assert heads <= {old, new} and old in heads and new != old
    assert await git.status() == []
    assert await git.show(str(new), "src/app.py") == b"new\n"


async def test_lost_index_is_rebuilt(git: WorkspaceHistory, git_dir: Path):
    await commit(git)
    (git_dir / "index").unlink()
    assert await git.status() == []


async def test_slow_git_command_is_killed(git: WorkspaceHistory, root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(git_runner, "TIMEOUT_S", 0.5)
    os.mkfifo(root / ".gitignore")
    with pytest.raises(Unavailable, match="took more than"):
        await git.status()
    assert running_in(root) == []


async def test_cancelled_git_command_is_killed(git: WorkspaceHistory, root: Path):
    os.mkfifo(root / ".gitignore")
    task = asyncio.create_task(git.status())
    while not running_in(root):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert running_in(root) == []


async def test_oversized_git_output_is_refused(git: WorkspaceHistory, git_dir: Path, root: Path):
    (root / "big").write_bytes(b"x" * 500_000)
    made = await commit(git)
    with pytest.raises(TooLarge):
        await git.show(made.id, "big", limit=1000)


async def test_oversized_git_output_that_fills_buffer_is_refused(
    git: WorkspaceHistory, root: Path, monkeypatch: pytest.MonkeyPatch
):
    (root / "big").write_bytes(b"x" * 500_000)
    made = await commit(git)
    start = GitRunner._start

    async def start_and_let_it_write(
        self: GitRunner, arguments: tuple[str, ...], *more: Any, **named: Any
    ) -> Any:
        process = await start(self, arguments, *more, **named)
        while arguments[:2] == ("cat-file", "blob") and not process.stdout._paused:  # type: ignore[union-attr]
            await asyncio.sleep(0.01)
        return process

    monkeypatch.setattr(GitRunner, "_start", start_and_let_it_write)
    with pytest.raises(TooLarge):
        await git.show(made.id, "big", limit=1000)


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_command_that_ignores_stdin_succeeds(root: Path, git_dir: Path, loop: Callable[[], Any]):
    async def talk() -> None:
        git = WorkspaceHistory(root, git_dir)
        await git.init()
        async with GitDirectory(git_dir).exclusive() as lock:
            runner = GitRunner(git_dir, root, lock)
            for _ in range(10):
                said = await runner.ask("--version", stdin=b"x" * 1_000_000)
                assert (said.code, said.out[:11]) == (0, b"git version")
        await commit(git)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(talk())


async def test_missing_work_tree_is_reported(git: WorkspaceHistory, root: Path):
    remove(root)
    with pytest.raises(Unavailable, match="cannot be started"):
        await git.head()


def remove(root: Path) -> None:
    shutil.rmtree(root)


def running_in(root: Path) -> list[str]:
    found: list[str] = []
    for process in Path("/proc").iterdir():
        if re.fullmatch(r"\d+", process.name):
            try:
                if (process / "cwd").readlink() == root and b"git" in (process / "cmdline").read_bytes():
                    found.append(process.name)
            except OSError:
                continue
    return found
