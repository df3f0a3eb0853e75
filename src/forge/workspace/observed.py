"""A repository that somebody else owns, looked at without touching it and without letting it configure git.

Nothing is written below its root or into its git directory, and nothing it names is executed: see `observed_mirror`.
What git remembers about unchanged files (times and sizes, in the index) is believed as git itself believes it; marks
that tell git not to look are not.
"""

import tempfile
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from forge.errors import Invalid, TooLarge
from forge.workspace.observed_diff import NewLine, ObservedChange, read_changes, read_new_lines
from forge.workspace.observed_errors import BrokenRepository, NoSuchRevision
from forge.workspace.observed_git import bytes_of, name_of
from forge.workspace.observed_history import ObservedHistory
from forge.workspace.observed_mirror import Mirror, make_mirror
from forge.workspace.observed_nested import NestedState, Nesting, find_dirty
from forge.workspace.observed_objects import ObservedObjects
from forge.workspace.observed_place import ObservedPlace, find_place
from forge.workspace.observed_stage import Large, Staged, make_index, rename_links, stage
from forge.workspace.observed_trees import GITLINK, hash_tree

_BRANCH = "ref: refs/heads/"


class ObservedEntry(NamedTuple):
    path: str
    mode: str
    blob: str
    size: int


@contextmanager
def observe(
    path: Path, *, git_dir: Path | None = None, nesting: Nesting | None = None
) -> Generator["Observed"]:
    """The repository a path lies in, as it is now; `git_dir` where its history is kept elsewhere."""
    place = find_place(path, git_dir)
    with tempfile.TemporaryDirectory(prefix="forge-observed-") as folder:
        mirror = make_mirror(place, Path(folder))
        objects = ObservedObjects(mirror.git)
        try:
            yield Observed(place, mirror, objects, nesting or Nesting())
        finally:
            objects.close()


def _look_into(path: Path, nesting: Nesting) -> NestedState:
    with observe(path, nesting=nesting) as nested:
        return NestedState(nested.head, nested.head_tree, nested.tree)


class Observed:
    def __init__(
        self, place: ObservedPlace, mirror: Mirror, objects: ObservedObjects, nesting: Nesting
    ) -> None:
        self.root = place.root
        self._nesting = nesting
        self._place = place
        self._mirror = mirror
        self._objects = objects

    @cached_property
    def head(self) -> str | None:
        """The id of the commit; None before the first."""
        if found := self._objects.find("HEAD^{commit}"):
            return found.id
        name = self._mirror.head_text.removeprefix("ref: ").strip()
        if name == self._mirror.head_text or self._has_ref(name):
            raise BrokenRepository(
                "HEAD leads to a commit that is not there.",
                hint="The repository is damaged: `git fsck` says more.",
            )
        return None

    @property
    def head_tree(self) -> str:
        """The files of that commit; none before the first."""
        if self.head is None:
            return self.empty_tree
        found = self._objects.find("HEAD^{tree}")
        if found is None:
            raise BrokenRepository("The files of HEAD are not there.", hint="`git fsck` says more.")
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
        """The id of everything that is there and not ignored."""
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
        """What git does not look at, by its own names; a folder of which all is ignored ends with `/`."""
        asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        return name_of(self._mirror.git.run(*asked)).split("\0")[:-1]

    def tree_without(self, paths: Collection[str]) -> str:
        if not paths:
            return self.tree
        left_out = {bytes_of(path) for path in paths}
        staged = (entry for entry in self._staged.entries if entry[2] not in left_out)
        return hash_tree(staged, self._mirror.object_format)

    def resolve(self, revision: str) -> str:
        """The id of a commit, or of a tree where no commit is meant."""
        if not revision.strip() or "\n" in revision or "\0" in revision:
            raise Invalid("A revision is a commit, a branch or a tag.", field="base")
        for kind in ("commit", "tree"):
            if found := self._objects.find(f"{revision}^{{{kind}}}"):
                return found.id
        raise NoSuchRevision(
            f"There is no one commit called {revision[:200]!r} in this repository.",
            hint="This is a shallow clone, its history is cut: git fetch --unshallow."
            if self.is_shallow
            else "Name a commit, a branch or a tag: `git log --oneline` shows the commits.",
            field="base",
        )

    def changes(self, base: str) -> list[ObservedChange]:
        """From a commit or tree, by its id, to what is there."""
        return read_changes(self._mirror.git, base, self._index)

    def new_lines(self, base: str, changes: Sequence[ObservedChange]) -> Generator[NewLine]:
        return read_new_lines(self._mirror.git, base, self._index, changes)

    def read(self, entry_blob: str) -> bytes:
        if any(one.blob == entry_blob for one in self._large.values()):
            raise TooLarge("A new file of that size is known by its hash only.")
        return self._objects.read(entry_blob)

    @cached_property
    def _staged(self) -> Staged:
        staged = stage(self._mirror)
        mirror = self._mirror
        dirty = find_dirty(self.root, staged.entries, mirror.object_format, self._nesting, _look_into)
        return rename_links(mirror, staged, dirty) if dirty else staged

    @cached_property
    def _large(self) -> Mapping[bytes, Large]:
        """Those whose content git does not have from elsewhere."""
        return {path: one for path, one in self._staged.large.items() if not self._has_object(one.blob)}

    @cached_property
    def _index(self) -> Path:
        """What is compared: with a few bytes that are no text in the place of each content that git does not have."""
        if not self._large:
            return self._mirror.index
        return make_index(
            self._mirror, {path: (one.mode, b"\0" + one.blob.encode()) for path, one in self._large.items()}
        )

    def _sizes(self, blobs: set[bytes]) -> dict[bytes, int]:
        """What is missing has no size; whoever reads it is told."""
        said = self._mirror.git.run(
            "cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize)", stdin=b"\n".join(blobs)
        )
        large = {one.blob.encode(): one.size for one in self._staged.large.values()}
        pairs = (line.split(b" ") for line in said.splitlines())
        return {blob: int(size) for blob, size in pairs if size != b"missing"} | large

    def _has_object(self, name: str) -> bool:
        return self._mirror.git.ask("cat-file", "-e", name).code == 0

    def _has_ref(self, name: str) -> bool:
        if (self._place.common_dir / name).exists():
            return True
        packed = self._place.common_dir / "packed-refs"
        return packed.is_file() and bytes_of(f" {name}\n") in packed.read_bytes()
