"""Paths as git has them, and the folders they lie in: git itself has none."""

from collections.abc import Iterable, Iterator


def normal(path: str) -> str:
    """`a/./b/../c` is `a/c`; what leaves the project is a folder that nobody has."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return "\0"
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def way_up(folder: str) -> Iterator[str]:
    """The folder itself, those above it, and the project, which is empty."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def folders_of(paths: Iterable[str]) -> set[str]:
    """All folders that have something below them, the project's own aside."""
    folders: set[str] = set()
    for path in paths:
        for folder in way_up(path.rpartition("/")[0]):
            if not folder or folder in folders:
                break
            folders.add(folder)
    return folders
