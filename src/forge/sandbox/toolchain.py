"""Find the installations of Python, Node.js and git that commands may use.

Programs below /usr are in every sandbox. Of those in home directories (pyenv, nvm, uv) or /opt, only the folder of
the installation itself is made readable.
"""

import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from forge.sandbox.process.child_process import PATH

PROGRAMS = ("node", "git")
SYSTEM_ROOTS = (Path("/usr"), Path("/bin"), Path("/sbin"))
INSTALLATION_FOLDERS = ("lib", "include", "share")


@dataclass(frozen=True)
class Toolchain:
    path: str
    """Value of PATH."""
    read_only: tuple[Path, ...]


def toolchain(hidden: Iterable[Path] = ()) -> Toolchain:
    """Find the installations; folders that contain a `hidden` path or a home directory are left out."""
    closed = [Path.home(), Path.home() / ".local", *(path.resolve() for path in hidden)]
    roots: list[Path] = []
    for root in (Path(sys.base_prefix).resolve(), *_roots_of(PROGRAMS)):
        is_there = any(root.is_relative_to(there) for there in SYSTEM_ROOTS)
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
    return any((root / mark).is_dir() for mark in INSTALLATION_FOLDERS)
