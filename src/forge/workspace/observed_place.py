"""Where a repository is: found by looking at names and small files only, so that no configuration of it has a say.

git asks who owns a repository before it believes its configuration. We believe none of it, and so need not ask.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from forge.workspace.errors import NoSuchPath
from forge.workspace.observed_errors import BareRepository, BrokenRepository, NotARepository

_MAX_POINTER = 1 << 16


@dataclass(frozen=True, slots=True)
class ObservedPlace:
    root: Path
    """The top of the files."""
    git_dir: Path
    """HEAD and the index are here."""
    common_dir: Path
    """Objects, refs and the configuration are here; another folder only for a linked work tree."""

    @property
    def is_linked(self) -> bool:
        return self.git_dir != self.common_dir


def find_place(path: Path, git_dir: Path | None = None) -> ObservedPlace:
    """The repository that a path lies in; `git_dir` where its history is kept elsewhere."""
    folder = _folder(path)
    if git_dir is not None:
        return _place(folder, git_dir)
    for each in (folder, *folder.parents):
        pointer = each / ".git"
        if os.path.lexists(pointer):
            return _place(each, _follow(pointer))
        if _is_git_dir(each):
            raise BareRepository(
                f"{_name(each)} is the inside of a git repository: there are no files to look at.",
                hint="Clone it, or name a folder of the project itself.",
                field="path",
            )
    raise NotARepository(
        f"{_name(folder)} is not in a git repository.",
        hint="An audit compares with a history: git init, and commit what is there.",
        field="path",
    )


def read_small(path: Path, limit: int = _MAX_POINTER) -> bytes | None:
    """A regular file of the repository's own; None when there is none. A pipe is not waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BrokenRepository(f"{_name(path)} cannot be read: {error.strerror}.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BrokenRepository(f"{_name(path)} is not a regular file.")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise BrokenRepository(f"{_name(path)} is larger than {limit:,} bytes.")
    return data


def _folder(path: Path) -> Path:
    try:
        real = path.resolve(strict=True)
        return real if real.is_dir() else real.parent
    except (OSError, RuntimeError, ValueError):
        raise NoSuchPath(
            f"There is no {_name(path)}.", hint="Check how it is written.", field="path"
        ) from None


def _follow(pointer: Path) -> Path:
    """`.git` is the directory itself, or a file that says where it is."""
    if pointer.is_dir():
        return pointer.resolve()
    text = read_small(pointer)
    if text is None or not text.startswith(b"gitdir:"):
        raise BrokenRepository(f"{_name(pointer)} does not say where its repository is.")
    return _lead(pointer, text.removeprefix(b"gitdir:").strip(b" \r\n"))


def _lead(pointer: Path, text: bytes) -> Path:
    """Where a file says that something is. It may say anything: what no path can be, and what leads in a circle."""
    try:
        path = (pointer.parent / os.fsdecode(text)).resolve()
        path.is_dir()
    except (OSError, RuntimeError, ValueError):
        raise BrokenRepository(f"{_name(pointer)} leads nowhere.") from None
    return path


def _place(root: Path, git_dir: Path) -> ObservedPlace:
    common = read_small(git_dir / "commondir") if git_dir.is_dir() else None
    common_dir = git_dir if common is None else _lead(git_dir / "commondir", common.strip(b"\r\n"))
    has_head = os.path.lexists(git_dir / "HEAD")
    if not (has_head and (common_dir / "objects").is_dir() and (common_dir / "refs").is_dir()):
        raise BrokenRepository(
            f"{_name(root)} has a .git, but what it leads to is no git repository.",
            hint="`git status` says more. A moved work tree is repaired by `git worktree repair`.",
            field="path",
        )
    return ObservedPlace(root, git_dir, common_dir)


def _is_git_dir(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _name(path: Path) -> str:
    return f"{str(path)[-200:]!r}"
