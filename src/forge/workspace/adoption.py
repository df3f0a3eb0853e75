"""Check which directories may be adopted as a workspace.

Agents can read and change everything in a workspace, so directories of the system, of other programs and of
Forge itself are refused.
"""

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
"""Refused, with everything below them."""

_SHARED = (
    *("/", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var", "/var/tmp"),  # noqa: S108
    *("/Users", "/Volumes", "/private", "/private/tmp", "/private/var"),
)
"""Refused themselves; their subdirectories may be projects."""


def check_adoptable(path: Path, data_dir: Path) -> Path:
    """Return the resolved path, or raise if it cannot be a workspace."""
    if not path.is_absolute():
        raise Invalid("The path must be absolute.", field="path")
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise Invalid(
            f"The directory {str(path)[:200]!r} does not exist on the server.", field="path"
        ) from None
    if not str(real).isprintable():
        raise Invalid("The directory name has unprintable characters: rename it first.", field="path")
    if not real.is_dir() or not os.access(real, os.R_OK | os.W_OK | os.X_OK):
        raise Invalid(f"{str(real)[:200]!r} is not a readable and writable directory.", field="path")
    if reason := next(_reasons(real, data_dir), None):
        raise Denied(
            f"{str(real)[:200]!r} cannot be a workspace: {reason}.",
            hint="Choose the directory of one project, or omit the path to let Forge create one.",
        )
    return real


def _reasons(real: Path, data_dir: Path) -> Iterator[str]:
    if str(real) in _SHARED or any(real.is_relative_to(place) for place in _SYSTEM):
        yield "it belongs to the system"
    own = data_dir.resolve()
    if real.is_relative_to(own) or own.is_relative_to(real):
        yield "Forge stores its own data there"
    for home in _homes():
        if home.is_relative_to(real):
            yield "it contains a home directory"
        elif real.is_relative_to(home) and real.relative_to(home).parts[0].startswith("."):
            yield "programs store their settings and keys there"


def _homes() -> Iterator[Path]:
    """Yield home directories from the user database and the environment."""
    with suppress(KeyError):
        yield Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
    with suppress(RuntimeError):
        yield Path.home().resolve()
