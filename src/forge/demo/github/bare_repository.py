"""A bare git repository, read and written by the installed git."""

import asyncio
import os
import shutil
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ZERO = "0" * 40
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C",
    "TZ": "UTC",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
}
_SETTINGS = (
    ("http.receivepack", "true"),  # the double decides itself who may push
    ("receive.denyDeleteCurrent", "refuse"),
    ("uploadpack.allowFilter", "true"),
    ("uploadpack.allowAnySHA1InWant", "true"),
    ("core.logAllRefUpdates", "false"),
    ("gc.auto", "0"),
)


class GitFailed(Exception):
    """A git command failed; the message is what it wrote to stderr."""


@dataclass(frozen=True)
class Person:
    name: str
    email: str
    date: str
    """As git writes it: seconds since the epoch and the offset, or ISO 8601."""


@dataclass(frozen=True)
class BareRepository:
    path: Path

    async def create(self, default_branch: str) -> None:
        self.path.mkdir(parents=True)
        await self.run("init", "--quiet", "--bare", "--template=", f"--initial-branch={default_branch}", ".")
        for name, value in _SETTINGS:
            await self.run("config", name, value)

    async def copy_from(self, source: Path) -> None:
        """Fetch all branches and tags of a local repository."""
        patterns = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        await self.run("fetch", "--quiet", "--update-head-ok", str(source), *patterns)

    async def set_default_branch(self, name: str) -> None:
        await self.run("symbolic-ref", "HEAD", f"refs/heads/{name}")

    def delete(self) -> None:
        shutil.rmtree(self.path)

    async def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> Process:
        git = shutil.which("git")
        if git is None:
            raise GitFailed("git is not installed")
        return await asyncio.create_subprocess_exec(
            git,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=self.path,
            env={**ENVIRONMENT, "GIT_DIR": str(self.path), **(env or {})},
        )

    async def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        process = await self.start(*arguments, env=env)
        out, err = await process.communicate(stdin)
        if process.returncode != 0:
            raise GitFailed(err.decode("utf-8", "replace").strip() or f"git {arguments[0]} failed")
        return out

    async def text(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run a command and return its output, where bytes that are not UTF-8 are replaced."""
        return (await self.run(*arguments, stdin=stdin)).decode("utf-8", "replace").rstrip("\n")

    async def refs(self) -> dict[str, str]:
        """Return the object id of every branch and tag by its full name."""
        lines = (await self.text("for-each-ref", "--format=%(objectname) %(refname)")).splitlines()
        return {name: sha for sha, _, name in (line.partition(" ") for line in lines)}

    async def resolve(self, revision: str) -> str | None:
        """Return the commit that a branch, tag or (abbreviated) object id names."""
        for name in (f"refs/heads/{revision}", f"refs/tags/{revision}", revision):
            try:
                return await self.text(
                    "rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}"
                )
            except GitFailed:
                continue
        return None

    async def commit_files(
        self,
        branch: str,
        files: Mapping[str, str | bytes | None],
        message: str,
        person: Person,
        parents: Sequence[str] = (),
    ) -> str:
        """Commit files on top of the first parent; None removes a file. Return the id of the commit."""
        who = f"{person.name} <{person.email}> {person.date}\n"
        text = message.encode()
        lines = [
            f"commit refs/heads/{branch}\nauthor {who}committer {who}data {len(text)}\n".encode()
            + text
            + b"\n",
            *(f"{'merge' if position else 'from'} {sha}\n".encode() for position, sha in enumerate(parents)),
        ]
        for path, content in files.items():
            if content is None:
                lines.append(f"D {path}\n".encode())
            else:
                data = content.encode() if isinstance(content, str) else content
                lines.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
        await self.run("fast-import", "--quiet", "--force", stdin=b"".join(lines))
        return await self.text("rev-parse", f"refs/heads/{branch}")
