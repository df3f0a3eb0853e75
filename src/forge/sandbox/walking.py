"""Goes through trees by descriptors: paths may be longer than the kernel takes, and folders may be closed to us."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forge.kernel.removing import FOLDER
from forge.sandbox.mappings import BLOCK

RELATIVE_MOST = 900
"""Characters of a path, after which another folder is held open to start from. The kernel takes 4096 bytes."""


@dataclass(frozen=True)
class Seen:
    bytes: int = 0
    files: int = 0
    is_closed: bool = False
    """A folder that cannot be looked into, though it changed."""


NOTHING_NEW = Seen()


class _Open:
    """A folder, for as long as there is something below it to look at."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self) -> None:
        os.close(self.fd)


@dataclass(frozen=True)
class _Todo:
    above: _Open | None
    path: str
    has_changed: bool

    def open(self) -> _Open:
        return _Open(os.open(self.path, FOLDER, dir_fd=self.above.fd if self.above else None))

    def below(self, name: str, here: _Open, *, has_changed: bool) -> "_Todo":
        if len(self.path) > RELATIVE_MOST or self.above is None:
            return _Todo(here, name, has_changed)
        return _Todo(self.above, f"{self.path}/{name}", has_changed)


def walk(folders: Iterable[Path], since: float) -> Iterator[Seen]:
    """Everything below, one by one, with what changed since then."""
    todo = [_Todo(None, str(folder), has_changed=False) for folder in folders]
    while todo:
        one = todo.pop()
        try:
            here = one.open()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            yield Seen(is_closed=one.has_changed)
            continue
        with suppress(OSError), os.scandir(here.fd) as entries:
            for entry in entries:
                seen = _look(entry, since)
                yield seen
                if entry.is_dir(follow_symlinks=False):
                    todo.append(one.below(entry.name, here, has_changed=seen is not NOTHING_NEW))


def _look(entry: "os.DirEntry[str]", since: float) -> Seen:
    with suppress(OSError):
        found = entry.stat(follow_symlinks=False)
        if found.st_ctime >= since:
            return Seen(found.st_blocks * BLOCK, 1)
    return NOTHING_NEW
