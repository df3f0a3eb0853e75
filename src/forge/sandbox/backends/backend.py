"""Base class of the backends, and validation of commands before they start."""

import os
from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from forge.errors import Invalid
from forge.sandbox.models import Command, Level, Outcome
from forge.sandbox.process.stoppable_thread import Stop, run_in_thread
from forge.sandbox.process.supervisor import ProcessEnd
from forge.sandbox.registry_gateway.access import Registries, RegistryAccess


class Backend(ABC):
    name: ClassVar[str]

    def __init__(self, level: Level, registries: Registries) -> None:
        self.level = level
        self._registries = registries

    async def run(self, command: Command) -> Outcome:
        checked = check_command(command)
        async with self._registries.open(command.network) as access:
            ending = await run_in_thread(
                lambda stop: self._run(checked, access, stop), f"sandbox {command.argv[0]}"
            )
            fetched = access.fetched if access else ()
        return Outcome(level=self.level, backend=self.name, fetched=fetched, **vars(ending))

    @abstractmethod
    def _run(self, command: Command, access: RegistryAccess | None, stop: Stop) -> ProcessEnd:
        """Start the command and wait for its end."""


SYSTEM_FOLDERS = frozenset(
    map(Path, ("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root"))
) | frozenset(map(Path, ("/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var", "/var/tmp", "/Users")))  # noqa: S108
SYSTEM_TREES = frozenset(map(Path, ("/proc", "/sys", "/dev", "/usr", "/etc", "/boot", "/run")))


def check_command(command: Command) -> Command:
    """Validate a command and resolve its paths."""
    try:
        return _checked(command)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        raise Invalid(f"the directories of the command cannot be read: {error}", field="workdir") from error


def _checked(command: Command) -> Command:
    if not command.argv or not command.argv[0]:
        raise Invalid("there is no program to run", field="argv")
    texts = (*command.argv, *command.env, *command.env.values(), *map(str, _paths(command)))
    if any("\0" in text for text in texts):
        raise Invalid("a command must not contain a NUL character", field="argv")
    if not all(map(_is_encodable, texts)):
        raise Invalid("a command must not contain an unpaired surrogate", field="argv")
    if not command.limits.timeout_s >= 0:
        raise Invalid("the timeout must not be negative", field="limits")
    if any(not name or "=" in name for name in command.env):
        raise Invalid("the name of an environment variable must not be empty or contain '='", field="env")
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
    """Resolve a folder. It must not be a link: anyone who can write to its parent could change the target."""
    real = path.parent.resolve() / path.name
    if not path.is_absolute() or path.name == ".." or not real.is_dir():
        raise Invalid(f"{path} is not an absolute path of a directory", field="workdir")
    if real.is_symlink():
        raise Invalid(f"{path} is a symbolic link; use the directory it points to", field="workdir")
    if real in SYSTEM_FOLDERS or any(real.is_relative_to(folder) for folder in SYSTEM_TREES):
        raise Invalid(f"{path} is a system directory; commands run in a project directory", field="workdir")
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
