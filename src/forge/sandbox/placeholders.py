"""Keeps protected names absent that are absent: something has to be mounted there, so an empty folder is put there
while commands run, and taken away after the last one.

A folder that is taken away protects nobody any more who has it mounted, and commands of several processes may need the
same one. So each of them holds a lock on it, which the system frees however its process ends, and only whoever gets
the folder for itself alone takes it away.
"""

import fcntl
import os
import stat
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from forge.errors import Invalid
from forge.kernel.removing import FOLDER
from forge.sandbox.models import PROTECTED

MODE = stat.S_ISVTX | 0o777
"""In an empty folder the sticky bit has nothing to say: it tells ours from others when its process is gone."""


@contextmanager
def placeholders(workdir: Path, names: Iterable[str]) -> Generator[None]:
    with ExitStack() as stack:
        for path in (workdir / name for name in names):
            if (folder := _hold(path)) is not None:
                stack.callback(_release, path, folder)
        yield


def _hold(path: Path) -> int | None:
    """The folder, open and locked; None where something else is, or where there is no place for it."""
    while (folder := _open(path)) is not None:
        with ExitStack() as stack:
            stack.callback(os.close, folder)
            if not _is_placeholder(path, folder):
                return None
            fcntl.flock(folder, fcntl.LOCK_SH)
            if _is_at(path, folder):  # nobody took it away before it was locked
                stack.pop_all()
                return folder
    return None


def _open(path: Path) -> int | None:
    """Made if there is nothing; None if it is no folder, or not for us to look into."""
    while path.parent.is_dir():
        try:
            return os.open(path, FOLDER)
        except FileNotFoundError:
            _make(path)
        except (NotADirectoryError, PermissionError):
            return None
    return None


def _make(path: Path) -> None:
    try:
        path.mkdir(MODE)
    except FileExistsError:
        return
    except OSError as error:
        raise Invalid(
            f"{path.parent} cannot be written, so {path.name} in it cannot be protected: {error.strerror}",
            field="workdir",
        ) from error


def _is_placeholder(path: Path, folder: int) -> bool:
    """Others may be empty because somebody wants them so. An empty `.git` is nothing to anybody, whoever left it."""
    is_ours = path.name in PROTECTED or bool(os.fstat(folder).st_mode & stat.S_ISVTX)
    return is_ours and not os.listdir(folder)  # that folder, whatever has its name by now


def _is_at(path: Path, folder: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(folder), path.lstat())
    return False


def _release(path: Path, folder: int) -> None:
    with suppress(OSError):  # others need it, or somebody has put something into it
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(path, folder):
            path.rmdir()
    os.close(folder)
