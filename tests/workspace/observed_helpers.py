"""Helpers to observe a repository."""

from pathlib import Path

from tests.support.repositories import Repository, make_repository

from forge.workspace.observed.observed_repository import ObservedRepository, observe


def changed(observed: ObservedRepository, base: str | None = None) -> dict[str, str]:
    """Return git's letter for each changed path."""
    start = observed.head if base is None else observed.resolve(base)
    return {each.path: each.status for each in observed.changes(start or observed.empty_tree)}


def see(path: Path) -> dict[str, str]:
    with observe(path) as observed:
        return changed(observed)


def tree_of(path: Path) -> str:
    with observe(path) as observed:
        return observed.tree


def with_submodule(repository: Repository, folder: Path) -> Repository:
    lib = make_repository(folder / "lib", {"lib.py": "l\n", ".gitignore": "*.log\n"})
    repository.git("submodule", "--quiet", "add", str(lib.path), "lib")
    repository.commit()
    return Repository(repository.path / "lib")


def paths(observed: ObservedRepository) -> dict[str, str]:
    return {each.path: each.mode for each in observed.entries}
