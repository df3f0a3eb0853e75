"""Locate a repository by names and small files only, without reading its configuration.

git checks the owner of a repository before it trusts its configuration. This code does not use the configuration, so
it need not check.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from forge.workspace.filesystem.errors import NoSuchPath
from forge.workspace.observed.errors import BareRepository, BrokenRepository, NotARepository

_MAX_POINTER = 1 << 16


@dataclass(frozen=True, slots=True)
class RepositoryLocation:
    root: Path
    """Top of the work tree."""
    git_dir: Path
    """Directory of HEAD and the index."""
    common_dir: Path
    """Directory of objects, refs and configuration; differs from `git_dir` only for a linked work tree."""

    @property
    def is_linked(self) -> bool:
        return self.git_dir != self.common_dir


def find_repository(path: Path, git_dir: Path | None = None) -> RepositoryLocation:
    """Find the repository that contains a path; `git_dir` if its git directory is elsewhere."""
    folder = _folder(path)
    if git_dir is not None:
        return _location(folder, git_dir)
    for each in (folder, *folder.parents):
        pointer = each / ".git"
        if os.path.lexists(pointer):
            return _location(each, _follow(pointer))
        if _is_git_dir(each):
            raise BareRepository(
                f"{_name(each)} is a git directory without a work tree.",
                hint="Clone it, or pass a directory of the project.",
                field="path",
            )
    raise NotARepository(
        f"{_name(folder)} is not in a git repository.",
        hint="Audits compare with a git history: run `git init` and commit your files.",
        field="path",
    )


def read_small(path: Path, limit: int = _MAX_POINTER) -> bytes | None:
    """Read a regular file; None if it does not exist. Does not block on a pipe."""
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
        raise NoSuchPath(f"{_name(path)} does not exist.", hint="Check the spelling.", field="path") from None


def _follow(pointer: Path) -> Path:
    """Resolve `.git`, which is the git directory or a file with its path."""
    if pointer.is_dir():
        return pointer.resolve()
    text = read_small(pointer)
    if text is None or not text.startswith(b"gitdir:"):
        raise BrokenRepository(f"{_name(pointer)} does not point to a git directory.")
    return _resolve(pointer, text.removeprefix(b"gitdir:").strip(b" \r\n"))


def _resolve(pointer: Path, text: bytes) -> Path:
    """Resolve the path in a pointer file, which may be invalid or a loop of links."""
    try:
        path = (pointer.parent / os.fsdecode(text)).resolve()
        path.is_dir()
    except (OSError, RuntimeError, ValueError):
        raise BrokenRepository(f"{_name(pointer)} contains a path that cannot be resolved.") from None
    return path


def _location(root: Path, git_dir: Path) -> RepositoryLocation:
    common = read_small(git_dir / "commondir") if git_dir.is_dir() else None
    common_dir = git_dir if common is None else _resolve(git_dir / "commondir", common.strip(b"\r\n"))
    has_head = os.path.lexists(git_dir / "HEAD")
    if not (has_head and (common_dir / "objects").is_dir() and (common_dir / "refs").is_dir()):
        raise BrokenRepository(
            f"{_name(root)}: .git does not point to a git repository.",
            hint="Run `git status` for details; `git worktree repair` repairs a moved work tree.",
            field="path",
        )
    return RepositoryLocation(root, git_dir, common_dir)


def _is_git_dir(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _name(path: Path) -> str:
    return f"{str(path)[-200:]!r}"
