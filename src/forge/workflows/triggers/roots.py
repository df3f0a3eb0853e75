"""The folders a trigger watches: which of them can be watched, and why not."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

_REFUSED = frozenset({"/proc", "/sys", "/dev"})
MAX_FILES = 50_000


@dataclass(frozen=True)
class Root:
    """A path as it was asked for, and what it is now: another folder in its place is another root."""

    path: Path
    device: int
    inode: int


@dataclass(frozen=True)
class Looked:
    roots: tuple[Root, ...]
    problem: str | None


def is_refused(path: PurePath) -> bool:
    """All there is, and what the system only makes look like files."""
    return len(path.parts) == 1 or f"/{path.parts[1]}" in _REFUSED


def look_at(paths: Sequence[str], own_dir: Path) -> Looked:
    """What of them can be watched now."""
    roots: list[Root] = []
    problems: list[str] = []
    for text in paths:
        try:
            roots.append(_root_of(text, own_dir))
        except ValueError as error:
            problems.append(str(error))
    return Looked(tuple(roots), " ".join(problems) or None)


def files_in(folder: Path, limit: int, *, but: Path) -> list[Path]:
    """So many at most. Links to folders are followed, each folder once; never into `but`, whatever leads there."""
    found: list[Path] = []
    seen = {(but.stat().st_dev, but.stat().st_ino)} if but.exists() else set[tuple[int, int]]()
    waiting = [folder]
    while waiting and len(found) < limit:
        for entry in _entries(waiting.pop()):
            which = _folder(entry)
            if which is None:
                found.append(Path(entry.path))
            elif which not in seen:
                seen.add(which)
                waiting.append(Path(entry.path))
    return found[:limit]


def _folder(entry: "os.DirEntry[str]") -> tuple[int, int] | None:
    """Which folder it is; None for a file, and for what went meanwhile or leads nowhere we may look."""
    try:
        status = entry.stat() if entry.is_dir() else None
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status else None


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []  # gone meanwhile, or not ours to look at: neither can be watched


def _root_of(text: str, own_dir: Path) -> Root:
    try:
        path = Path(text).expanduser().resolve()
        status = path.stat()
    except FileNotFoundError:
        raise ValueError(f"{text} does not exist on this server.") from None
    except (OSError, RuntimeError) as error:
        raise ValueError(f"{text} cannot be watched: {error}.") from None
    if is_refused(path):
        raise ValueError(f"{text} cannot be watched.")
    if path.is_relative_to(own_dir):
        raise ValueError(f"{text} cannot be watched: Forge keeps its own files there.")
    return Root(path, status.st_dev, status.st_ino)
