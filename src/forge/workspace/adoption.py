"""Which directories of this machine can become a workspace. Whoever works there may read and change everything in it,
so what belongs to the system, to other programs or to Forge itself is refused."""

import os
import pwd
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from forge.errors import Denied, Invalid

_SYSTEM = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"),
    *("/var/cache", "/var/lib", "/var/log", "/var/mail", "/var/run", "/var/spool"),
    *("/System", "/Library", "/Applications", "/private/etc"),
)
"""With everything below them."""

_SHARED = (
    *("/", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var", "/var/tmp"),  # noqa: S108
    *("/Users", "/Volumes", "/private", "/private/tmp", "/private/var"),
)
"""Themselves only: a directory in them may well be a project."""


def check_adoptable(path: Path, data_dir: Path) -> Path:
    """Its real path."""
    if not path.is_absolute():
        raise Invalid("Give the whole path of the directory, from / on.", field="path")
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise Invalid(f"There is no directory {str(path)[:200]!r} on the server.", field="path") from None
    if not str(real).isprintable():
        raise Invalid("The name of that directory cannot be written down: rename it first.", field="path")
    if not real.is_dir() or not os.access(real, os.R_OK | os.W_OK | os.X_OK):
        raise Invalid(f"{str(real)[:200]!r} is no directory that can be read and written.", field="path")
    if reason := next(_reasons(real, data_dir), None):
        raise Denied(
            f"{str(real)[:200]!r} cannot be a workspace: {reason}.",
            hint="Choose the directory of one project, or let Forge make one: leave the path out.",
        )
    return real


def _reasons(real: Path, data_dir: Path) -> Iterator[str]:
    if str(real) in _SHARED or any(real.is_relative_to(place) for place in _SYSTEM):
        yield "it belongs to the system"
    own = data_dir.resolve()
    if real.is_relative_to(own) or own.is_relative_to(real):
        yield "Forge keeps its own data there"
    for home in _homes():
        if home.is_relative_to(real):
            yield "it holds a whole home directory"
        elif real.is_relative_to(home) and real.relative_to(home).parts[0].startswith("."):
            yield "programs keep their settings and keys there"


def _homes() -> Iterator[Path]:
    """As the user database says, and as the environment says."""
    with suppress(KeyError):
        yield Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
    with suppress(RuntimeError):
        yield Path.home().resolve()
