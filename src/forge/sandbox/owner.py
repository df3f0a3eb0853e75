"""As whom a command runs.

As whoever runs the platform, whose numbers are hidden behind those of an ordinary user. A platform that runs as root
becomes the owner of the work tree where that is somebody else and everything the command needs is open to them: limits
on processes do not count for root.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from forge.sandbox.models import Command

SHOWN_ID = 1000


@dataclass(frozen=True)
class Owner:
    uid: int = SHOWN_ID
    """As seen inside."""
    gid: int = SHOWN_ID
    switch_to_uid: int | None = None
    switch_to_gid: int | None = None

    def switch(self) -> "Switch":
        """As arguments of `Popen`."""
        groups: list[int] | None = None if self.switch_to_uid is None else []
        return Switch(user=self.switch_to_uid, group=self.switch_to_gid, extra_groups=groups)


class Switch(TypedDict):
    user: int | None
    group: int | None
    extra_groups: list[int] | None


def owner_for(command: Command, also: tuple[Path, ...] = ()) -> Owner:
    found = command.workdir.stat()
    if os.getuid() != 0 or found.st_uid == 0:
        return Owner()
    needed = (command.workdir, *command.read_only, *command.writable, *(path.resolve() for path in also))
    if not all(_is_open_to(path, found.st_uid) for path in needed):
        return Owner()
    return Owner(switch_to_uid=found.st_uid, switch_to_gid=found.st_gid)


def _is_open_to(path: Path, uid: int) -> bool:
    folders = (path, *path.parents) if path.is_dir() else path.parents
    return all(_may_enter(folder.stat(), uid) for folder in folders)


def _may_enter(found: os.stat_result, uid: int) -> bool:
    return bool(found.st_mode & (stat.S_IXUSR if found.st_uid == uid else stat.S_IXOTH))
