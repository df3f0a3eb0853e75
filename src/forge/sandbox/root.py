"""The file system a command sees under bubblewrap: built from nothing, so that what is not listed is not there."""

from collections.abc import Iterator
from pathlib import Path

from forge.sandbox.binding import Binding
from forge.sandbox.models import Command
from forge.sandbox.owner import Owner

TMP = "/tmp"  # noqa: S108  # a file system of its own
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
"""No more than programs cannot do without: each is a mount, and mounts are what a start costs."""

Arguments = Iterator[str]


def system(command: Command) -> Arguments:
    """Programs and libraries, devices, and places for temporary files."""
    yield from ("--ro-bind", "/usr", "/usr", "--dir", "/etc")
    for folder in (*SYSTEM_FOLDERS, *ETC):
        yield from _as_it_is(Path(folder))
    # Read-only as a whole: below /proc/sys everything belongs to root, and root without capabilities may write there.
    yield from ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
    tmp = str(command.limits.tmp_bytes)
    yield from ("--size", tmp, "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
    yield from ("--size", tmp, "--perms", "1777", "--tmpfs", TMP, "--perms", "0700", "--dir", HOME)


def etc(owner: Owner) -> dict[str, str]:
    """Files that would tell about this machine, written anew."""
    return {
        "passwd": f"root:x:0:0::/:/bin/false\nsandbox:x:{owner.uid}:{owner.gid}::{HOME}:/bin/sh\n",
        "group": f"root:x:0:\nsandbox:x:{owner.gid}:\n",
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def folders(command: Command, binding: Binding) -> Arguments:
    """What the command was given, at the same paths as outside."""
    for path in command.read_only:
        yield from binding.read_only(path)
    for path in (*command.writable, command.workdir):
        yield from binding.writable(path)
    yield from _protected(command, binding)


def _as_it_is(path: Path) -> Arguments:
    if path.is_symlink():
        yield from ("--symlink", str(path.readlink()), str(path))
    elif path.exists():
        yield from ("--ro-bind", str(path), str(path))


def _protected(command: Command, binding: Binding) -> Arguments:
    """A folder that is a mount cannot be renamed, so all above a protected name become mounts too."""
    for parent in sorted({up for name in command.protected for up in list(Path(name).parents)[:-1]}):
        path = command.workdir / parent
        if path.is_dir():
            yield from binding.writable(path)
    for name in command.protected:
        path = command.workdir / name
        if path.exists():
            yield from binding.read_only(path)
