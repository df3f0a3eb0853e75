"""Where this machine's programs for projects are: Python, Node.js and git, for commands to find and read.

Programs below /usr are in every sandbox. Others live in homes (pyenv, nvm, uv) or /opt; then exactly the folder of
that installation is opened, never one that also holds something else.
"""

import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from forge.sandbox.environment import PATH

PROGRAMS = ("node", "git")
ALWAYS_THERE = (Path("/usr"), Path("/bin"), Path("/sbin"))
MARKS = ("lib", "include", "share")


@dataclass(frozen=True)
class Toolchain:
    path: str
    """For the variable PATH."""
    read_only: tuple[Path, ...]


def toolchain(hidden: Iterable[Path] = ()) -> Toolchain:
    """Nothing that holds a `hidden` path (the data directory) is opened, nor anybody's home."""
    closed = [Path.home(), Path.home() / ".local", *(path.resolve() for path in hidden)]
    roots: list[Path] = []
    for root in (Path(sys.base_prefix).resolve(), *_roots_of(PROGRAMS)):
        is_there = any(root.is_relative_to(there) for there in ALWAYS_THERE)
        if root not in roots and not is_there and not any(path.is_relative_to(root) for path in closed):
            roots.append(root)
    bins = [str(root / "bin") for root in roots]
    return Toolchain(path=":".join([*bins, PATH]), read_only=tuple(roots))


def _roots_of(programs: Iterable[str]) -> Iterable[Path]:
    for program in programs:
        if found := shutil.which(program):
            root = Path(found).resolve().parent.parent
            if _is_an_installation(root):
                yield root


def _is_an_installation(root: Path) -> bool:
    return any((root / mark).is_dir() for mark in MARKS)
