"""Open paths beneath one directory and nowhere else, even if names and links change concurrently.

On Linux the kernel does it in one call: `openat2` with RESOLVE_BENEATH. Elsewhere (macOS, old kernels, a
seccomp filter that refuses the call) every component is opened relative to the previous one, without
following links.

Both open only paths without links. A link inside the root is followed here: its target replaces it in the path, is
checked by the same rules, and the new path is opened the same way. So a link never leads out of the root and never
hides a protected name, and renaming files between two calls does not help an attacker.
"""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge.workspace.filesystem.errors import PathRefused, explain
from forge.workspace.filesystem.paths import MAX_DEPTH, Parts, ProtectedNames

READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
"""NONBLOCK: opening a pipe without a writer must not block."""
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

MAX_LINKS = 40
MAX_TRIES = 64

_SYS_OPENAT2 = 437
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_RESOLVE = _BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS
_HOW = struct.Struct("=QQQ")

Opener = Callable[[int, Parts, int], int]


class Beneath:
    """A root directory, held open until the last operation that uses it is over."""

    def __init__(self, root: Path, protected: ProtectedNames, *, kernel: bool | None = None) -> None:
        try:
            self.descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise explain(error, str(root)) from error
        self._protected = protected
        self.is_kernel = _kernel_can(self.descriptor) if kernel is None else kernel
        self._open: Opener = _open_by_kernel if self.is_kernel else _open_by_walk

    def __del__(self) -> None:
        # No explicit close(): another thread may still use the descriptor, and the system reuses its number.
        if (descriptor := getattr(self, "descriptor", None)) is not None:
            os.close(descriptor)

    def open(self, parts: Parts, flags: int) -> int:
        """Open a path; raises OSError, with ELOOP or ENOTDIR if a component is a link."""
        return self._open(self.descriptor, parts, flags)

    def open_following(self, parts: Parts, flags: int) -> int:
        """Like `open`, but follow links that stay inside the root."""
        for _ in range(MAX_LINKS + 1):
            self._protected.check(parts)
            try:
                return self.open(parts, flags)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                    raise
                if (followed := self._follow_first_link(parts)) is None:
                    raise
                parts = followed
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    @contextmanager
    def directory(self, parts: Parts, *, follow: bool = True) -> Generator[int]:
        """Open a directory. Follow links only for reading, never for writing."""
        descriptor = self.open_following(parts, DIRECTORY) if follow else self.open(parts, DIRECTORY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def make_directories(self, parts: Parts, *, mode: int = 0o777) -> None:
        """Create missing directories one by one, without following links."""
        with _Descent(self.descriptor) as descent:
            for name in parts:
                with suppress(FileExistsError):
                    os.mkdir(name, mode, dir_fd=descent.descriptor)
                descent.into(name)

    def first_link(self, parts: Parts) -> str | None:
        """Return the path of the first link in a path, for error messages."""
        found = self._find_link(parts)
        return "/".join(parts[: found[0] + 1]) if found else None

    def _follow_first_link(self, parts: Parts) -> Parts | None:
        found = self._find_link(parts)
        if found is None:
            return None
        index, target = found
        return _splice(parts[:index], target, parts[index + 1 :])

    def _find_link(self, parts: Parts) -> tuple[int, str] | None:
        with _Descent(self.descriptor) as descent:
            for index, name in enumerate(parts):
                try:
                    return index, os.readlink(name, dir_fd=descent.descriptor)
                except OSError as error:
                    if error.errno != errno.EINVAL:  # EINVAL: it exists and is not a link
                        raise
                if index + 1 < len(parts):
                    descent.into(name)
        return None


class _Descent:
    """Descends one name at a time, with one open descriptor."""

    def __init__(self, root: int) -> None:
        self.descriptor = os.dup(root)

    def __enter__(self) -> "_Descent":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def into(self, name: str) -> None:
        child = os.open(name, DIRECTORY, dir_fd=self.descriptor)
        os.close(self.descriptor)
        self.descriptor = child


def _splice(before: Parts, target: str, after: Parts) -> Parts:
    """Replace a link by its target; `..` may lead up, but never out of the root."""
    if target.startswith("/"):
        raise PathRefused("A link in the path leads out of the workspace.")
    parts = list(before)
    for name in target.split("/"):
        if name == "..":
            if not parts:
                raise PathRefused("A link in the path leads out of the workspace.")
            parts.pop()
        elif name not in ("", "."):
            parts.append(name)
    if len(parts) + len(after) > MAX_DEPTH:
        raise PathRefused(f"Links make the path deeper than {MAX_DEPTH} levels.")
    return (*parts, *after)


def _open_by_walk(root: int, parts: Parts, flags: int) -> int:
    if not parts:
        return os.open(".", flags, dir_fd=root)
    with _Descent(root) as descent:
        for name in parts[:-1]:
            descent.into(name)
        return os.open(parts[-1], flags, dir_fd=descent.descriptor)


def _open_by_kernel(root: int, parts: Parts, flags: int) -> int:
    path = os.fsencode("/".join(parts) or ".")
    how = _HOW.pack(flags, 0, _RESOLVE)
    number = errno.EAGAIN
    for _ in range(MAX_TRIES):
        descriptor: int = _syscall(_SYS_OPENAT2, root, path, how, len(how))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):  # EAGAIN: something was renamed during the lookup
            break
    raise OSError(number, os.strerror(number), path)


def _kernel_can(root: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        os.close(_open_by_kernel(root, (), DIRECTORY))
    except OSError:
        return False
    return True


_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
