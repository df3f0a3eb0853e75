"""History of one workspace in a git directory of its own; commands run one after the other.

A `.git` inside the project is neither read nor changed (see `git_directory`). After a kill between two
commands the head is the old commit or the new one, and the next command continues from there.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from forge.errors import Conflict, Invalid, NotFound
from forge.workspace.filesystem.beneath import Beneath
from forge.workspace.filesystem.errors import NoSuchPath
from forge.workspace.filesystem.paths import ProtectedNames
from forge.workspace.git import work_tree_files
from forge.workspace.git.git_directory import GitDirectory
from forge.workspace.git.git_runner import GitRunner


@dataclass(frozen=True, slots=True)
class Author:
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    tree: str
    parent: str | None
    author: Author
    at: datetime
    message: str


class ChangeKind(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Change:
    path: str
    kind: ChangeKind


EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NO_COMMIT = "0" * 40
MAX_DIFF = 200_000
MAX_NESTED = 100

_COMMIT_ID = re.compile(r"[0-9a-f]{40}")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9_/-]{0,99}")
_LISTING = ("ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard")
_PLAIN = ("--no-ext-diff", "--ignore-submodules=all")
_COMPARE = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", *_PLAIN)
_PATCH = ("diff-tree", "-r", "-p", "--find-renames", "--no-textconv", "--no-color", *_PLAIN)
_FORMAT = "%H%n%T%n%P%n%an%n%ae%n%at%n%B"
_KINDS = {"A": ChangeKind.ADDED, "D": ChangeKind.DELETED}


class WorkspaceHistory:
    def __init__(self, work_tree: Path, git_dir: Path) -> None:
        self._work_tree = work_tree
        self._dir = GitDirectory(git_dir)
        self._protected = ProtectedNames()
        self._beneath = Beneath(work_tree, self._protected)
        self._turn = asyncio.Lock()

    async def init(self, default_branch: str = "main") -> None:
        """Create the history if there is none."""
        if not _BRANCH.fullmatch(default_branch):
            raise Invalid(
                "A branch name may contain letters, digits, '-', '_' and '/'.", field="default_branch"
            )
        async with self._locked(must_exist=False) as git:
            if not self._dir.is_made():
                branch = f"--initial-branch={default_branch}"
                await git.run("init", "--quiet", "--template=", branch, env={"GIT_WORK_TREE": "."})
            self._dir.prepare()

    async def head(self) -> str | None:
        async with self._locked() as git:
            return await _head(git)

    async def status(self) -> list[Change]:
        """Return the differences between the files and the head."""
        async with self._locked() as git:
            tree = await self._stage(git)
            raw = await git.run(*_COMPARE, await _head(git) or EMPTY_TREE, tree)
        pieces = raw.decode("utf-8", "replace").split("\0")[:-1]
        return [
            Change(path, _KINDS.get(head[-1], ChangeKind.MODIFIED))
            for head, path in zip(pieces[::2], pieces[1::2], strict=True)
        ]

    async def snapshot(self, message: str, author: Author) -> Commit | None:
        """Commit all files; returns None if nothing differs from the head."""
        async with self._locked() as git:
            tree = await self._stage(git)
            head = await _head(git)
            if tree == (await _tree_of(git, head) if head else EMPTY_TREE):
                return None
            parents = ("-p", head) if head else ()
            who = _identity(author)
            commit = await git.run("commit-tree", tree, *parents, stdin=_clean(message), env=who)
            name = commit.decode().strip()
            await git.run("update-ref", "-m", "snapshot", "HEAD", name, head or NO_COMMIT, env=who)
            return (await _log(git, 1, name))[0]

    async def log(self, limit: int = 20) -> list[Commit]:
        """Return commits, newest first."""
        async with self._locked() as git:
            head = await _head(git)
            return await _log(git, limit, head) if head else []

    async def diff(self, base: str | None = None, *, limit: int = MAX_DIFF) -> str:
        """Return the diff from a commit (default: head) to the current files, cut at `limit` with a note."""
        async with self._locked() as git:
            tree = await self._stage(git)
            start = await _find(git, base) if base else await _head(git) or EMPTY_TREE
            result = await git.ask(*_PATCH, start, tree, limit=limit, cut=True)
        text = result.out.decode("utf-8", "replace")
        return f"{text}\n… the diff is longer than {limit:,} bytes\n" if result.is_cut else text

    async def show(self, commit: str, path: str, *, limit: int = work_tree_files.MAX_FILE_BYTES) -> bytes:
        """Return the content of a file in a commit."""
        async with self._locked() as git:
            found = await _find(git, commit)
            if "\0" in path:
                raise NoSuchPath(f"The commit has no file {path[:200]!r}.")
            result = await git.ask("cat-file", "blob", f"{found}:{path}", limit=limit)
        if result.code != 0:
            raise NoSuchPath(f"Commit {found[:10]} has no file {path[:200]!r}.")
        return result.out

    async def restore(self, commit: str) -> list[Change]:
        """Restore the files of a commit, except ignored ones. The head does not move."""
        async with self._locked() as git:
            target = await _find(git, commit)
            now = await self._stage(git)
            differences = work_tree_files.read_differences(await git.run(*_COMPARE, now, target))
            await self._apply(git, differences)
            await self._stage(git)
        return [
            Change(os.fsdecode(one.path), ChangeKind.DELETED if one.mode is None else ChangeKind.MODIFIED)
            for one in differences
        ]

    @asynccontextmanager
    async def _locked(self, *, must_exist: bool = True) -> AsyncGenerator[GitRunner]:
        async with self._turn, self._dir.exclusive() as lock:
            if must_exist:
                if not self._dir.is_made():
                    raise Conflict("This workspace has no history yet.")
                self._dir.prepare()
            yield GitRunner(self._dir.path, self._work_tree, lock)

    async def _stage(self, git: GitRunner) -> str:
        """Update the index to the current files and return its tree id."""
        if not self._dir.index.exists() and (head := await _head(git)):
            await git.run("read-tree", head)
        paths = await self._changed_paths(git)
        try:
            taken = await asyncio.to_thread(
                work_tree_files.spool_files, self._beneath, paths, self._dir.spool, self._protected
            )
            if taken:
                await _add(git, taken)
        finally:
            work_tree_files.clear_spool(self._dir.spool)
        return (await git.run("write-tree")).decode().strip()

    async def _changed_paths(self, git: GitRunner) -> list[bytes]:
        """List changed paths. git lists a nested repository as one name, so its files are listed
        separately."""
        paths: list[bytes] = []
        waiting, left = [b""], MAX_NESTED
        while waiting and left:
            left -= 1
            folder = waiting.pop()
            env = self._nested(folder) if folder else None
            for name in (await git.run(*_LISTING, env=env)).split(b"\0"):
                if name.endswith(b"/"):
                    waiting.append(folder + name)
                elif name:
                    paths.append(folder + name)
        return paths

    def _nested(self, folder: bytes) -> dict[str, str]:
        return {
            "GIT_WORK_TREE": str(self._work_tree / os.fsdecode(folder)),
            "GIT_INDEX_FILE": str(self._dir.spool / "no-index"),
        }

    async def _apply(self, git: GitRunner, differences: list[work_tree_files.Difference]) -> None:
        """Write new files before removing old ones, except for files that are in the way."""
        restorer = work_tree_files.Restorer(self._beneath, self._protected)
        wanted = [one for one in differences if one.mode is not None]
        batches = work_tree_files.batches(wanted, await _sizes(git, wanted))
        in_the_way, others = work_tree_files.removals(differences)
        await asyncio.to_thread(restorer.remove, in_the_way)
        for some in batches:
            blobs = await git.run("cat-file", "--batch", stdin=some.names(), limit=some.max_bytes)
            for one, content in zip(some.differences, work_tree_files.read_blobs(blobs), strict=True):
                await asyncio.to_thread(restorer.write, one, content)
        await asyncio.to_thread(restorer.remove, others)


async def _sizes(git: GitRunner, wanted: list[work_tree_files.Difference]) -> list[int]:
    """Return blob sizes; each line of output is `id type size`."""
    if not wanted:
        return []
    result = await git.run("cat-file", "--batch-check", stdin=work_tree_files.Batch(wanted).names())
    return [int(line.rsplit(b" ", 1)[1]) for line in result.splitlines()]


async def _add(git: GitRunner, taken: list[work_tree_files.SpooledFile]) -> None:
    spooled = "".join(f"{one.spooled}\n" for one in taken if one.spooled).encode()
    hashes = (
        (await git.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=spooled)).decode().split()
    )
    await git.run("update-index", "-z", "--index-info", stdin=work_tree_files.index_lines(taken, hashes))
    await git.ask(
        "update-index", "-q", "--refresh"
    )  # updates the cached times; exits with 1 if some files differ


async def _head(git: GitRunner) -> str | None:
    result = await git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return result.out.decode().strip() or None


async def _tree_of(git: GitRunner, commit: str) -> str:
    return (await git.run("rev-parse", "--verify", f"{commit}^{{tree}}")).decode().strip()


async def _find(git: GitRunner, commit: str) -> str:
    if not _COMMIT_ID.fullmatch(commit):
        raise Invalid("A commit id must be 40 hexadecimal digits.", field="commit")
    result = await git.ask("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    if result.code != 0:
        raise NotFound(f"Commit {commit[:10]} does not exist in this workspace.")
    return result.out.decode().strip()


async def _log(git: GitRunner, limit: int, start: str) -> list[Commit]:
    count = f"--max-count={max(1, limit)}"
    result = await git.run(
        "log", "-z", count, f"--format={_FORMAT}", "--no-show-signature", "--no-mailmap", start
    )
    return [_commit(text) for text in result.decode("utf-8", "replace").split("\0") if text]


def _commit(text: str) -> Commit:
    name, tree, parents, author, email, at, message = text.split("\n", 6)
    return Commit(
        id=name,
        tree=tree,
        parent=parents.split(" ")[0] or None,
        author=Author(author, email),
        at=datetime.fromtimestamp(int(at), UTC),
        message=message.rstrip("\n"),
    )


def _clean(message: str) -> bytes:
    return message.replace("\0", "").encode("utf-8", "replace")


def _identity(author: Author) -> dict[str, str]:
    name, email = (
        re.sub(r"[\x00-\x1f<>]", "", text).strip() or "forge" for text in (author.name, author.email)
    )
    return {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
    }
