"""The history of one workspace: one actor, all its commands one after the other.

The git directory is Forge's own (see `gitdir`); a `.git` inside the project is neither read nor changed. Whatever is
killed between two commands, the head is the old commit or the new one, and the next command finds its way from there.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from forge.errors import Conflict, Invalid, NotFound
from forge.workspace import restoring, staging
from forge.workspace.beneath import Beneath
from forge.workspace.errors import NoSuchPath
from forge.workspace.gitdir import GitDir
from forge.workspace.gitrunner import GitRunner
from forge.workspace.history import Author, Change, ChangeKind, Commit
from forge.workspace.paths import ProtectedNames

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


class Git:
    def __init__(self, work_tree: Path, git_dir: Path) -> None:
        self._work_tree = work_tree
        self._dir = GitDir(git_dir)
        self._protected = ProtectedNames()
        self._beneath = Beneath(work_tree, self._protected)
        self._turn = asyncio.Lock()

    async def init(self, default_branch: str = "main") -> None:
        """Begin a history; does nothing when there is one."""
        if not _BRANCH.fullmatch(default_branch):
            raise Invalid("A branch is named with letters, digits, '-', '_' and '/'.", field="default_branch")
        async with self._alone(must_exist=False) as git:
            if not self._dir.is_made():
                branch = f"--initial-branch={default_branch}"
                await git.run("init", "--quiet", "--template=", branch, env={"GIT_WORK_TREE": "."})
            self._dir.prepare()

    async def head(self) -> str | None:
        async with self._alone() as git:
            return await _head(git)

    async def status(self) -> list[Change]:
        """What differs from the head."""
        async with self._alone() as git:
            tree = await self._stage(git)
            raw = await git.run(*_COMPARE, await _head(git) or EMPTY_TREE, tree)
        pieces = raw.decode("utf-8", "replace").split("\0")[:-1]
        return [
            Change(path, _KINDS.get(head[-1], ChangeKind.MODIFIED))
            for head, path in zip(pieces[::2], pieces[1::2], strict=True)
        ]

    async def snapshot(self, message: str, author: Author) -> Commit | None:
        """Commit everything that is there; None when nothing differs from the head."""
        async with self._alone() as git:
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
        """Newest first."""
        async with self._alone() as git:
            head = await _head(git)
            return await _log(git, limit, head) if head else []

    async def diff(self, base: str | None = None, *, limit: int = MAX_DIFF) -> str:
        """From a commit (the head) to what is there now; what is longer than the limit is cut, and says so."""
        async with self._alone() as git:
            tree = await self._stage(git)
            start = await _find(git, base) if base else await _head(git) or EMPTY_TREE
            said = await git.ask(*_PATCH, start, tree, limit=limit, cut=True)
        text = said.out.decode("utf-8", "replace")
        return f"{text}\n… the diff is longer than {limit:,} bytes\n" if said.is_cut else text

    async def show(self, commit: str, path: str, *, limit: int = staging.MAX_FILE_BYTES) -> bytes:
        """A file as it was."""
        async with self._alone() as git:
            found = await _find(git, commit)
            if "\0" in path:
                raise NoSuchPath(f"There is no {path[:200]!r} in that commit.")
            said = await git.ask("cat-file", "blob", f"{found}:{path}", limit=limit)
        if said.code != 0:
            raise NoSuchPath(f"There is no file {path[:200]!r} in the commit {found[:10]}.")
        return said.out

    async def restore(self, commit: str) -> list[Change]:
        """Make the files those of a commit, except for ignored ones. The head stays where it is."""
        async with self._alone() as git:
            target = await _find(git, commit)
            now = await self._stage(git)
            differences = restoring.read_differences(await git.run(*_COMPARE, now, target))
            await self._apply(git, differences)
            await self._stage(git)
        return [
            Change(os.fsdecode(one.path), ChangeKind.DELETED if one.mode is None else ChangeKind.MODIFIED)
            for one in differences
        ]

    @asynccontextmanager
    async def _alone(self, *, must_exist: bool = True) -> AsyncGenerator[GitRunner]:
        async with self._turn, self._dir.exclusive() as lock:
            if must_exist:
                if not self._dir.is_made():
                    raise Conflict("This workspace has no history yet.")
                self._dir.prepare()
            yield GitRunner(self._dir.path, self._work_tree, lock)

    async def _stage(self, git: GitRunner) -> str:
        """Bring the index up to what is there; the name of its tree."""
        if not self._dir.index.exists() and (head := await _head(git)):
            await git.run("read-tree", head)
        paths = await self._changed_paths(git)
        try:
            taken = await asyncio.to_thread(
                staging.take_all, self._beneath, paths, self._dir.spool, self._protected
            )
            if taken:
                await _add(git, taken)
        finally:
            staging.discard(self._dir.spool)
        return (await git.run("write-tree")).decode().strip()

    async def _changed_paths(self, git: GitRunner) -> list[bytes]:
        """A directory with a `.git` of its own is one name to git; what is in it is asked for separately."""
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

    async def _apply(self, git: GitRunner, differences: list[restoring.Difference]) -> None:
        """Nothing goes before what comes is there, except for what is in its way."""
        restorer = restoring.Restorer(self._beneath, self._protected)
        wanted = [one for one in differences if one.mode is not None]
        batches = restoring.batches(wanted, await _sizes(git, wanted))
        in_the_way, others = restoring.removals(differences)
        await asyncio.to_thread(restorer.remove, in_the_way)
        for some in batches:
            blobs = await git.run("cat-file", "--batch", stdin=some.names(), limit=some.most_bytes)
            for one, content in zip(some.differences, restoring.read_blobs(blobs), strict=True):
                await asyncio.to_thread(restorer.write, one, content)
        await asyncio.to_thread(restorer.remove, others)


async def _sizes(git: GitRunner, wanted: list[restoring.Difference]) -> list[int]:
    """Of their contents; each answer is `id type size`."""
    if not wanted:
        return []
    said = await git.run("cat-file", "--batch-check", stdin=restoring.Batch(wanted).names())
    return [int(line.rsplit(b" ", 1)[1]) for line in said.splitlines()]


async def _add(git: GitRunner, taken: list[staging.Taken]) -> None:
    spooled = "".join(f"{one.spooled}\n" for one in taken if one.spooled).encode()
    hashes = (
        (await git.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=spooled)).decode().split()
    )
    await git.run("update-index", "-z", "--index-info", stdin=staging.index_lines(taken, hashes))
    await git.ask(
        "update-index", "-q", "--refresh"
    )  # so that git knows them by their times; says 1 when some differ


async def _head(git: GitRunner) -> str | None:
    said = await git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return said.out.decode().strip() or None


async def _tree_of(git: GitRunner, commit: str) -> str:
    return (await git.run("rev-parse", "--verify", f"{commit}^{{tree}}")).decode().strip()


async def _find(git: GitRunner, commit: str) -> str:
    if not _COMMIT_ID.fullmatch(commit):
        raise Invalid("A commit is named by its 40 hexadecimal digits.", field="commit")
    said = await git.ask("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    if said.code != 0:
        raise NotFound(f"There is no commit {commit[:10]} in this workspace.")
    return said.out.decode().strip()


async def _log(git: GitRunner, limit: int, start: str) -> list[Commit]:
    count = f"--max-count={max(1, limit)}"
    said = await git.run(
        "log", "-z", count, f"--format={_FORMAT}", "--no-show-signature", "--no-mailmap", start
    )
    return [_commit(text) for text in said.decode("utf-8", "replace").split("\0") if text]


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
