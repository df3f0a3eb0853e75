"""A bare git repository, read and written by the installed git."""

import asyncio
import os
import secrets
import shutil
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

ZERO = "0" * 40
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C",
    "TZ": "UTC",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
}
_SETTINGS = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\thooksPath = hooks
[http]
\treceivepack = true
[receive]
\tdenyDeleteCurrent = refuse
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[gc]
\tauto = 0
"""
_PROTECTION_HOOK = """\
#!/bin/sh
# Refuses updates of protected branches. Each line of $PROTECTION is: ref, kind, comma-separated commits that pass, message.
zero=0000000000000000000000000000000000000000
broken=
while IFS=' ' read -r ref kind passing message; do
  [ "$ref" = "$1" ] || continue
  case "$kind" in
    delete) [ "$3" = $zero ] || continue ;;
    push) [ "$3" != $zero ] || continue ;;
    force) [ "$2" != $zero ] && [ "$3" != $zero ] && ! git merge-base --is-ancestor "$2" "$3" || continue ;;
  esac
  case ",$passing," in *",$3,"*) continue ;; esac
  broken="$broken
- $message"
done <<EOF
$PROTECTION
EOF
[ -z "$broken" ] && exit 0
printf 'error: GH006: Protected branch update failed for %s.\\n%s\\n' "$1" "$broken" >&2
exit 1
"""
_FORMAT = "%x00".join(("%H", "%T", "%P", "%an", "%ae", "%aI", "%cn", "%ce", "%cI", "%B", ""))
_DIFF = ("--raw", "--numstat", "-z", "--no-abbrev", "--no-renames")
_STATUSES = {"A": "added", "D": "removed"}


class GitFailed(Exception):
    """A git command failed; the message is what it wrote to stderr."""


@dataclass(frozen=True)
class Person:
    name: str
    email: str
    date: str
    """ISO 8601, as in 2026-03-01T12:00:00+01:00."""


@dataclass(frozen=True)
class FileChange:
    path: str
    status: str
    """added, removed or modified."""
    sha: str
    """The blob, or the former one of a removed file."""
    additions: int = 0
    deletions: int = 0


@dataclass(frozen=True)
class Commit:
    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str
    files: tuple[FileChange, ...] = ()
    """Compared with the first parent."""


@dataclass(frozen=True)
class TreeEntry:
    mode: str
    kind: str
    sha: str
    path: str
    size: int | None = None


@dataclass(frozen=True)
class BareRepository:
    path: Path

    def create(self, default_branch: str) -> None:
        for folder in ("objects", "refs", "hooks"):
            (self.path / folder).mkdir(parents=True)
        (self.path / "config").write_text(_SETTINGS)
        (self.path / "HEAD").write_text(f"ref: refs/heads/{default_branch}\n")
        hook = self.path / "hooks" / "update"
        hook.write_text(_PROTECTION_HOOK)
        hook.chmod(0o755)

    def delete(self) -> None:
        shutil.rmtree(self.path)

    async def start(
        self, *arguments: str, env: Mapping[str, str] | None = None, stderr: int = PIPE
    ) -> Process:
        git = shutil.which("git")
        if git is None:
            raise GitFailed("git is not installed")
        return await asyncio.create_subprocess_exec(
            git,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=stderr,
            cwd=self.path,
            env={**_ENVIRONMENT, "GIT_DIR": str(self.path), **(env or {})},
        )

    async def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        process = await self.start(*arguments, env=env)
        out, err = await process.communicate(stdin)
        if process.returncode != 0:
            raise GitFailed(err.decode("utf-8", "replace").strip() or f"git {arguments[0]} failed")
        return out

    async def text(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """Run a command and return its output, where bytes that are not UTF-8 are replaced."""
        return (await self.run(*arguments, stdin=stdin, env=env)).decode("utf-8", "replace").rstrip("\n")

    async def copy_from(self, source: Path) -> None:
        """Fetch all branches and tags of a local repository."""
        patterns = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        await self.run("fetch", "--quiet", "--update-head-ok", str(source), *patterns)

    async def set_default_branch(self, name: str) -> None:
        await self.run("symbolic-ref", "HEAD", f"refs/heads/{name}")

    async def set_ref(self, ref: str, new: str, old: str = ZERO) -> None:
        """Create, move or (with the id ZERO) delete a ref; fail if it is not `old`."""
        await self.run("update-ref", *(["-d", ref, old] if new == ZERO else [ref, new, old]))

    async def refs(self, *patterns: str) -> dict[str, str]:
        """Return the object id of every branch and tag by its full name."""
        lines = await self.text("for-each-ref", "--format=%(objectname) %(refname)", *patterns)
        return {name: sha for sha, _, name in (line.partition(" ") for line in lines.splitlines())}

    async def kind_of(self, sha: str) -> str | None:
        """Return the type of an object, or None if it does not exist."""
        if len(sha) != len(ZERO) or not sha.isalnum():
            return None
        line = await self.text("cat-file", "--batch-check=%(objecttype)", stdin=sha.encode())
        return None if line.endswith("missing") else line

    async def resolve(self, revision: str, kind: str = "commit") -> str | None:
        """Return the object that a branch, tag or (abbreviated) object id leads to."""
        for name in (f"refs/heads/{revision}", f"refs/tags/{revision}", revision):
            try:
                return await self.text(
                    "rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{{kind}}}"
                )
            except GitFailed:
                continue
        return None

    async def is_ancestor(self, old: str, new: str) -> bool:
        return await self.merge_base(old, new) == old

    async def merge_base(self, one: str, other: str) -> str | None:
        try:
            return await self.text("merge-base", one, other)
        except GitFailed:
            return None

    async def log(self, *arguments: str, stdin: bytes = b"", files: bool = False) -> list[Commit]:
        """Return commits, newest first, chosen as by `git log`."""
        mark = secrets.token_hex(16)
        diff = (*_DIFF, "--diff-merges=first-parent") if files else ("-z",)
        out = await self.text("log", *diff, f"--format={mark}{_FORMAT}", "--stdin", *arguments, stdin=stdin)
        return [_parse_commit(part) for part in out.split(mark)[1:]]

    async def diff(self, old: str, new: str) -> tuple[FileChange, ...]:
        return _parse_changes(await self.text("diff", *_DIFF, old, new))

    async def list_tree(self, tree: str, *arguments: str) -> list[TreeEntry]:
        entries: list[TreeEntry] = []
        for line in (await self.text("ls-tree", "-z", "--long", tree, *arguments)).split("\0")[:-1]:
            details, _, path = line.partition("\t")
            mode, kind, sha, size = details.split()
            entries.append(TreeEntry(mode, kind, sha, path, None if size == "-" else int(size)))
        return entries

    async def write_object(self, kind: str, content: bytes) -> str:
        return await self.text("hash-object", "-t", kind, "-w", "--stdin", stdin=content)

    async def write_tree(self, base: str | None, entries: Sequence[TreeEntry]) -> str:
        """Return a tree with entries added to another one; an entry with the id ZERO is removed."""
        lines: list[str] = []
        for entry in entries:
            replaced = await self.list_tree(base, "-r", "--", entry.path) if base else []
            lines += [f"0 {ZERO}\t{each.path}\0" for each in replaced]
            if entry.kind == "tree" and entry.sha != ZERO:
                below = await self.list_tree(entry.sha, "-r")
                lines += [f"{each.mode} {each.sha}\t{entry.path}/{each.path}\0" for each in below]
            elif entry.sha != ZERO:
                lines.append(f"{entry.mode} {entry.sha}\t{entry.path}\0")
        with TemporaryDirectory(prefix="index-") as folder:
            env = {"GIT_INDEX_FILE": f"{folder}/index"}
            await self.run("read-tree", base or EMPTY_TREE, env=env)
            arguments = ("update-index", "-z", "--add", "--replace", "--index-info")
            await self.run(*arguments, stdin="".join(lines).encode(), env=env)
            return await self.text("write-tree", env=env)

    async def write_commit(
        self, tree: str, parents: Sequence[str], author: Person, committer: Person, message: str
    ) -> str:
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {_signature(author)}", f"committer {_signature(committer)}", "", message]
        return await self.write_object("commit", "\n".join(lines).encode())

    async def commit_files(
        self, files: Mapping[str, str | None], message: str, person: Person, parent: str | None = None
    ) -> str:
        """Return a commit that adds, changes or (None) removes files of its parent."""
        entries: list[TreeEntry] = []
        for path, content in files.items():
            sha = ZERO if content is None else await self.write_object("blob", content.encode())
            entries.append(TreeEntry("100644", "blob", sha, path))
        tree = await self.write_tree(parent, entries)
        return await self.write_commit(tree, [parent] if parent else [], person, person, f"{message}\n")


def _signature(person: Person) -> str:
    moment = datetime.fromisoformat(person.date)
    return f"{person.name} <{person.email}> {int(moment.timestamp())} {moment:%z}"


def _parse_commit(part: str) -> Commit:
    sha, tree, parents, *people, message, changes = part.split("\0", 10)
    author, committer = Person(*people[:3]), Person(*people[3:])
    return Commit(
        sha, tree, tuple(parents.split()), author, committer, message.rstrip("\n"), _parse_changes(changes)
    )


def _parse_changes(out: str) -> tuple[FileChange, ...]:
    """Parse `--raw --numstat -z`: for each file `:modes ids status` and the path, then `additions deletions path`."""
    found: dict[str, FileChange] = {}
    parts = iter(out.lstrip("\0\n").split("\0"))
    for part in parts:
        if part.startswith(":"):
            _, _, old, new, letter = part.split(" ")
            path, status = next(parts), _STATUSES.get(letter, "modified")
            found[path] = FileChange(path, status, old if status == "removed" else new)
        elif part.count("\t") == 2:
            added, deleted, path = part.split("\t")
            numbers = [0 if each == "-" else int(each) for each in (added, deleted)]  # "-" for binary files
            found[path] = replace(found[path], additions=numbers[0], deletions=numbers[1])
    return tuple(found.values())
