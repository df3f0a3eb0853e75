"""Contents by their ids, from one git that is kept running: nothing is read from the work tree, so nothing changes while
it is read and no link is followed. May be used by many threads."""

import hashlib
import os
import select
import subprocess
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass

from forge.errors import TooLarge, Unavailable
from forge.workspace.gitrunner import TIMEOUT_S, find_git, git_environment
from forge.workspace.observed_errors import BrokenRepository
from forge.workspace.observed_git import ObservedGit, kill, launch

MAX_BYTES = 256 << 20
_CHUNK = 1 << 20
_LINE = 1 << 16


@dataclass(frozen=True, slots=True)
class GitObject:
    id: str
    kind: str
    """blob, tree, commit or tag."""
    data: bytes


class ObservedObjects:
    def __init__(self, git: ObservedGit) -> None:
        self._git = git
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self._kept = b""

    def find(self, name: str) -> GitObject | None:
        """By its id, or whatever else git can resolve; None when there is nothing or several are meant."""
        if "\n" in name or "\0" in name:
            return None
        with self._turn:
            try:
                return self._ask(os.fsencode(name))
            except BaseException:
                self._end()  # what it still says belongs to nobody
                raise

    def read(self, blob: str) -> bytes:
        """The content that must be there."""
        found = self.find(blob)
        if found is None:
            raise BrokenRepository(
                f"The content {blob[:12]} is missing in the repository.",
                hint="`git fsck` says more. What a partial clone left out must be fetched first: git fetch --refetch.",
            )
        return found.data

    def close(self) -> None:
        with self._turn:
            self._is_closed = True
            self._end()

    def _ask(self, name: bytes) -> GitObject | None:
        process = self._running()
        assert process.stdin is not None  # noqa: S101
        try:
            process.stdin.write(name + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise BrokenRepository("git stopped reading objects.", hint="`git fsck` says more.") from None
        head = self._line(process).split(b" ")
        if len(head) != 3 or head[-1] in (b"missing", b"ambiguous"):
            return None
        size = int(head[2])
        if size > MAX_BYTES:
            raise TooLarge(f"An object of {size:,} bytes is more than is read.")
        data = self._exactly(process, size + 1)[:-1]
        found = GitObject(head[0].decode(), head[1].decode(), data)
        if not _is_genuine(found):
            raise BrokenRepository(
                f"The object {found.id[:12]} does not have the content its name stands for.",
                hint="The repository is damaged, or somebody forged it: `git fsck` says more.",
            )
        return found

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._is_closed:
            raise Unavailable("The repository is not looked at any more.")
        if self._process is None:
            self._kept = b""
            with tempfile.TemporaryFile() as complaints:
                self._process = launch(
                    [find_git(), "cat-file", "--batch"],
                    cwd=self._git.work_tree,
                    env=git_environment(self._git.git_dir, self._git.work_tree),
                    stdin=subprocess.PIPE,
                    stderr=complaints,
                )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            kill(self._process)
            for stream in (self._process.stdin, self._process.stdout):
                with suppress(BrokenPipeError):  # what was not sent is not missed
                    if stream is not None:
                        stream.close()
            self._process = None

    def _line(self, process: "subprocess.Popen[bytes]") -> bytes:
        data = self._kept
        while b"\n" not in data:
            if len(data) > _LINE:
                raise BrokenRepository("git says something about an object that cannot be understood.")
            data += self._more(process)
        line, _, self._kept = data.partition(b"\n")
        return line

    def _exactly(self, process: "subprocess.Popen[bytes]", size: int) -> bytes:
        parts = [self._kept]
        have = len(self._kept)
        while have < size:
            parts.append(self._more(process))
            have += len(parts[-1])
        data = b"".join(parts)
        self._kept = data[size:]
        return data[:size]

    def _more(self, process: "subprocess.Popen[bytes]") -> bytes:
        assert process.stdout is not None  # noqa: S101
        descriptor = process.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(TIMEOUT_S * 1000):
            raise Unavailable(f"git did not answer within {TIMEOUT_S:.0f} s.")
        data = os.read(descriptor, _CHUNK)
        if not data:
            raise BrokenRepository("git stopped reading objects.", hint="`git fsck` says more.")
        return data


def _is_genuine(found: GitObject) -> bool:
    """git itself believes what lies under a name; what is kept by that name must be what it stands for."""
    digest = hashlib.new("sha1" if len(found.id) == 40 else "sha256", usedforsecurity=False)
    digest.update(f"{found.kind} {len(found.data)}\0".encode())
    digest.update(found.data)
    return digest.hexdigest() == found.id
