"""Inspect a repository of a user without changing it and without letting it configure git.

Nothing is written below its root or into its git directory, and nothing that it configures is executed (see
`mirror`). Like git, this trusts the times and sizes in the index for unchanged files, but not the flags that
hide changes.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from forge.errors import Invalid, TooLarge
from forge.workspace.observed.commit_history import ObservedHistory
from forge.workspace.observed.errors import BrokenRepository, NoSuchRevision, TooManyNested
from forge.workspace.observed.git_process import ObservedObjects, bytes_of, name_of
from forge.workspace.observed.location import RepositoryLocation, find_repository
from forge.workspace.observed.mirror import Mirror, make_mirror
from forge.workspace.observed.mirror_index import (
    GITLINK,
    LargeFile,
    Staged,
    StagedEntry,
    hash_tree,
    make_index,
    rename_links,
    stage,
)
from forge.workspace.observed.tree_changes import NewLine, ObservedChange, read_changes, read_new_lines

MAX_NESTED = 256
"""Maximum number of nested repositories in a project."""
MAX_NESTING_DEPTH = 8


@dataclass(slots=True)
class _Count:
    entered: int = 0


@dataclass(frozen=True, slots=True)
class Nesting:
    """Nesting depth of a repository and the number of repositories inspected so far."""

    depth: int = 0
    count: _Count = field(default_factory=_Count)

    def enter(self, path: bytes) -> "Nesting":
        if self.depth >= MAX_NESTING_DEPTH:
            raise _too_many(path, f"repositories are nested more than {MAX_NESTING_DEPTH} levels deep")
        if self.count.entered >= MAX_NESTED:
            raise _too_many(path, f"the project contains more than {MAX_NESTED} nested repositories")
        self.count.entered += 1
        return Nesting(self.depth + 1, self.count)


@dataclass(frozen=True, slots=True)
class NestedState:
    head: str | None
    """Head commit."""
    head_tree: str
    tree: str
    """Tree of the current files."""


InspectRepository = Callable[[Path, Nesting], NestedState]


def find_dirty(
    root: Path, entries: Sequence[StagedEntry], object_format: str, nesting: Nesting, look: InspectRepository
) -> dict[bytes, bytes]:
    """Map the path of each nested repository with uncommitted changes to a hash of its state."""
    dirty: dict[bytes, bytes] = {}
    for mode, _, path in entries:
        if mode == GITLINK and _is_checked_out(root, path):
            state = _inspect_nested(root, path, nesting.enter(path), look)
            if state.tree != state.head_tree:
                text = f"files of a repository\0{state.head}\0{state.tree}"
                name = hashlib.new(object_format, text.encode(), usedforsecurity=False).hexdigest()
                dirty[path] = name.encode()
    return dirty


def _is_checked_out(root: Path, path: bytes) -> bool:
    """Return whether a submodule is checked out; an uninitialized one is an empty directory."""
    folder = os.fsencode(root) + b"/" + path
    try:
        return stat.S_ISDIR(os.lstat(folder).st_mode) and os.path.lexists(folder + b"/.git")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise BrokenRepository(f"{_name(path)} cannot be inspected: {error.strerror}.") from error


def _inspect_nested(root: Path, path: bytes, nesting: Nesting, look: InspectRepository) -> NestedState:
    try:
        return look(root / os.fsdecode(path), nesting)
    except Invalid as error:
        raise BrokenRepository(
            f"The repository in {_name(path)} cannot be inspected: {error.message}", hint=error.hint
        ) from error


def _too_many(path: bytes, why: str) -> TooManyNested:
    return TooManyNested(
        f"The repository in {_name(path)} is not inspected: {why}.",
        hint="Add directories that are not part of the project to .gitignore.",
    )


def _name(path: bytes) -> str:
    return repr(name_of(path))[:200]


_BRANCH = "ref: refs/heads/"


class ObservedEntry(NamedTuple):
    path: str
    mode: str
    blob: str
    size: int


@contextmanager
def observe(
    path: Path, *, git_dir: Path | None = None, nesting: Nesting | None = None
) -> Generator["ObservedRepository"]:
    """Open the repository that contains a path; `git_dir` if its git directory is elsewhere."""
    location = find_repository(path, git_dir)
    with tempfile.TemporaryDirectory(prefix="forge-observed-") as folder:
        mirror = make_mirror(location, Path(folder))
        objects = ObservedObjects(mirror.git)
        try:
            yield ObservedRepository(location, mirror, objects, nesting or Nesting())
        finally:
            objects.close()


def _look_into(path: Path, nesting: Nesting) -> NestedState:
    with observe(path, nesting=nesting) as nested:
        return NestedState(nested.head, nested.head_tree, nested.tree)


class ObservedRepository:
    def __init__(
        self, location: RepositoryLocation, mirror: Mirror, objects: ObservedObjects, nesting: Nesting
    ) -> None:
        self.root = location.root
        self._nesting = nesting
        self._location = location
        self._mirror = mirror
        self._objects = objects

    @cached_property
    def head(self) -> str | None:
        """Id of the head commit; None before the first commit."""
        if found := self._objects.find("HEAD^{commit}"):
            return found.id
        name = self._mirror.head_text.removeprefix("ref: ").strip()
        if name == self._mirror.head_text or self._has_ref(name):
            raise BrokenRepository(
                "HEAD points to a missing commit.",
                hint="The repository is damaged: run `git fsck` for details.",
            )
        return None

    @property
    def head_tree(self) -> str:
        """Tree of the head commit; the empty tree before the first commit."""
        if self.head is None:
            return self.empty_tree
        found = self._objects.find("HEAD^{tree}")
        if found is None:
            raise BrokenRepository("The tree of HEAD is missing.", hint="Run `git fsck` for details.")
        return found.id

    @property
    def branch(self) -> str | None:
        text = self._mirror.head_text
        return text.removeprefix(_BRANCH) if text.startswith(_BRANCH) else None

    @property
    def is_shallow(self) -> bool:
        return self._mirror.is_shallow

    @property
    def empty_tree(self) -> str:
        return hash_tree((), self._mirror.object_format)

    @cached_property
    def history(self) -> ObservedHistory:
        return ObservedHistory(self._mirror, self._objects, self.head)

    @property
    def unmerged(self) -> Sequence[bytes]:
        return self._staged.unmerged

    @cached_property
    def tree(self) -> str:
        """Tree id of all files that are not ignored."""
        return hash_tree(self._staged.entries, self._mirror.object_format)

    @cached_property
    def entries(self) -> Sequence[ObservedEntry]:
        staged = self._staged.entries
        sizes = self._sizes({blob for mode, blob, _ in staged if mode != GITLINK})
        return [
            ObservedEntry(
                str(path, "utf-8", "surrogateescape"),
                str(mode, "ascii"),
                str(blob, "ascii"),
                sizes.get(blob, 0),
            )
            for mode, blob, path in staged
        ]

    @cached_property
    def ignored(self) -> Sequence[str]:
        """Ignored paths as git names them; a directory that is ignored as a whole ends with `/`."""
        options = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        return name_of(self._mirror.git.run(*options)).split("\0")[:-1]

    def tree_without(self, paths: Collection[str]) -> str:
        if not paths:
            return self.tree
        left_out = {bytes_of(path) for path in paths}
        staged = (entry for entry in self._staged.entries if entry[2] not in left_out)
        return hash_tree(staged, self._mirror.object_format)

    def resolve(self, revision: str) -> str:
        """Return the id of a commit, or of a tree if the revision is not a commit."""
        if not revision.strip() or "\n" in revision or "\0" in revision:
            raise Invalid("A revision must be a commit, branch or tag.", field="base")
        for kind in ("commit", "tree"):
            if found := self._objects.find(f"{revision}^{{{kind}}}"):
                return found.id
        raise NoSuchRevision(
            f"No commit, branch or tag in this repository matches {revision[:200]!r}.",
            hint="This is a shallow clone. Fetch the full history: git fetch --unshallow"
            if self.is_shallow
            else "Pass a commit, branch or tag; `git log --oneline` lists the commits.",
            field="base",
        )

    def changes(self, base: str) -> list[ObservedChange]:
        """Return the changes from a commit or tree id to the current files."""
        return read_changes(self._mirror.git, base, self._index)

    def new_lines(self, base: str, changes: Sequence[ObservedChange]) -> Generator[NewLine]:
        return read_new_lines(self._mirror.git, base, self._index, changes)

    def read(self, entry_blob: str) -> bytes:
        if any(one.blob == entry_blob for one in self._large.values()):
            raise TooLarge("Large new files are hashed, not stored: this content cannot be read.")
        return self._objects.read(entry_blob)

    @cached_property
    def _staged(self) -> Staged:
        staged = stage(self._mirror)
        mirror = self._mirror
        dirty = find_dirty(self.root, staged.entries, mirror.object_format, self._nesting, _look_into)
        return rename_links(mirror, staged, dirty) if dirty else staged

    @cached_property
    def _large(self) -> Mapping[bytes, LargeFile]:
        """Large new files whose content is not in the repository."""
        return {path: one for path, one in self._staged.large.items() if not self._has_object(one.blob)}

    @cached_property
    def _index(self) -> Path:
        """Index to compare with: contents missing in git are replaced by a few binary bytes."""
        if not self._large:
            return self._mirror.index
        return make_index(
            self._mirror, {path: (one.mode, b"\0" + one.blob.encode()) for path, one in self._large.items()}
        )

    def _sizes(self, blobs: set[bytes]) -> dict[bytes, int]:
        """Return blob sizes. Missing blobs have no size; reading them raises."""
        output = self._mirror.git.run(
            "cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize)", stdin=b"\n".join(blobs)
        )
        large = {one.blob.encode(): one.size for one in self._staged.large.values()}
        pairs = (line.split(b" ") for line in output.splitlines())
        return {blob: int(size) for blob, size in pairs if size != b"missing"} | large

    def _has_object(self, name: str) -> bool:
        return self._mirror.git.ask("cat-file", "-e", name).code == 0

    def _has_ref(self, name: str) -> bool:
        if (self._location.common_dir / name).exists():
            return True
        packed = self._location.common_dir / "packed-refs"
        return packed.is_file() and bytes_of(f" {name}\n") in packed.read_bytes()
