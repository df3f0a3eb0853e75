"""What is different inside submodules and nested repositories: to git they are one entry, known by a commit, and what
somebody changes in their files without committing it must not be invisible.

Each is observed as the repository around it is, so that no git runs by its configuration.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forge.errors import Invalid
from forge.workspace.observed_errors import BrokenRepository, TooManyNested
from forge.workspace.observed_git import name_of
from forge.workspace.observed_trees import GITLINK, StagedEntry

MAX_NESTED = 256
"""Repositories in one project, those in others among them."""
DEEPEST = 8


@dataclass(slots=True)
class _Count:
    entered: int = 0


@dataclass(frozen=True, slots=True)
class Nesting:
    """How deep one repository lies in others, and how many were looked into."""

    depth: int = 0
    count: _Count = field(default_factory=_Count)

    def enter(self, path: bytes) -> "Nesting":
        if self.depth >= DEEPEST:
            raise _too_many(path, f"more than {DEEPEST} repositories lie in one another there")
        if self.count.entered >= MAX_NESTED:
            raise _too_many(path, f"the project has more than {MAX_NESTED} of them")
        self.count.entered += 1
        return Nesting(self.depth + 1, self.count)


@dataclass(frozen=True, slots=True)
class NestedState:
    head: str | None
    """Its commit."""
    head_tree: str
    tree: str
    """Of what is there."""


Look = Callable[[Path, Nesting], NestedState]


def find_dirty(
    root: Path, entries: Sequence[StagedEntry], object_format: str, nesting: Nesting, look: Look
) -> dict[bytes, bytes]:
    """By path, a name for the state of each repository whose files are not those of its commit."""
    dirty: dict[bytes, bytes] = {}
    for mode, _, path in entries:
        if mode == GITLINK and _is_checked_out(root, path):
            state = _look_into(root, path, nesting.enter(path), look)
            if state.tree != state.head_tree:
                text = f"files of a repository\0{state.head}\0{state.tree}"
                name = hashlib.new(object_format, text.encode(), usedforsecurity=False).hexdigest()
                dirty[path] = name.encode()
    return dirty


def _is_checked_out(root: Path, path: bytes) -> bool:
    """A submodule that nobody initialised is an empty folder."""
    folder = os.fsencode(root) + b"/" + path
    try:
        return stat.S_ISDIR(os.lstat(folder).st_mode) and os.path.lexists(folder + b"/.git")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise BrokenRepository(f"{_name(path)} cannot be looked into: {error.strerror}.") from error


def _look_into(root: Path, path: bytes, nesting: Nesting, look: Look) -> NestedState:
    try:
        return look(root / os.fsdecode(path), nesting)
    except Invalid as error:
        raise BrokenRepository(
            f"The repository in {_name(path)} cannot be looked into: {error.message}", hint=error.hint
        ) from error


def _too_many(path: bytes, why: str) -> TooManyNested:
    return TooManyNested(
        f"The repository in {_name(path)} is not looked into: {why}.",
        hint="Let git ignore the folders that are no part of the project.",
    )


def _name(path: bytes) -> str:
    return repr(name_of(path))[:200]
