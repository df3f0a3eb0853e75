"""Refuses commands that cannot be meant: before anything is started."""

import os
from dataclasses import replace
from pathlib import Path

from forge.errors import Invalid
from forge.sandbox.models import Command

SYSTEM = frozenset(
    map(Path, ("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root"))
) | frozenset(map(Path, ("/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var", "/var/tmp", "/Users")))  # noqa: S108
NOT_UNDER = frozenset(map(Path, ("/proc", "/sys", "/dev", "/usr", "/etc", "/boot", "/run")))


def check_command(command: Command) -> Command:
    """The command with real paths; whatever is wrong with it is raised."""
    try:
        return _checked(command)
    except (OSError, RuntimeError) as error:  # the latter for links that lead to themselves
        raise Invalid(f"the folders of the command cannot be looked at: {error}", field="workdir") from error


def _checked(command: Command) -> Command:
    if not command.argv or not command.argv[0]:
        raise Invalid("there is no program to run", field="argv")
    texts = (*command.argv, *command.env, *command.env.values(), *map(str, _paths(command)))
    if any("\0" in text for text in texts):
        raise Invalid("a NUL character cannot be part of a command", field="argv")
    if not all(map(_is_encodable, texts)):
        raise Invalid("a half of a surrogate pair cannot be part of a command", field="argv")
    if not command.limits.timeout_s >= 0:
        raise Invalid("a command needs a time to end", field="limits")
    if any(not name or "=" in name for name in command.env):
        raise Invalid("a variable needs a name without '='", field="env")
    workdir = _real_folder(command.workdir)
    for name in command.protected:
        _check_protected(workdir, name)
    return replace(
        command,
        workdir=workdir,
        read_only=tuple(path.resolve() for path in command.read_only if path.exists()),
        writable=tuple(map(_real_folder, command.writable)),
    )


def _paths(command: Command) -> tuple[Path, ...]:
    return (command.workdir, *command.read_only, *command.writable, *map(Path, command.protected))


def _is_encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _real_folder(path: Path) -> Path:
    """Links above it are followed; it is none itself, since whoever may write above could choose where it leads."""
    real = path.parent.resolve() / path.name
    if not path.is_absolute() or path.name == ".." or not real.is_dir():
        raise Invalid(f"{path} is not a folder (a full path is needed)", field="workdir")
    if real.is_symlink():
        raise Invalid(f"{path} is a symbolic link; name the folder it leads to", field="workdir")
    if real in SYSTEM or any(real.is_relative_to(folder) for folder in NOT_UNDER):
        raise Invalid(f"{path} belongs to the system; commands run in a folder of a project", field="workdir")
    if not os.access(real, os.X_OK):
        raise Invalid(f"{path} cannot be entered by the user Forge runs as", field="workdir")
    return real


def _check_protected(workdir: Path, name: str) -> None:
    path = Path(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise Invalid(f"{name!r} is not a name inside the work tree", field="protected")
    for part in (path, *path.parents[:-1]):
        if (workdir / part).is_symlink():
            raise Invalid(
                f"{part} in the work tree is a symbolic link, so it cannot be protected", field="protected"
            )
