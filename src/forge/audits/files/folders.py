"""Helpers for slash-separated repository paths and their folders."""

from collections.abc import Iterable, Iterator


def normalize_path(path: str) -> str:
    """Normalize a path: `a/./b/../c` gives `a/c`. A path that leaves the project gives NUL, which matches nothing."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return "\0"
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def folder_and_parents(folder: str) -> Iterator[str]:
    """Yield the folder, its parents and the project root (empty)."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return all folders of the paths, without the project root."""
    folders: set[str] = set()
    for path in paths:
        for folder in folder_and_parents(path.rpartition("/")[0]):
            if not folder or folder in folders:
                break
            folders.add(folder)
    return folders
