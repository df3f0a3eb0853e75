"""Mounts of the minimal root that a command sees under bubblewrap: only what is listed here exists."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from forge.errors import Invalid
from forge.sandbox.models import Command
from forge.sandbox.process.child_process import Descriptors, Owner

ASK_S = 10.0
ABOVE = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0
LAST = ABOVE & ~os.O_DIRECTORY


def takes_descriptors(program: Path) -> bool:
    """Return whether bubblewrap supports `--bind-fd` (since version 0.11)."""
    done = subprocess.run([program, "--help"], capture_output=True, timeout=ASK_S, check=False, env={})  # noqa: S603
    return b"--ro-bind-fd" in done.stdout


class Binding:
    def __init__(self, files: Descriptors, *, by_descriptor: bool) -> None:
        self._files = files
        self._by_descriptor = by_descriptor

    def writable(self, path: Path) -> tuple[str, str, str]:
        return self._bind("--bind", path)

    def read_only(self, path: Path) -> tuple[str, str, str]:
        return self._bind("--ro-bind", path)

    def _bind(self, option: str, path: Path) -> tuple[str, str, str]:
        if not self._by_descriptor:
            return option, str(path), str(path)
        try:
            return f"{option}-fd", self._files.inherit(_open_without_links(path)), str(path)
        except OSError as error:
            raise Invalid(f"{path} was replaced after it was checked", field="workdir") from error


def _open_without_links(path: Path) -> int:
    """Open a path without following links: they were resolved when the command was checked."""
    here = os.open("/", ABOVE)
    parts = path.parts[1:]
    for at, part in enumerate(parts, start=1):
        above = here
        try:
            here = os.open(part, LAST if at == len(parts) else ABOVE, dir_fd=above)
        finally:
            os.close(above)
    if stat.S_ISLNK(os.fstat(here).st_mode):
        os.close(here)
        raise NotADirectoryError(path)
    return here


TMP = "/tmp"  # noqa: S108  # a private file system
HOME = f"{TMP}/home"
SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
ETC = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/localtime",
    "/etc/os-release",
)
"""Only what programs need: every mount adds to the startup time."""

Arguments = Iterator[str]


def system_mounts(command: Command) -> Arguments:
    """Mount programs, libraries, devices and temporary file systems."""
    yield from ("--ro-bind", "/usr", "/usr", "--dir", "/etc")
    for folder in (*SYSTEM_FOLDERS, *ETC):
        yield from _mount_unchanged(Path(folder))
    # All of /proc is read-only: /proc/sys belongs to root, which may write there even without capabilities.
    yield from ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
    tmp = str(command.limits.tmp_bytes)
    yield from ("--size", tmp, "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
    yield from ("--size", tmp, "--perms", "1777", "--tmpfs", TMP, "--perms", "0700", "--dir", HOME)


def etc_files(owner: Owner) -> dict[str, str]:
    """Return replacements for files that reveal details of this machine."""
    return {
        "passwd": f"root:x:0:0::/:/bin/false\nsandbox:x:{owner.uid}:{owner.gid}::{HOME}:/bin/sh\n",
        "group": f"root:x:0:\nsandbox:x:{owner.gid}:\n",
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def command_mounts(command: Command, binding: Binding) -> Arguments:
    """Mount the folders of the command at their original paths."""
    for path in command.read_only:
        yield from binding.read_only(path)
    for path in (*command.writable, command.workdir):
        yield from binding.writable(path)
    yield from _protected(command, binding)


def _mount_unchanged(path: Path) -> Arguments:
    if path.is_symlink():
        yield from ("--symlink", str(path.readlink()), str(path))
    elif path.exists():
        yield from ("--ro-bind", str(path), str(path))


def _protected(command: Command, binding: Binding) -> Arguments:
    """Mount protected names read-only, and their parents too: a mount point cannot be renamed."""
    for parent in sorted({up for name in command.protected for up in list(Path(name).parents)[:-1]}):
        path = command.workdir / parent
        if path.is_dir():
            yield from binding.writable(path)
    for name in command.protected:
        path = command.workdir / name
        if path.exists():
            yield from binding.read_only(path)
